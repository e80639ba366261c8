# SPDX-License-Identifier: Apache-2.0
"""What the parts of a question compute, by PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from tests.generate.lm.taught import applied

from npuforge.generate.interpreted import run
from npuforge.generate.live import LiveModule
from npuforge.generate.lm.form.quoted import stored
from npuforge.generate.lm.parts.pieces import Piece
from npuforge.generate.lm.question.task import canonical
from npuforge.spec.graph import Graph
from npuforge.spec.size import Size

Function = Callable[..., torch.Tensor]


def captured(function: Function, *shapes: tuple[int, ...]) -> Graph:
    inputs = [torch.ones(shape) for shape in shapes]
    with LiveModule(applied(function, len(inputs)), inputs, "applied") as module:
        graph, _ = canonical(module.graph)
    return graph


def _of_parts(
    parts: Sequence[Piece], tensors: Mapping[str, torch.Tensor], sizes: Mapping[str, int]
) -> dict[str, torch.Tensor]:
    """What the smallest parts leave, by the names of the whole: memory is all they share."""
    known = dict(tensors)
    for part in parts:
        own = {name: Size.parse(text).at(sizes) for name, text in part.extents.items()}
        given = {}
        for source in part.graph.sources:
            shape = [size.at(own) for size in source.type.sizes]
            memory = known[part.tensors[source.name]].flatten()
            given[source.name] = memory[: math.prod(shape)].reshape(shape)
        names = [result.name for result in part.graph.results]
        if part.pieces:
            left = _of_parts(part.pieces, given, own)
        else:
            left = dict(zip(names, run(part.graph, own, given), strict=True))
        for name, value in stored(part.asked).items():
            known[part.tensors[name]] = left[value]
    return known


def agree(graph: Graph, parts: Sequence[Piece]) -> None:
    """What parts compute is what the whole does, which has one result."""
    sizes = {symbol.name: symbol.example for symbol in graph.symbols}
    tensors = {source.name: torch.rand(source.type.shape) for source in graph.sources}
    (wanted,) = run(graph, sizes, tensors)
    found = _of_parts(parts, tensors, sizes)[graph.results[0].name]
    torch.testing.assert_close(found.reshape(wanted.shape), wanted)
