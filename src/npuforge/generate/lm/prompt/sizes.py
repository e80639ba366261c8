# SPDX-License-Identifier: Apache-2.0
"""Sizes that a module fixes are extents like all others to the model.

A weight of 512 elements makes a number of the extent that it shares with an input: PyTorch's
capture says `float16[na, 512]`. A kernel for any number of columns does for 512 as well, and it is
written as kernels are that a model has seen many of. Where sizes follow from one another (512 as 8
times 64), numbers say what symbols would not, and everything stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from npuforge.spec.graph import Argument, Extent, Graph, Node, Source, Symbol, TensorType

# Operations whose whole numbers are sizes.
_SIZED = {"view", "_unsafe_view", "expand", "full", "native_layer_norm", "arange.start_step"}
# What makes axes of its own: of a join, a part, the first few.
_MAKING = {"cat", "slice.Tensor", "constant_pad_nd", "topk"}
# What is computed from sizes that are arguments.
_COUNTING = {"native_group_norm", "split_with_sizes", "repeat", "unfold", "index_put"}
_NUMBER = re.compile(r"(?<!\w)\d+")


def freed(graph: Graph) -> Graph:
    """The graph with a symbol for each number that is an extent of a source."""
    places = dict(_fixed(graph.sources))
    if not places or not _independent(graph, places):
        return graph
    names = {value: f"fixed_{value}" for value in places}
    return replace(
        graph,
        sources=[replace(source, type=_typed(source.type, names)) for source in graph.sources],
        nodes=[_node(node, names) for node in graph.nodes],
        symbols=[
            *graph.symbols,
            *(Symbol(names[value], *place, value, value) for value, place in places.items()),
        ],
    )


def _fixed(sources: list[Source]) -> Iterator[tuple[int, tuple[str, int]]]:
    """Numbers that are extents, with the first source and axis that have them."""
    seen: set[int] = set()
    for source in sources:
        for axis, (extent, value) in enumerate(
            zip(source.type.extents, source.type.shape, strict=True)
        ):
            if extent == str(value) and value > 1 and value not in seen:
                seen.add(value)
                yield value, (source.name, axis)


def _independent(graph: Graph, fixed: Mapping[int, object]) -> bool:
    """Return whether no other size follows from these numbers."""
    if any(node.word in _COUNTING for node in graph.nodes):
        return False
    types = {source.name: source.type for source in graph.sources}
    types |= {node.name: kind for node in graph.nodes if (kind := node.types[0]) is not None}
    if any(_made(node, types, fixed) for node in graph.nodes if node.word in _MAKING):
        return False
    kinds = [source.type for source in graph.sources]
    kinds += [kind for node in graph.nodes for kind in node.types if kind is not None]
    for extent in {extent for kind in kinds for extent in kind.extents}:
        numbers = [int(number) for number in _NUMBER.findall(extent)]
        alone = extent.isdigit() and numbers[0] in {0, 1, *fixed}
        if not alone and any(number > 1 for number in numbers):
            return False
    return True


def _made(node: Node, types: Mapping[str, TensorType], fixed: Mapping[int, object]) -> bool:
    """Return whether an axis of a node has one of these numbers and its first operand lacks it."""
    before = types[next(node.reads())].extents
    return any(
        extent.isdigit() and int(extent) in fixed and extent != had
        for extent, had in zip(node.type.extents, before, strict=False)
    )


def _typed(kind: TensorType, names: Mapping[int, str]) -> TensorType:
    extents = [
        names.get(value, extent) if extent == str(value) else extent
        for extent, value in zip(kind.extents, kind.shape, strict=True)
    ]
    return replace(kind, extents=tuple(extents))


def _node(node: Node, names: Mapping[int, str]) -> Node:
    args = [_sized(one, names) for one in node.args] if node.word in _SIZED else node.args
    types = [_typed(kind, names) if kind is not None else None for kind in node.types]
    return Node(node.name, node.op, args, node.kwargs, types)


def _sized(argument: Argument, names: Mapping[int, str]) -> Argument:
    if isinstance(argument, list):
        return cast(Argument, [_sized(cast(Argument, one), names) for one in argument])
    if isinstance(argument, int) and not isinstance(argument, bool) and argument in names:
        return Extent(names[argument], argument)
    return argument
