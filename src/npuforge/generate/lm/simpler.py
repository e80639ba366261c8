# SPDX-License-Identifier: Apache-2.0
"""A graph in simpler operations, for questions that are asked in parts.

What PyTorch does in one step may be several to a kernel: a part of a tensor written over is a join
of what is left of it and what is new, elements taken by a range are a slice, a softmax is a
maximum, an exponential, a sum and a quotient. Several tensors are joined two by two, and what is
folded over other axes than the last ones is turned first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from npuforge.spec.graph import Argument, Extent, Graph, Node, Ref, TensorType
from npuforge.spec.size import Size

_LAST = 2**63 - 1  # an end that is the extent, whatever it is
_RANGE = "aten.arange.start_step"
_REMAINDERS = ("aten.remainder.Scalar", "aten.fmod.Scalar")
_JOINED = 2  # tensors that are joined at once
_TURNED = 3  # axes of what is turned before it is folded
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
    several: dict[str, list[str]] = field(default_factory=dict)  # values of what has many
    _ranges: dict[str, Node] = field(default_factory=dict)
    _rolls: dict[str, tuple[int, Node]] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        if node.types and node.types[0] is not None and node.types[0].dtype in _SMALL_WHOLE:
            node = _of_type(node, _SMALL_WHOLE[node.types[0].dtype])
        self._see_roll(node)
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

    def _see_roll(self, node: Node) -> None:
        """A range from nothing, moved by a number, and what is left of it by its length."""
        given = node.args[0] if node.args else None
        before = given.ref if isinstance(given, Ref) else ""
        number = node.args[1] if len(node.args) > 1 else None
        counted = self._ranges.get(before)
        if node.op == "aten.add.Tensor" and counted is not None and counted.args[0] == 0:
            if isinstance(number, int) and [*counted.args, 1][2] == 1:
                self._rolls[node.name] = number, counted
        elif node.op in _REMAINDERS and before in self._rolls:
            by, counted = self._rolls[before]
            if isinstance(number, int) and counted.type.shape == (number,) and 0 < by < number:
                self._rolls[node.name] = by, node

    def roll_of(self, argument: Argument) -> int | None:
        """By how much a range is turned."""
        found = self._rolls.get(argument.ref) if isinstance(argument, Ref) else None
        return found[0] if found is not None and found[1].op in _REMAINDERS else None

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
    by = made.roll_of(index)
    if by is not None and isinstance(axis, int) and made.kind(of) == node.type:
        parts = [
            _cut(made, f"{node.name}_after", of, axis, by, _LAST),
            _cut(made, f"{node.name}_before", of, axis, 0, by),
        ]
        made.compute(node.name, "cat.default", [cast(Argument, parts), axis], node.type)
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


def _join(made: _Simpler, node: Node) -> bool:
    """Of several: two halves, joined each."""
    parts = cast(list[Argument], node.args[0])
    axis = node.args[1] if len(node.args) > 1 else 0
    if len(parts) <= _JOINED or not isinstance(axis, int):
        return False
    kinds = [made.kind(one) for one in parts]
    if len({len(kind.shape) for kind in kinds}) != 1:
        return False  # parts of no elements
    halves: list[Argument] = []
    middle = (len(parts) + 1) // 2
    for number, half in enumerate((parts[:middle], parts[middle:])):
        name = f"{node.name}_{number}"
        if len(half) == 1:
            halves += half
            continue
        of = [made.kind(one) for one in half]
        length = sum(kind.shape[axis] for kind in of)
        whole = Size.of(0)
        for kind in of:
            whole = whole + kind.sizes[axis]
        joined = _with_axis(of[0], axis, length, str(whole))
        made.add(Node(name, node.op, [cast(Argument, half), axis], {}, [joined]))
        halves.append(Ref(name))
    made.compute(node.name, "cat.default", [cast(Argument, halves), axis], node.type)
    return True


def _with_axis(kind: TensorType, axis: int, length: int, extent: str) -> TensorType:
    axis %= len(kind.shape)
    return replace(
        kind,
        shape=(*kind.shape[:axis], length, *kind.shape[axis + 1 :]),
        extents=(*kind.extents[:axis], extent, *kind.extents[axis + 1 :]),
    )


def _var_mean(made: _Simpler, node: Node) -> bool:
    """The mean, and the mean of the squares of what is left of it."""
    of, axes = node.args[0], node.args[1] if len(node.args) > 1 else None
    kind = made.kind(of)
    plain = node.kwargs.get("correction") == 0 and node.kwargs.get("keepdim") is True
    if not plain or not isinstance(axes, list) or kind.dtype != "float32" or not axes:
        return False
    name, folded = node.name, node.type
    mean = made.compute(f"{name}_mean", "mean.dim", [of, axes, True], folded)
    left = made.compute(f"{name}_left", "sub.Tensor", [of, mean], kind)
    squares = made.compute(f"{name}_squares", "mul.Tensor", [left, left], kind)
    spread = Node(f"{name}_var", "aten.mean.dim", [squares, axes, True], {}, [folded])
    made.several[name] = [spread.name, mean.ref]
    made.add(spread)
    return True


def _item(made: _Simpler, node: Node) -> bool:
    """Of something that is not computed at once any more."""
    of, place = node.args[0], node.args[1]
    several = made.several.get(of.ref) if isinstance(of, Ref) else None
    if several is None or not isinstance(place, int):
        return False
    made.names[node.name] = several[place]
    return True


def _turned_fold(made: _Simpler, node: Node) -> bool:
    """Over axes that are not the last: over the last, of what is turned."""
    of, axes, *more = node.args
    kind = made.kind(of)
    rank = len(kind.shape)
    if not isinstance(axes, list) or not axes or rank < _TURNED:
        return False
    gone = sorted(cast(int, axis) % rank for axis in axes)
    kept = [axis for axis in range(rank) if axis not in gone]
    real = [axis for axis in range(rank) if kind.extents[axis] != "1"]
    folded = [axis for axis in real if axis in gone]
    if folded in (real[: len(folded)], real[len(real) - len(folded) :]):
        return False
    order = [*kept, *gone]
    turned = TensorType(
        tuple(kind.shape[axis] for axis in order),
        kind.dtype,
        tuple(kind.extents[axis] for axis in order),
    )
    now = made.compute(
        f"{node.name}_turned", "permute.default", [of, cast(Argument, order)], turned
    )
    over: Argument = list(range(len(kept), rank))
    small = TensorType(turned.shape[: len(kept)], node.type.dtype, turned.extents[: len(kept)])
    if more[:1] != [True]:
        made.put(replace(node, args=[now, over], types=[small]))
        return True
    small_one = made.put(replace(node, name=f"{node.name}_folded", args=[now, over], types=[small]))
    sizes = [
        _number(text, one) for text, one in zip(node.type.extents, node.type.shape, strict=True)
    ]
    made.compute(node.name, "view.default", [Ref(small_one), cast(Argument, sizes)], node.type)
    return True


def _number(text: str, example: int) -> Argument:
    known = Size.parse(text).known
    return known if known is not None else Extent(text, example)


_RULES: Mapping[str, Callable[[_Simpler, Node], bool]] = {
    "aten.copy.default": _copy,
    "aten.slice_scatter.default": _slice_scatter,
    "aten.index_select.default": _index_select,
    "aten._softmax.default": _softmax,
    "aten._log_softmax.default": _softmax,
    "aten.cat.default": _join,
    "aten.var_mean.correction": _var_mean,
    "getitem": _item,
    "aten.sum.dim_IntList": _turned_fold,
    "aten.mean.dim": _turned_fold,
    "aten.amax.default": _turned_fold,
    "aten.amin.default": _turned_fold,
}
