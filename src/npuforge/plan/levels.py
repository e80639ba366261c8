# SPDX-License-Identifier: Apache-2.0
"""Levels of reductions: what can be computed once per result, and how parts are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from npuforge.plan.arith import apply, reduce
from npuforge.plan.nest import Axis, Item, Nest, needed
from npuforge.plan.values import Map, Reduce, Tensor, Value, load
from npuforge.plan.views import permute


class Level:
    """Values of a nest that follow from folds of given axes and do not vary over them."""

    def __init__(self, nest: Nest, folds: frozenset[Axis]) -> None:
        self.nest, self.folds = nest, folds
        self.items = {id(item): item for item in nest.items}

    def frontier(self, values: Sequence[Value]) -> list[Value]:
        """The largest such values, each once."""
        found: dict[int, Value] = {}
        seen: set[int] = set()

        def visit(value: Value) -> None:
            if id(value) in seen:
                return
            seen.add(id(value))
            if self._belongs(value):
                found[id(value)] = value
                return
            match value:
                case Map():
                    for arg in value.args:
                        visit(arg)
                case Reduce():
                    visit(value.arg)

        for value in values:
            visit(value)
        return list(found.values())

    def inside(self, values: Sequence[Value]) -> list[Value]:
        """Such values below other folds: they come a level earlier."""
        args: list[Value] = []

        def visit(value: Value) -> None:
            match value:
                case Map():
                    for arg in value.args:
                        visit(arg)
                case Reduce():
                    args.append(value.arg)

        for value in values:
            visit(value)
        return self.frontier(args)

    def _belongs(self, value: Value) -> bool:
        items = [
            self.items[key] for key in self.nest.of_value.get(id(value), ()) if key in self.items
        ]
        return bool(items) and all(self._item_belongs(item) for item in items)

    def _item_belongs(self, item: Item) -> bool:
        if item.axes & self.folds:
            return False
        folds = [x for x in needed([item]) if x.kind == "fold"]
        return bool(folds) and all(frozenset(x.folds) == self.folds for x in folds)


def substitute(value: Value, swaps: Mapping[int, Value]) -> Value:
    """The value with others put in, by identity."""
    memo: dict[int, Value] = {}

    def visit(old: Value) -> Value:
        if id(old) in swaps:
            return swaps[id(old)]
        if id(old) not in memo:
            memo[id(old)] = rebuilt(old)
        return memo[id(old)]

    def rebuilt(old: Value) -> Value:
        match old:
            case Map():
                args = tuple(visit(arg) for arg in old.args)
                same = all(a is b for a, b in zip(args, old.args, strict=True))
                return old if same else replace(old, args=args)
            case Reduce():
                arg = visit(old.arg)
                return old if arg is old.arg else replace(old, arg=arg)
        return old

    return visit(value)


def merged(fold: Reduce, states: Sequence[Tensor]) -> Value:
    """The fold's value from the states of its parts: tensors of shape (parts, *shape)."""
    parts = [_last(load(state)) for state in states]
    axis = [len(fold.shape)]
    dtype = "float32"
    match fold.kind:
        case "sum" | "prod" | "max" | "min":
            return reduce(fold.kind, parts[0], axis, fold.dtype)
        case "argmax" | "argmin":
            best, place = parts
            kind = "max" if fold.kind == "argmax" else "min"
            top = reduce(kind, best, axis, dtype, keep=True)  # type: ignore[arg-type]
            there = apply("where", dtype, apply("eq", "bool", best, top), place, 3.0e38)
            return apply("cast", fold.dtype, reduce("min", there, axis, dtype))
        case "sumexp":
            peak, total = parts
            top = reduce("max", peak, axis, dtype, keep=True)
            scaled = apply("exp", dtype, apply("sub", dtype, peak, top))
            return reduce("sum", apply("mul", dtype, total, scaled), axis, fold.dtype)
        case "squares":
            return _merged_squares(*parts, axis=axis, dtype=fold.dtype)
    raise AssertionError(fold)


def _merged_squares(
    middle: Value, squares: Value, number: Value, *, axis: list[int], dtype: str
) -> Value:
    """Squares around the common mean from those around each part's own."""
    weighted = reduce("sum", apply("mul", dtype, middle, number), axis, dtype, keep=True)
    total = reduce("sum", number, axis, dtype, keep=True)
    around = apply("sub", dtype, middle, apply("div", dtype, weighted, total))
    between = apply("mul", dtype, apply("mul", dtype, around, around), number)
    return reduce("sum", apply("add", dtype, squares, between), axis, dtype)


def _last(value: Value) -> Value:
    """The first axis moved behind the others."""
    return permute(value, [*range(1, len(value.shape)), 0])
