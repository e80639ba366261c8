# SPDX-License-Identifier: Apache-2.0
"""Whether a program does what a graph says, by the language's interpreter against PyTorch.

A twentieth of the time that a proof on the twin takes: no C++ is built, no rule of the hardware
checked, one case run. Good enough for what a model reads first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.generate.cases import Sizes, all_smaller, free_symbols, shape_of
from npuforge.plan import Plan
from npuforge.spec.graph import Argument, Extent, Graph, Node, Ref
from npuforge.tile.interpret import interpret
from npuforge.tile.ir import TileProgram

_ELEMENTS = 2_000
_MOST = 1 << 20  # elements where they cannot be fewer
_SPANS = ((-20, 40), (0, 2), (1, 3))  # of whole numbers
_NEAR: Mapping[str, float] = {"float32": 2e-4, "float16": 4e-3, "bfloat16": 3e-2}
_SYMBOLS: Mapping[str, Any] = {
    "strided": torch.strided,
    "meta": "cpu",
    "contiguous_format": torch.contiguous_format,
    "preserve_format": torch.preserve_format,
    **{name: float(name) for name in ("inf", "-inf", "nan")},
    **{
        str(one).removeprefix("torch."): one
        for one in (
            torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int8, torch.uint8,
            torch.int16, torch.int32, torch.int64,
        )
    },
}  # fmt: skip


def does(program: TileProgram, plan: Plan, graph: Graph, seed: int = 0) -> bool:
    """Whether the program's results are PyTorch's at small sizes and random values, or at those of
    the example where PyTorch refuses small ones: a number may count to what was there."""
    try:
        given, wanted = _case(graph, all_smaller(graph, _ELEMENTS), seed)
    except UsageError:
        example = {symbol.name: symbol.example for symbol in free_symbols(graph)}
        given, wanted = _case(graph, example, seed)
    inputs = {
        operand.name: given[operand.source]
        for operand in plan.operands
        if operand.source is not None and operand.role != "output"
    }
    found = interpret(program, inputs)
    return all(
        _near(found[operand.name], wanted[operand.result])
        for operand in plan.operands
        if operand.result is not None
    )


def _case(
    graph: Graph, sizes: Sizes, seed: int
) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
    """Inputs, and the graph's results for them. Whole numbers may be places in a tensor, or divide:
    of several spans of them the first is taken that PyTorch does not refuse."""
    shapes = {source.name: shape_of(source.type, sizes) for source in graph.sources}
    if sum(math.prod(shape) for shape in shapes.values()) > _MOST:
        raise UsageError("too many elements to interpret")
    *others, last = _SPANS
    for span in others:
        given = _given(graph, shapes, span, seed)
        try:
            return given, run(graph, sizes, given)
        except UsageError:
            continue
    given = _given(graph, shapes, last, seed)
    return given, run(graph, sizes, given)


def _given(
    graph: Graph, shapes: Mapping[str, tuple[int, ...]], span: tuple[int, int], seed: int
) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {
        source.name: _values(shapes[source.name], source.type.dtype, span, generator)
        for source in graph.sources
    }


def run(graph: Graph, sizes: Sizes, given: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
    """The graph's results, operation by operation; `UsageError` where PyTorch refuses one."""
    values: dict[str, Any] = {name: tensor.clone() for name, tensor in given.items()}

    def value(argument: Argument) -> Any:
        if isinstance(argument, Ref):
            return values[argument.ref]
        if isinstance(argument, Extent):
            return argument.size.at(sizes)
        if isinstance(argument, list):
            return [value(one) for one in argument]  # type: ignore[arg-type]
        return _SYMBOLS.get(argument, argument) if isinstance(argument, str) else argument

    for node in graph.nodes:
        if not any(node.types):
            continue  # it only asserts something
        try:
            args = [value(one) for one in node.args]
            kwargs = {key: value(one) for key, one in node.kwargs.items()}
            values[node.name] = _function(node)(*args, **kwargs)
        except (RuntimeError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise UsageError(f"{node.op}: {str(error).splitlines()[0]}") from error
    return [values[result.name] for result in graph.results]


def _function(node: Node) -> Any:
    if node.op == "getitem":
        return lambda several, place: several[place]
    _, name, overload = node.op.split(".")
    return getattr(getattr(torch.ops.aten, name), overload)


def _values(
    shape: tuple[int, ...], dtype: str, span: tuple[int, int], generator: torch.Generator
) -> torch.Tensor:
    kind = _SYMBOLS[dtype]
    if kind.is_floating_point:
        return torch.randn(shape, generator=generator).to(kind)
    least, most = (0, 2) if kind == torch.bool else span
    if kind == torch.uint8:
        least = max(least, 0)
    return torch.randint(least, most, shape, generator=generator).to(kind)


def _near(found: HostTensor, wanted: torch.Tensor) -> bool:
    """Equal but for roundings, at the scale of the values."""
    name = str(wanted.dtype).removeprefix("torch.")
    mine = np.asarray(found.values(), np.float64)
    other = wanted.detach().to(torch.float64).numpy()
    if mine.shape != other.shape:
        return False
    near = _NEAR.get(name, 0.0)
    finite = other[np.isfinite(other)]
    scale = float(np.abs(finite).mean()) if finite.size else 1.0
    return np.allclose(mine, other, rtol=near, atol=near * max(scale, 1e-3), equal_nan=True)
