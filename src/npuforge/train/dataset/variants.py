# SPDX-License-Identifier: Apache-2.0
"""Graphs that differ from a captured one in a few operations, numbers, or their element type.

To capture a module takes longer than to plan it. A graph is data, and many more follow from one:
operations change places with others of their kind, are put in or left out; numbers, element types
and sizes change. What comes of it is a graph as PyTorch would capture it.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import cast

import msgspec

from npuforge.spec.graph import Argument, Graph, Node, Ref, TensorType
from npuforge.train.dataset.resize import resized

_FLOATS = ("float32", "float16", "bfloat16")
_SHARE = 0.35  # of the operations that may change, how many do
_TYPED, _RESIZED, _INSERTED, _REMOVED = 0.4, 0.6, 0.6, 0.35
_DEFAULT = ".default"


class Swaps(msgspec.Struct, frozen=True):
    """Operations by kind, without the `aten.` before them."""

    unary: list[str]
    binary: list[str]
    extreme: list[str]
    compared: list[str]
    folded: list[str]
    numbered: list[str]
    numbers: list[float]


@cache
def swaps() -> Swaps:
    text = files(__package__).joinpath("swaps.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Swaps)


def varied(graph: Graph, rng: random.Random) -> Graph:
    """Another graph like this one; whether it can be planned is not known."""
    made = _changed(graph, rng)
    if rng.random() < _REMOVED:
        made = _without_one(made, rng)
    while rng.random() < _INSERTED:
        made = _with_one(made, rng)
    if rng.random() < _TYPED:
        made = _retyped(made, rng)
    if rng.random() < _RESIZED:
        made = resized(made, rng) or made
    return replace(made, eager=[])


def _changed(graph: Graph, rng: random.Random) -> Graph:
    types = _types(graph)
    nodes = [_other(node, types, rng) if rng.random() < _SHARE else node for node in graph.nodes]
    return replace(graph, nodes=[_numbered(node, rng) for node in nodes])


def _other(node: Node, types: dict[str, TensorType], rng: random.Random) -> Node:
    known = swaps()
    if _is_unary(node, types):
        return replace(node, op=_op(rng.choice(known.unary)))
    if node.word in known.binary and not node.kwargs and _is_float(node, types):
        return replace(node, op=_op(rng.choice(known.binary)))
    if node.word in known.extreme and not node.kwargs and _is_even(node, types):
        return replace(node, op=_op(rng.choice(known.extreme)))
    word, _, overload = node.word.partition(".")
    if word in known.compared and overload in {"Scalar", "Tensor"}:
        return replace(node, op=f"aten.{rng.choice(known.compared)}.{overload}")
    if node.word in known.folded and not node.kwargs and _is_float(node, types):
        return replace(node, op=_op(rng.choice(known.folded)))
    return node


def _numbered(node: Node, rng: random.Random) -> Node:
    """Other numbers where numbers are operands."""
    if node.word not in swaps().numbered:
        return node
    return replace(
        node,
        args=[
            _number(rng) if isinstance(one, float) and rng.random() < 0.6 else one
            for one in node.args
        ],
    )


def _number(rng: random.Random) -> float | int:
    """What a program says must be read off the question: not one of a few numbers."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(swaps().numbers)
    if kind < 0.45:
        return rng.randint(2, 200)
    places = rng.choice((1, 2, 2, 3, 4))
    return round(rng.choice((-1, 1, 1)) * 10 ** rng.uniform(-2, 2), places) or 1.0


def _with_one(graph: Graph, rng: random.Random) -> Graph:
    """One operation more, between a value and those who use it."""
    types = _types(graph)
    places = [name for name, kind in types.items() if kind.dtype in _FLOATS]
    if not places or not graph.nodes:
        return graph
    name = rng.choice(places)
    made = f"{name}_also"
    while made in types:
        made += "_"
    known = swaps()
    op, args = rng.choice(known.unary), list[Argument]([Ref(name)])
    if rng.random() < 0.4:
        op, args = rng.choice(known.binary), [Ref(name), _number(rng)]
    node = Node(made, _op(op), args, {}, [types[name]])
    names = [one.name for one in graph.nodes]
    at = names.index(name) + 1 if name in names else 0
    after = [one.reading({name: made}) for one in graph.nodes[at:]]
    nodes = [*graph.nodes[:at], node, *after]
    results = [replace(r, name=made) if r.name == name else r for r in graph.results]
    return replace(graph, nodes=nodes, results=results if at else graph.results)


def _without_one(graph: Graph, rng: random.Random) -> Graph:
    """One operation less, of those that change nothing but values."""
    types = _types(graph)
    shown = {result.name for result in graph.results}
    places = [n for n in graph.nodes if _is_unary(n, types) and n.name not in shown]
    if not places or len(graph.nodes) < 3:
        return graph
    gone = rng.choice(places)
    source = cast(Ref, gone.args[0]).ref
    kept = (node for node in graph.nodes if node is not gone)
    return replace(graph, nodes=[node.reading({gone.name: source}) for node in kept])


def _retyped(graph: Graph, rng: random.Random) -> Graph:
    """Another element type, where there is one floating type and nothing names it."""
    found = {kind.dtype for kind in _types(graph).values() if kind.dtype in _FLOATS}
    named = {
        text
        for node in graph.nodes
        for text in (*node.args, *node.kwargs.values())
        if isinstance(text, str) and text in _FLOATS
    }
    if len(found) != 1 or named - found:
        return graph
    (old,) = found
    new = rng.choice([one for one in _FLOATS if one != old])

    def typed(kind: TensorType) -> TensorType:
        return replace(kind, dtype=new) if kind.dtype == old else kind

    return replace(
        graph,
        sources=[replace(source, type=typed(source.type)) for source in graph.sources],
        nodes=[
            replace(
                node,
                args=[new if one == old else one for one in node.args],
                kwargs={key: new if one == old else one for key, one in node.kwargs.items()},
                types=[typed(kind) if kind is not None else None for kind in node.types],
            )
            for node in graph.nodes
        ],
    )


def _types(graph: Graph) -> dict[str, TensorType]:
    types = {source.name: source.type for source in graph.sources}
    return types | {n.name: n.type for n in graph.nodes if len(n.types) == 1 and n.types[0]}


def _is_float(node: Node, types: dict[str, TensorType]) -> bool:
    return (
        node.name in types
        and types[node.name].dtype in _FLOATS
        and all(
            types[one.ref].dtype in _FLOATS if isinstance(one, Ref) else True
            for one in node.args
            if not isinstance(one, Ref) or one.ref in types
        )
    )


def _is_unary(node: Node, types: dict[str, TensorType]) -> bool:
    if len(node.args) != 1 or node.kwargs or not isinstance(node.args[0], Ref):
        return False
    kind = types.get(node.name)
    known = node.word in swaps().unary and kind is not None and kind.dtype in _FLOATS
    return known and types.get(node.args[0].ref) == kind


def _is_even(node: Node, types: dict[str, TensorType]) -> bool:
    """Whether both operands are tensors of the result's type."""
    kinds = [types.get(one.ref) if isinstance(one, Ref) else None for one in node.args]
    return len(kinds) == 2 and kinds[0] is not None and kinds == [types.get(node.name)] * 2


def _op(word: str) -> str:
    return f"aten.{word}" if "." in word else f"aten.{word}{_DEFAULT}"
