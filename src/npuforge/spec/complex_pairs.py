# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as pairs of real ones, which is what memory holds of them.

A kernel has no complex numbers: a tensor `complex64[n]` is `float32[n, 2]` to it. A graph with such
tensors becomes one of their real and imaginary parts; an operation that is not known here leaves
the graph as it is, and whoever plans it refuses it by its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

from npuforge.spec.graph import Argument, Graph, Node, Ref, Source, TensorType

PARTS = {"complex64": "float32", "complex32": "float16"}
# Operations that do with both parts what they do with a real number.
_EACH = re.compile(
    r"^aten\.(?:add\.Tensor|sub\.Tensor|neg|slice|select|view|_unsafe_view|squeeze|unsqueeze|expand"
    r"|permute|clone|alias|index_select|index|index_put|flip|cat)\b"
)
_UNCHANGED = ("aten._to_copy.default", "aten.alias.default", "aten.clone.default")


class _UnknownError(Exception):
    """An operation on complex numbers that nobody has written down yet."""


class _Pair(NamedTuple):
    real: Argument
    imaginary: Argument


def paired(graph: Graph) -> Graph:
    """The graph with pairs for complex numbers; the graph itself where it has none."""
    kinds = [source.type for source in graph.sources]
    kinds += [kind for node in graph.nodes for kind in node.types if kind is not None]
    if not any(kind.dtype in PARTS for kind in kinds):
        return graph
    try:
        return _Paired(graph).graph()
    except _UnknownError:
        return graph


@dataclass
class _Paired:
    whole: Graph
    nodes: list[Node] = field(default_factory=list)
    types: dict[str, TensorType] = field(default_factory=dict)
    pairs: dict[str, _Pair] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)  # `view_as_real` of a value, by its name
    names: dict[str, str] = field(default_factory=dict)

    def graph(self) -> Graph:
        sources = [self.source(source) for source in self.whole.sources]
        for node in self.whole.nodes:
            self.add(node)
        results = []
        for result in self.whole.results:
            if result.name in self.pairs and result.mutates is not None:
                raise _UnknownError
            name = self.joined(result.name) if result.name in self.pairs else result.name
            results.append(replace(result, name=self.names.get(name, name)))
        return replace(self.whole, sources=sources, nodes=self.nodes, results=results)

    def source(self, source: Source) -> Source:
        kind = source.type
        if kind.dtype not in PARTS:
            self.types[source.name] = kind
            return source
        own = TensorType((*kind.shape, 2), PARTS[kind.dtype], (*kind.extents, "2"))
        self.types[source.name] = own
        part = replace(kind, dtype=PARTS[kind.dtype])
        rank = len(kind.shape)
        parts = [
            self.put(f"{source.name}_{name}", "select.int", [Ref(source.name), rank, place], part)
            for place, name in enumerate(("real", "imaginary"))
        ]
        self.pairs[source.name] = _Pair(*parts)
        return replace(source, type=own)

    def put(
        self, name: str, op: str, args: list[Argument], kind: TensorType, **named: Argument
    ) -> Ref:
        self.nodes.append(Node(name, f"aten.{op}", args, dict(named), [kind]))
        self.types[name] = kind
        return Ref(name)

    def add(self, node: Node) -> None:
        node = node.reading(self.names)
        first = next(iter(node.reads()), "")
        known = next((kind for kind in node.types if kind is not None), None)
        complex_result = known is not None and known.dtype in PARTS
        if first in self.seen:  # a part of a value that was looked at as real numbers
            self.part(node, self.pairs[self.seen[first]])
        elif not complex_result and not any(one in self.pairs for one in node.reads()):
            self.nodes.append(node)
            if known is not None:
                self.types[node.name] = known
        elif node.op == "aten.view_as_real.default":
            self.seen[node.name] = first
        elif node.op in _RULES:
            _RULES[node.op](self, node)
        elif node.op in _UNCHANGED and complex_result and not node.kwargs.get("dtype"):
            self.pairs[node.name] = self.pairs[first]
        elif _EACH.match(node.op) and complex_result and node.kwargs.get("alpha") is None:
            self.each(node)
        else:
            raise _UnknownError(node.op)

    def part(self, node: Node, pair: _Pair) -> None:
        """`select` of the last axis: one of both."""
        axes = len(node.type.shape)
        match node.op, node.args[1:]:
            case "aten.select.int", [int(axis), int(place)] if axis in (axes, -1):
                self.names[node.name] = cast(Ref, pair[place]).ref
            case _:
                raise _UnknownError(node.op)

    def each(self, node: Node) -> None:
        kind = _part_type(node)
        parts = [
            self.put(
                f"{node.name}_{name}",
                node.op.removeprefix("aten."),
                [self.of(argument, place) for argument in node.args],
                kind,
                **node.kwargs,
            )
            for place, name in enumerate(("real", "imaginary"))
        ]
        self.pairs[node.name] = _Pair(*parts)

    def of(self, argument: Argument, place: int) -> Argument:
        """One part of an argument; what is real has no other."""
        if isinstance(argument, Ref):
            if argument.ref in self.pairs:
                return self.pairs[argument.ref][place]
            if place and argument.ref in self.types and self.types[argument.ref].dtype != "int64":
                raise _UnknownError("a real number among complex ones")
            return argument
        if isinstance(argument, list):
            return cast(Argument, [self.of(cast(Argument, one), place) for one in argument])
        return argument

    def joined(self, name: str) -> str:
        """Both parts side by side, as memory has them."""
        pair = self.pairs[name]
        kind = self.types[cast(Ref, pair.real).ref]
        axis = len(kind.shape)
        alone = TensorType((*kind.shape, 1), kind.dtype, (*kind.extents, "1"))
        parts: list[Argument] = [
            self.put(f"{name}_{place}_alone", "unsqueeze.default", [one, axis], alone)
            for place, one in zip(("real", "imaginary"), pair, strict=True)
        ]
        both = TensorType((*kind.shape, 2), kind.dtype, (*kind.extents, "2"))
        self.put(f"{name}_pair", "cat.default", [cast(Argument, parts), axis], both)
        return f"{name}_pair"


