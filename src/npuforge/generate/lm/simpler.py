# SPDX-License-Identifier: Apache-2.0
"""A graph in simpler operations, for questions that are asked in parts.

What PyTorch does in one step may be several to a kernel: a part of a tensor written over is a join
of what is left of it and what is new, elements taken by a range are a slice, a softmax is a
maximum, an exponential, a sum and a quotient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from npuforge.spec.graph import Argument, Extent, Graph, Node, Ref, TensorType
from npuforge.spec.size import Size

_LAST = 2**63 - 1  # an end that is the extent, whatever it is
_RANGE = "aten.arange.start_step"
_SMALL_WHOLE = {"uint16": "int32"}  # types that kernels do not have, and those that hold the same


def simpler(graph: Graph) -> Graph:
    """The graph with each operation as the simpler ones that it comes to."""
    made = _Simpler({source.name: source.type for source in graph.sources})
    for node in graph.nodes:
        made.add(node.reading(made.names))
    back = {made.names[one.name]: one.name for one in graph.results if one.name in made.names}
    known = {node.name for node in made.nodes}
    kept = {result.name for result in graph.results}
    if not back.keys() <= known - kept:
        return graph  # what comes out must be computed, and once
    nodes = [replace(n, name=back.get(n.name, n.name)).reading(back) for n in made.nodes]
    return replace(graph, nodes=_read(nodes, kept))


def _read(nodes: list[Node], kept: set[str]) -> list[Node]:
    """Those that something follows from."""
    needed = set(kept)
    for node in reversed(nodes):
        needed |= set(node.reads()) if node.name in needed else set()
    return [node for node in nodes if node.name in needed]


@dataclass
class _Simpler:
    types: dict[str, TensorType]
    nodes: list[Node] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of values that are others
    _ranges: dict[str, Node] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        if node.types and node.types[0] is not None and node.types[0].dtype in _SMALL_WHOLE:
            node = _of_type(node, _SMALL_WHOLE[node.types[0].dtype])
        rule = _RULES.get(node.op)
        if rule is None or not rule(self, node):
            self.put(node)

    def put(self, node: Node) -> str:
        """A node as it is."""
        self.nodes.append(node)
        if node.types and node.types[0] is not None:
            self.types[node.name] = node.types[0]
        if node.op == _RANGE:
            self._ranges[node.name] = node
        return node.name

    def compute(
        self, name: str, op: str, args: list[Argument], kind: TensorType, **named: Argument
    ) -> Ref:
        return Ref(self.put(Node(name, f"aten.{op}", args, dict(named), [kind])))

    def kind(self, argument: Argument) -> TensorType:
        return self.types[cast(Ref, argument).ref]

    def range_of(self, argument: Argument) -> Node | None:
        return self._ranges.get(argument.ref) if isinstance(argument, Ref) else None


def _of_type(node: Node, dtype: str) -> Node:
    named = {key: dtype if key == "dtype" else one for key, one in node.kwargs.items()}
    types = [replace(kind, dtype=dtype) if kind is not None else None for kind in node.types]
    return replace(node, kwargs=named, types=types)


def _copy(made: _Simpler, node: Node) -> bool:
    """Into a tensor of the same type and shape: the other one."""
    if made.kind(node.args[1]) != node.type:
        return False
    made.names[node.name] = cast(Ref, node.args[1]).ref
    return True


def _slice_scatter(made: _Simpler, node: Node) -> bool:
    """What is before, what is new, what is after."""
    whole, new = node.args[:2]
    where: list[Argument] = [*node.args[2:], *(0, 0, _LAST, 1)[len(node.args) - 2 :]]
    axis, start, end, step = where[0], where[1], where[2], where[3]
    kind = made.kind(whole)
    if step != 1 or not isinstance(axis, int):
        return False
    low, high = _place(start), _place(end)
    if low is None or high is None:
        return False
    if low.known == 0 and high.known == _LAST:
        if made.kind(new) != node.type:
            return False
        made.names[node.name] = cast(Ref, new).ref
        return True
    if kind.shape[axis] != node.type.shape[axis] or made.kind(new).dtype != kind.dtype:
        return False
    parts: list[Argument] = []
    if low.known != 0:
        parts.append(_cut(made, f"{node.name}_before", whole, axis, 0, start))
    parts.append(new)
    if high.known != _LAST:
        parts.append(_cut(made, f"{node.name}_after", whole, axis, end, _LAST))
    made.compute(node.name, "cat.default", [cast(Argument, parts), axis], node.type)
    return True


def _place(argument: Argument) -> Size | None:
    """A place on an axis that is counted from its beginning."""
    if isinstance(argument, Extent):
        return argument.size
    return Size.of(argument) if isinstance(argument, int) and argument >= 0 else None


def _cut(made: _Simpler, name: str, of: Argument, axis: int, start: Argument, end: Argument) -> Ref:
    """The part of a tensor between two places of an axis."""
    kind = made.kind(of)
    low = cast(Size, _place(start))
    high = kind.sizes[axis] if end == _LAST else cast(Size, _place(end))
    first = start.example if isinstance(start, Extent) else cast(int, start)
    last = end.example if isinstance(end, Extent) else min(cast(int, end), kind.shape[axis])
    shape = (*kind.shape[:axis], last - first, *kind.shape[axis + 1 :])
    extents = (*kind.extents[:axis], str(high - low), *kind.extents[axis + 1 :])
    part = replace(kind, shape=shape, extents=extents)
    return made.compute(name, "slice.Tensor", [of, axis, start, end], part)


def _index_select(made: _Simpler, node: Node) -> bool:
    """By a range: a slice in steps. Of a range that begins at nothing: the places themselves."""
    of, axis, index = node.args
    counted = made.range_of(of)
    if counted is not None and counted.args[0] == 0 and [*counted.args, 1][2] == 1:
        if made.kind(index) != node.type:
            return False
        made.names[node.name] = cast(Ref, index).ref
        return True
    places = made.range_of(index)
    if places is None:
        return False
    start, end, step = [*places.args, 1][:3]
    if not isinstance(step, int) or step < 1 or _place(start) is None or _place(end) is None:
        return False
    kind, count = made.kind(of), node.type.shape[0]
    if axis == 0 and len(kind.shape) == 1 and isinstance(start, int) and start < step > 1:
        # A column of what lies before the last, where rows are as long as a step.
        dtype, length = kind.dtype, count * step
        if isinstance(end, int) and length <= kind.shape[0]:
            begun = TensorType((length,), dtype, (str(length),))
            rows = TensorType((count, step), dtype, (str(count), str(step)))
            first = made.compute(f"{node.name}_first", "slice.Tensor", [of, 0, 0, length], begun)
            seen = made.compute(f"{node.name}_rows", "view.default", [first, [count, step]], rows)
            made.compute(node.name, "select.int", [seen, 1, start], node.type)
            return True
    made.compute(node.name, "slice.Tensor", [of, axis, start, end, step], node.type)
    return True


def _softmax(made: _Simpler, node: Node) -> bool:
    """What is left of the largest, and the sum of its powers: their quotient, or its logarithm."""
    of, axis, _ = node.args
    kind = made.kind(of)
    if kind != node.type or not isinstance(axis, int) or kind.dtype != "float32":
        return False
    name = node.name
    most = _folded(made, f"{name}_max", "amax.default", of, axis)
    shifted = made.compute(f"{name}_shifted", "sub.Tensor", [of, most], kind)
    powers = made.compute(f"{name}_exp", "exp.default", [shifted], kind)
    total = _folded(made, f"{name}_sum", "sum.dim_IntList", powers, axis)
    if node.word == "_softmax":
        made.compute(name, "div.Tensor", [powers, total], kind)
    else:
        logarithm = made.compute(f"{name}_log", "log.default", [total], made.kind(total))
        made.compute(name, "sub.Tensor", [shifted, logarithm], kind)
    return True


def _folded(made: _Simpler, name: str, op: str, of: Argument, axis: int) -> Ref:
    """Along an axis that stays, with one element."""
    kind = made.kind(of)
    axis %= len(kind.shape)
    shape = (*kind.shape[:axis], 1, *kind.shape[axis + 1 :])
    extents = (*kind.extents[:axis], "1", *kind.extents[axis + 1 :])
    folded = replace(kind, shape=shape, extents=extents)
    return made.compute(name, op, [of, [axis - len(kind.shape)], True], folded)


_RULES: Mapping[str, Callable[[_Simpler, Node], bool]] = {
    "aten.copy.default": _copy,
    "aten.slice_scatter.default": _slice_scatter,
    "aten.index_select.default": _index_select,
    "aten._softmax.default": _softmax,
    "aten._log_softmax.default": _softmax,
}
