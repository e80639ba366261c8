# SPDX-License-Identifier: Apache-2.0
"""Graphs of one ATen operation with every extent left open, planned and run against PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan.planner import plan
from npuforge.spec.graph import Graph, Node, Ref, Result, Source, Symbol, TensorType

TOLERANCES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


@dataclass
class OneOperation:
    """`op` of `arguments`: the letters a, b, c ... stand for the inputs, in lists too.

    Extents are called a0, a1 ... b0 ...; `shapes` are those of the results over them, and `same`
    says which extents are equal to another: {"b1": "a1"}.
    """

    op: str
    arguments: Sequence[Any]
    shapes: Sequence[Sequence[str]]
    same: dict[str, str] = field(default_factory=dict)

    def graph(self, inputs: Sequence[torch.Tensor]) -> Graph:
        sources: list[Source] = []
        symbols: list[Symbol] = []
        for letter, tensor in zip("abcdefgh", inputs, strict=False):
            names = [
                self.same.get(f"{letter}{axis}", f"{letter}{axis}") for axis in range(tensor.dim())
            ]
            kind = TensorType(tuple(tensor.shape), dtype_name(tensor), tuple(names))
            sources.append(Source(letter, kind, "input", len(sources)))
            symbols += [
                Symbol(name, letter, axis, tensor.shape[axis], 0)
                for axis, name in enumerate(names)
                if name == f"{letter}{axis}"
            ]
        found = self.expected(inputs)
        kinds: list[TensorType | None] = [
            TensorType(tuple(tensor.shape), dtype_name(tensor), tuple(shape))
            for tensor, shape in zip(found, self.shapes, strict=True)
        ]
        letters = {source.name for source in sources}
        nodes = [Node("found", self.op, _arguments(self.arguments, letters), {}, kinds)]
        names = ["found"]
        if len(kinds) > 1:
            names = [f"found{place}" for place in range(len(kinds))]
            nodes += [
                Node(name, "getitem", [Ref("found"), place], {}, [kinds[place]])
                for place, name in enumerate(names)
            ]
        return Graph("probe", sources, nodes, [Result(name) for name in names], symbols)

    def expected(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        _, name, overload = self.op.split(".")
        function = getattr(getattr(torch.ops.aten, name), overload)
        letters = dict(zip("abcdefgh", inputs, strict=False))
        found = function(*_tensors(self.arguments, letters))
        return [found] if isinstance(found, torch.Tensor) else list(found)

    def agree(self, *cases: Sequence[torch.Tensor]) -> str:
        """The program planned for the first case computes what PyTorch does, for all of them."""
        planned = plan(self.graph(cases[0]))
        text = planned.variants[0].program
        twin = TwinProgram(lower(text))
        assert twin.build.ok, (twin.build.diagnostics[:3], text)
        outs = sorted((o.result, o.name) for o in planned.operands if o.result is not None)
        for inputs in cases:
            wanted = self.expected(inputs)
            given = dict(zip("abcdefgh", inputs, strict=False))
            feed = {o.name: given[o.source] for o in planned.operands if o.source is not None}
            result = twin.launch(feed, mode="check")
            label = f"{[tuple(tensor.shape) for tensor in inputs]}\n{text}"
            assert result.error is None, (result.error, label)
            assert not result.violations, (result.violations[0], label)
            assert not result.races, (result.races[0], label)
            assert not any(result.unwritten.values()), label
            for (_, name), tensor in zip(outs, wanted, strict=True):
                compare(result.tensors[name].values(), tensor, label)
        return text


def compare(found: Any, wanted: torch.Tensor, label: str) -> None:
    """Equal, or within what rounding leaves."""
    assert found.shape == tuple(wanted.shape), label
    tolerance = TOLERANCES.get(wanted.dtype, 0.0)
    torch.testing.assert_close(
        torch.from_numpy(found.astype("float64")),
        wanted.double(),
        rtol=tolerance,
        atol=tolerance,
        equal_nan=True,
        msg=lambda message: f"{message}\n{label}",
    )


def _arguments(arguments: Any, letters: set[str]) -> Any:
    if isinstance(arguments, list | tuple):
        return [_arguments(item, letters) for item in arguments]
    return Ref(arguments) if arguments in letters else arguments


def _tensors(arguments: Any, letters: dict[str, torch.Tensor]) -> Any:
    if isinstance(arguments, list | tuple):
        return [_tensors(item, letters) for item in arguments]
    return letters.get(arguments, arguments) if isinstance(arguments, str) else arguments