def _part_type(node: Node) -> TensorType:
    """Return the type of one part of a node's complex result."""
    if node.type.dtype not in PARTS:
        raise _UnknownError(node.op)
    return replace(node.type, dtype=PARTS[node.type.dtype])


def _mul(made: _Paired, node: Node) -> None:
    """(a + bi) (c + di) = ac - bd + (ad + bc) i; a real factor goes to both parts."""
    kind = _part_type(node)
    left, right = node.args
    first, second = (
        made.pairs.get(one.ref) if isinstance(one, Ref) else None for one in (left, right)
    )

    def put(name: str, op: str, *args: Argument) -> Ref:
        return made.put(f"{node.name}_{name}", f"{op}.Tensor", list(args), kind)

    if first is None or second is None:
        pair, factor = (first, right) if first is not None else (second, left)
        if pair is None or isinstance(factor, str):
            raise _UnknownError(node.op)
        parts = [put(f"part{place}", "mul", one, factor) for place, one in enumerate(pair)]
        made.pairs[node.name] = _Pair(*parts)
        return
    (a, b), (c, d) = first, second
    real = put("real", "sub", put("ac", "mul", a, c), put("bd", "mul", b, d))
    imaginary = put("imaginary", "add", put("ad", "mul", a, d), put("bc", "mul", b, c))
    made.pairs[node.name] = _Pair(real, imaginary)


def _full(made: _Paired, node: Node) -> None:
    """A real number everywhere, and nothing."""
    kind = _part_type(node)
    named = {**node.kwargs, "dtype": kind.dtype}
    size, number = node.args
    if not isinstance(number, int | float):
        raise _UnknownError(node.op)
    parts = [
        made.put(f"{node.name}_{part}", "full.default", [size, one], kind, **named)
        for part, one in (("real", number), ("imaginary", 0))
    ]
    made.pairs[node.name] = _Pair(*parts)


def _conjugate(made: _Paired, node: Node) -> None:
    pair = made.pairs[next(node.reads())]
    kind = made.types[cast(Ref, pair.imaginary).ref]
    turned = made.put(f"{node.name}_imaginary", "neg.default", [pair.imaginary], kind)
    made.pairs[node.name] = _Pair(pair.real, turned)


def _abs(made: _Paired, node: Node) -> None:
    pair = made.pairs[next(node.reads())]

    def put(name: str, op: str, *args: Argument) -> Ref:
        return made.put(name, op, list(args), node.type)

    squares = [
        put(f"{node.name}_square{place}", "mul.Tensor", one, one) for place, one in enumerate(pair)
    ]
    put(node.name, "sqrt.default", put(f"{node.name}_sum", "add.Tensor", *squares))


_RULES: Mapping[str, Callable[[_Paired, Node], None]] = {
    "aten.mul.Tensor": _mul,
    "aten.full.default": _full,
    "aten._conj.default": _conjugate,
    "aten._conj_physical.default": _conjugate,
    "aten.conj_physical.default": _conjugate,
    "aten.abs.default": _abs,
}
