# SPDX-License-Identifier: Apache-2.0
"""Values placed in one space of loops: which axes each varies over, and where it reads.

A root's axes are those of its shape. A reduction brings axes to fold; where its argument reads what
the nest reads already, it folds an axis that is there, so that softmax reads its row once. Items
are interned: the same computation at the same index is one item.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import permutations

from npuforge.plan.plan import PlanError
from npuforge.plan.values import (
    ONE,
    Constant,
    Iota,
    Load,
    Map,
    Reduce,
    ReduceKind,
    Tensor,
    Value,
    contiguous,
)
from npuforge.spec.size import Size

Axis = int
Labels = tuple[Axis | None, ...]


@dataclass(eq=False)
class Access:
    """A place in a tensor: `offset` plus every axis times its stride."""

    tensor: Tensor
    offset: Size
    strides: dict[Axis, Size]


@dataclass(eq=False)
class Item:
    """A value at an index of the nest. `axes` are those it varies over."""

    kind: str  # load, constant, iota, map, fold
    op: str
    dtype: str
    axes: set[Axis]
    args: tuple[Item, ...] = ()
    access: Access | None = None
    number: float | int | bool | Size | None = None
    folds: tuple[Axis, ...] = ()
    label: str = ""  # the graph's name for it


@dataclass(eq=False)
class Store:
    """A root: an item written to a tensor."""

    item: Item
    access: Access


@dataclass
class Nest:
    """Loops over `sizes`, items in the order of computation, and what is written."""

    explicit: bool  # softmax sums and squares in terms of simple folds
    example: Mapping[str, int]
    sizes: dict[Axis, Size] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    assumed: dict[tuple[Size, Size], None] = field(default_factory=dict)  # equal extents
    of_value: dict[int, set[int]] = field(default_factory=dict)  # id(value): ids of its items
    _interned: dict[tuple[object, ...], Item] = field(default_factory=dict)
    _direct: set[tuple[object, ...]] = field(default_factory=set)  # what roots read
    _values: list[Value] = field(default_factory=list)  # keeps ids alive
    _built: dict[tuple[int, Labels], Item] = field(default_factory=dict)

    def add_root(self, value: Value, out: Tensor, labels: Labels | None = None) -> None:
        """Write `value` to `out`; new axes where no labels are given."""
        if labels is None:
            labels = tuple(
                None if extent == ONE else self.new_axis(extent) for extent in value.shape
            )
        strides = contiguous(value.shape)
        at = {
            label: stride
            for label, stride in zip(labels, strides, strict=True)
            if label is not None
        }
        item = self.build(value, labels)
        self.stores.append(Store(item, Access(out, Size.of(0), at)))

    def new_axis(self, size: Size) -> Axis:
        number = max(self.sizes, default=-1) + 1
        self.sizes[number] = size
        return number

    def loaded(self, wanted: Callable[[Access], bool]) -> list[Value]:
        """The values, each once, that are read from memory in such a way."""
        items = {id(item) for item in self.items if item.access is not None and wanted(item.access)}
        found = {id(value): value for value in self._values if self.of_value[id(value)] & items}
        return [value for value in found.values() if isinstance(value, Load)]

    # Building items

    def build(self, value: Value, labels: Labels) -> Item:
        key = id(value), labels
        if key in self._built:
            return self._built[key]
        self._values.append(value)
        item = self._build(value, labels)
        item.label = item.label or value.label
        self.of_value.setdefault(id(value), set()).add(id(item))
        self._built[key] = item
        return item

    def _build(self, value: Value, labels: Labels) -> Item:
        match value:
            case Constant():
                return self._intern("constant", "", value.dtype, set(), number=value.number)
            case Iota():
                axis = labels[value.axis]
                if axis is None:
                    return self._intern("constant", "", value.dtype, set(), number=0)
                return self._intern("iota", "", value.dtype, {axis})
            case Load():
                access = _access(value, labels)
                return self._intern("load", "", value.dtype, set(access.strides), access=access)
            case Map():
                args = []
                for arg in value.args:
                    pairs = zip(labels, arg.shape, strict=True)
                    own = tuple(None if extent == ONE else label for label, extent in pairs)
                    self._assume(own, arg.shape)
                    args.append(self.build(arg, own))
                return self.map(value.op, value.dtype, *args)
            case Reduce():
                return self._build_fold(value, labels)
        raise PlanError(f"no place for {type(value).__name__} in a loop nest")

    def _assume(self, labels: Labels, shape: Sequence[Size]) -> None:
        """Note extents that are taken for those of the loops without being the same formula."""
        for label, extent in zip(labels, shape, strict=True):
            if label is not None and extent != self.sizes[label]:
                self.assumed[extent, self.sizes[label]] = None

    def map(self, op: str, dtype: str, *args: Item) -> Item:
        axes = set().union(*(arg.axes for arg in args)) if args else set()
        return self._intern("map", op, dtype, axes, args=args)

    def constant(self, number: float | Size, dtype: str = "float32") -> Item:
        return self._intern("constant", "", dtype, set(), number=number)

    def fold(self, kind: ReduceKind, arg: Item, folds: tuple[Axis, ...], dtype: str) -> Item:
        """A fold of axes; those the argument does not vary over only count."""
        if self.explicit and kind == "sumexp":
            peak = self.fold("max", arg, folds, dtype)
            grown = self.map("exp", dtype, self.map("sub", dtype, arg, peak))
            return self.fold("sum", grown, folds, dtype)
        if self.explicit and kind == "squares":
            number = Size.of(1)
            for axis in folds:
                number = number * self.sizes[axis]
            total = self.fold("sum", arg, folds, dtype)
            middle = self.map("div", dtype, total, self.constant(number))
            around = self.map("sub", dtype, arg, middle)
            return self.fold("sum", self.map("mul", dtype, around, around), folds, dtype)
        axes = arg.axes - set(folds)
        return self._intern("fold", kind, dtype, axes, args=(arg,), folds=folds)

    def _build_fold(self, value: Reduce, labels: Labels) -> Item:
        folded = value.folded
        real = [extent for extent in folded if extent != ONE]
        axes = self._folded_axes(value, labels, real)
        chosen = iter(axes)
        tail = tuple(None if extent == ONE else next(chosen) for extent in folded)
        arg = self.build(value.arg, labels + tail)
        if not axes:
            return self._degenerate(value, arg)
        return self.fold(value.kind, arg, tuple(sorted(axes)), value.dtype)

    def _degenerate(self, value: Reduce, arg: Item) -> Item:
        """A fold over axes of extent one."""
        match value.kind:
            case "argmax" | "argmin" | "squares":
                return self.constant(0, value.dtype)
            case "sumexp":
                return self.map("exp", value.dtype, self.map("sub", value.dtype, arg, arg))
            case _:
                return self.map("cast", value.dtype, arg)

    def _folded_axes(self, value: Reduce, labels: Labels, extents: list[Size]) -> tuple[Axis, ...]:
        """Axes of the nest to fold where the argument shares reads with it, else new ones."""
        taken = {label for label in labels if label is not None}
        free = [axis for axis in self.sizes if axis not in taken]
        known = {self._address(item.access) for item in self.items if item.access is not None}
        known |= self._direct
        best: tuple[int, tuple[Axis, ...]] = (0, ())
        for choice in permutations(free, len(extents)):
            if any(self.sizes[a] != e for a, e in zip(choice, extents, strict=True)):
                continue
            chosen = iter(choice)
            tail = tuple(None if extent == ONE else next(chosen) for extent in value.folded)
            shared = sum(
                self._address(access) in known for access in reads(value.arg, labels + tail, set())
            )
            if shared > best[0]:
                best = (shared, choice)
        if best[0] or not extents:
            return best[1]
        for item in self.items:  # another fold of the same extents: one loop for both
            same = [self.sizes[axis] for axis in item.folds] == extents
            if item.kind == "fold" and same and not taken & set(item.folds):
                return item.folds
        return tuple(self.new_axis(extent) for extent in extents)

    def expect(self, value: Value, labels: Labels) -> None:
        """Note what a root reads outside reductions, before items are built."""
        self._direct |= {self._address(access) for access in reads(value, labels, set())}

    def _address(self, access: Access) -> tuple[object, ...]:
        strides = frozenset(access.strides.items())
        return (id(access.tensor.memory), access.offset, strides)

    def _intern(
        self,
        kind: str,
        op: str,
        dtype: str,
        axes: set[Axis],
        *,
        args: tuple[Item, ...] = (),
        access: Access | None = None,
        number: float | Size | None = None,
        folds: tuple[Axis, ...] = (),
    ) -> Item:
        place = None if access is None else self._address(access)
        iota = frozenset(axes) if kind == "iota" else None
        shown = repr(number)  # nan is not equal to itself
        key = (kind, op, dtype, iota, tuple(map(id, args)), place, shown, folds)
        if key not in self._interned:
            item = Item(kind, op, dtype, axes, args, access, number, folds)
            self._interned[key] = item
            self.items.append(item)
        return self._interned[key]

    # The loops

    @property
    def folded(self) -> set[Axis]:
        """Axes that some reduction folds."""
        return {axis for item in self.items for axis in item.folds}

    @property
    def accesses(self) -> Iterator[Access]:
        for item in self.items:
            if item.access is not None:
                yield item.access
        for store in self.stores:
            yield store.access

    def extent(self, axis: Axis) -> int:
        """The example's extent."""
        return self.sizes[axis].at(self.example)

    def merge_axes(self) -> None:
        """Make one axis of two wherever every read and write steps through both evenly."""
        merged = True
        while merged:
            merged = False
            for outer in list(self.sizes):
                for inner in list(self.sizes):
                    if outer != inner and self._mergeable(outer, inner):
                        self._merge(outer, inner)
                        merged = True
                        break
                if merged:
                    break

    def _mergeable(self, outer: Axis, inner: Axis) -> bool:
        for item in self.items:
            if (outer in item.folds) != (inner in item.folds):
                return False
            if item.kind == "iota" and item.axes & {outer, inner}:
                return False
            if item.kind == "fold" and item.op in ("argmax", "argmin") and outer in item.folds:
                return False  # the place is counted along one axis
        zero = Size.of(0)
        for access in self.accesses:
            step = access.strides.get(inner, zero) * self.sizes[inner]
            if access.strides.get(outer, zero) != step:
                return False
        return True

    def _merge(self, outer: Axis, inner: Axis) -> None:
        self.sizes[inner] = self.sizes[outer] * self.sizes[inner]
        del self.sizes[outer]
        for access in self.accesses:
            access.strides.pop(outer, None)
        for item in self.items:
            if outer in item.axes:
                item.axes.discard(outer)
                item.axes.add(inner)
            item.folds = tuple(axis for axis in item.folds if axis != outer)

    def order(self) -> list[Axis]:
        """Axes from the slowest to the fastest, as memory is stepped through.

        Writes decide about axes that they have; large reads, the largest first, about the others.
        Axes that no such access has together stand with those of the result outside.
        """
        reads = [item.access for item in self.items if item.access is not None]
        reads.sort(key=self._volume, reverse=True)
        large = [access for access in reads if self._volume(access) * 4 >= self._volume(reads[0])]
        deciding = [store.access for store in self.stores] + large
        folded = self.folded

        def compare(first: Axis, second: Axis) -> int:
            for access in deciding:
                if first in access.strides and second in access.strides:
                    steps = [abs(access.strides[x].at(self.example)) for x in (first, second)]
                    return steps[1] - steps[0]
            if (first in folded) != (second in folded):
                return 1 if first in folded else -1
            return self._place(second, deciding) - self._place(first, deciding)

        return sorted(self.sizes, key=cmp_to_key(compare))

    def _volume(self, access: Access) -> int:
        return math.prod(self.extent(axis) for axis in access.strides)

    def _place(self, axis: Axis, accesses: list[Access]) -> int:
        """How far apart neighbours along an axis lie where it is stepped through at all."""
        steps = [abs(a.strides[axis].at(self.example)) for a in accesses if axis in a.strides]
        return min(steps, default=1 << 62)


