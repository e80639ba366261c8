# SPDX-License-Identifier: Apache-2.0
"""Run an operator as its row says, with data: a row that does not run is no row."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import torch
from benchmarks.operators.module_text import module_text
from benchmarks.operators.recorder import Drawn, plain_result
from benchmarks.operators.row import Operator
from benchmarks.operators.structure import MOST_ELEMENTS, Dispatched, Frame
from torch.utils._pytree import tree_leaves

_MOST_SECONDS = 6.0  # of the processor, for two runs


def examine(operator: Operator) -> Drawn | None:
    """Return the operator with bounds for its integers; None if it is no vector operator."""
    if any(torch.Size(one.shape).numel() > MOST_ELEMENTS for one in operator.inputs):
        return None
    for bound in _bounds(operator):
        inputs = [
            msgspec.structs.replace(one, values=f"below {bound}")
            if one.values == "below 0"
            else one
            for one in operator.inputs
        ]
        bounded = msgspec.structs.replace(operator, inputs=inputs)
        try:
            with _limited():
                frame = _ran(bounded)
        except (IndexError, RuntimeError) as error:
            if bound == 0 or not any(word in str(error) for word in ("index", "out of", "bounds")):
                return None
            continue  # the bound is too large for a table
        except Exception:  # of whatever kind: the row does not run as it is written
            return None
        return Drawn(bounded, frame) if frame is not None and frame.refusal is None else None
    return None


@contextmanager
def _limited() -> Iterator[None]:
    """Stop what takes longer than any vector operator: a text measure that is given tensors."""

    def stop(_number: int, _frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _bounds(operator: Operator) -> list[int]:
    """Return bounds to try for integers: extents of the call, then of what made it, then two."""
    if all(one.values != "below 0" for one in operator.inputs):
        return [0]
    limits = {"int8": 127, "uint8": 255, "int16": 32767}
    most = min(limits.get(one.dtype, 1 << 20) for one in operator.inputs)
    extents = {extent for one in operator.inputs for extent in one.shape}
    numbers = tree_leaves(
        [operator.init and operator.init.args, operator.init and operator.init.kwargs]
    )
    extents |= {one for one in numbers if type(one) is int}
    return [*sorted((one for one in extents if 2 < one <= most), reverse=True), 2]


def _ran(operator: Operator) -> Frame | None:
    """Return what the operator dispatches; None if two runs differ, or no tensors come out."""
    log, frame = Dispatched(), Frame()
    module = _module(module_text(operator))
    torch.manual_seed(0)
    model, inputs = module["Model"](), module["get_inputs"]()
    for one, tensor in zip(operator.inputs, inputs, strict=True):
        if one.values.startswith("below") and tensor.numel() > 1:
            tensor.view(-1)[0] = 0
            tensor.view(-1)[-1] = int(one.values.split()[1]) - 1
    again = [one.clone() for one in inputs]
    with torch.no_grad():
        first = model(*again)
        if not plain_result(first):
            return None
        kept = [one.clone() for one in tree_leaves(first)]
        log.frames.append(frame)
        with log:
            second = tree_leaves(model(*inputs))
    if operator.kind == "optimizer":  # it asks for the number of its step, which is a constant
        frame.count.pop("_local_scalar_dense", None)
    same = all(torch.equal(_bits(a), _bits(b)) for a, b in zip(kept, second, strict=True))
    return frame if same else None


def _module(text: str) -> dict[str, Any]:
    module: dict[str, Any] = {"__name__": "drawn"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "drawn", "exec"), module)
    return module


def _bits(value: torch.Tensor) -> torch.Tensor:
    """Return numbers to compare: NaN is equal to NaN."""
    return torch.nan_to_num(value.float(), nan=12345.0) if value.is_floating_point() else value
