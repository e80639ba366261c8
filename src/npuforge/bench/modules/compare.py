# SPDX-License-Identifier: Apache-2.0
"""The two judgements on one call: the suite's, and ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npuforge.bench.modules.checks import Check
from npuforge.bench.modules.protocol import ModuleProtocol, Tolerance
from npuforge.bench.settings import Settings
from npuforge.dtypes import HostTensor, encode
from npuforge.generate.judge import judge, nearest
from npuforge.verdict import Case

Tensors = Sequence[HostTensor]


def close(
    want: HostTensor, got: HostTensor, allowed: Tolerance, *, equal_nan: bool = False
) -> bool:
    """`torch.allclose(want, got)`: near in every element, relative to what was got."""
    first, second = want.values(), got.values()
    if want.dtype.name == "bool" or got.dtype.name == "bool":
        return want.dtype == got.dtype and bool(np.array_equal(first, second))
    first, second = first.astype(np.float64), second.astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(first - second)
        near = np.isfinite(apart) & (apart <= allowed.atol + allowed.rtol * np.abs(second))
    same = first == second
    if equal_nan:
        same |= np.isnan(first) & np.isnan(second)
    return bool((near | same).all())


def published_case(
    check: Check,
    inputs: Tensors,
    want: Tensors,
    golden: Sequence[HostTensor | None],
    got: Tensors,
    protocol: ModuleProtocol,
    settings: Settings,
) -> Case:
    """By the suite's own check."""
    problem = _mismatch(want, got)
    if problem is None:
        for place, (reference, result) in enumerate(zip(want, got, strict=True)):
            exact = golden[place] if protocol.exact and place < len(golden) else None
            if exact is not None:
                reference = _nearest(result, reference, exact)
            allowed = protocol.tolerance(settings, reference.dtype.name)
            if not close(reference, result, allowed, equal_nan=protocol.equal_nan):
                problem = f"result {place} differs"
                break
    return _case(check, inputs, want, got, problem)


def strict_case(
    check: Check,
    inputs: Tensors,
    want: Tensors,
    golden: Sequence[HostTensor | None],
    got: Tensors,
) -> Case:
    """Ours: errors against the size of the results, and against what is exact."""
    problem = _mismatch(want, got)
    if problem is None:
        for place, reference in enumerate(want):
            if got[place].dtype != reference.dtype:
                problem = f"result {place} is {got[place].dtype.name}"
                break
            exact = golden[place] if place < len(golden) else None
            found = judge(got[place], reference, exact)
            if not found.correct:
                problem = f"result {place}: {found.summary}"
                break
    return _case(check, inputs, want, got, problem)


def _nearest(got: HostTensor, want: HostTensor, exact: HostTensor) -> HostTensor:
    """For each element PyTorch's result or the exact one, rounded."""
    rounded = encode(exact.values(), want.dtype)
    first, second = (tensor.values().astype(np.float64) for tensor in (want, rounded))
    return encode(nearest(got, first, second), want.dtype)


def _mismatch(want: Tensors, got: Tensors) -> str | None:
    if not got:
        return "no result"
    if [tensor.shape for tensor in got] != [tensor.shape for tensor in want]:
        return f"shapes {_shapes(got)} instead of {_shapes(want)}"
    return None


def _shapes(tensors: Tensors) -> str:
    return ", ".join(str(list(tensor.shape)) for tensor in tensors)


def _case(check: Check, inputs: Tensors, want: Tensors, got: Tensors, problem: str | None) -> Case:
    absolute, relative = _errors(want, got) if _mismatch(want, got) is None else (None, None)
    return Case(
        [list(tensor.shape) for tensor in inputs],
        [tensor.dtype.name for tensor in inputs],
        problem is None,
        absolute,
        relative,
        f"{check.name}: {problem}" if problem else check.name,
    )


def _errors(want: Tensors, got: Tensors) -> tuple[float | None, float | None]:
    absolute, relative = 0.0, 0.0
    for reference, result in zip(want, got, strict=True):
        first = reference.values().astype(np.float64)
        second = result.values().astype(np.float64)
        with np.errstate(all="ignore"):
            apart = np.where(first == second, 0.0, np.abs(first - second))
            share = apart / (np.abs(first) + 1e-7)
        absolute = max(absolute, float(apart.max(initial=0.0)))
        relative = max(relative, float(share.max(initial=0.0)))
    return _finite(absolute), _finite(relative)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