def _access(value: Load, labels: Labels) -> Access:
    strides: dict[Axis, Size] = {}
    for label, stride, extent in zip(labels, value.strides, value.shape, strict=True):
        if label is None or extent == ONE or stride == Size.of(0):
            continue
        strides[label] = strides.get(label, Size.of(0)) + stride
    return Access(value.tensor, value.offset, strides)


def reads(value: Value, labels: Labels, seen: set[tuple[int, Labels]]) -> Iterator[Access]:
    """Reads of a value at these axes, reductions left out, and what was `seen` before: there may be
    very many ways to what is shared."""
    if (id(value), labels) in seen:
        return
    seen.add((id(value), labels))
    match value:
        case Load():
            yield _access(value, labels)
        case Map():
            for arg in value.args:
                pairs = zip(labels, arg.shape, strict=True)
                own = tuple(None if extent == ONE else label for label, extent in pairs)
                yield from reads(arg, own, seen)


def needed(items: Iterable[Item]) -> list[Item]:
    """Items that these follow from, and themselves, arguments first."""
    found: dict[int, Item] = {}

    def visit(item: Item) -> None:
        if id(item) not in found:
            for arg in item.args:
                visit(arg)
            found[id(item)] = item

    for item in items:
        visit(item)
    return list(found.values())


def nest_of(
    roots: Sequence[tuple[Value, Tensor]], example: Mapping[str, int], *, explicit: bool
) -> Nest:
    """One nest for roots of one shape, axes merged."""
    nest = Nest(explicit, example)
    shape = roots[0][0].shape
    labels = tuple(None if extent == ONE else nest.new_axis(extent) for extent in shape)
    for value, _ in roots:
        nest.expect(value, labels)
    for value, out in roots:
        nest.add_root(value, out, labels)
    nest.items = needed(store.item for store in nest.stores)
    return nest
