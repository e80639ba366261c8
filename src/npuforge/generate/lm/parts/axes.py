# SPDX-License-Identifier: Apache-2.0
"""Axes of all values of a graph: which are one to a kernel, and what becomes of values then."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from npuforge.spec.graph import Argument, Ref, TensorType
from npuforge.spec.size import Size, product

_ONE = Size.of(1)


class UnfitError(Exception):
    """Axes that cannot be one after all."""


@dataclass
class Axes:
    """The axes of all values. Those that meet are at one place, and places may become one."""

    types: dict[str, TensorType]
    places: dict[str, list[int]] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)  # places whose order means something
    joined: set[int] = field(default_factory=set)  # places that stay, whatever has one element
    _same: list[int] = field(default_factory=list)

    def new(self) -> int:
        self._same.append(len(self._same))
        return len(self._same) - 1

    def find(self, place: int) -> int:
        while self._same[place] != place:
            place = self._same[place]
        return place

    def meet(self, one: int, other: int) -> None:
        self._same[self.find(one)] = self.find(other)

    def meet_themselves(self) -> bool:
        """Whether an axis of a value is at the place of another one of it: rows and columns of the
        same range."""
        found = ([self.find(place) for place in places] for places in self.places.values())
        return any(len(set(places)) < len(places) for places in found)

    def of(self, argument: Argument) -> list[int]:
        return self.places[argument.ref] if isinstance(argument, Ref) else []

    def merge(self) -> None:
        """Make one of any two places that nothing tells apart, as long as there are two."""
        while self._merge_two():
            pass

    def _merge_two(self) -> bool:
        seen = [self._real(name) for name in self.places]
        alone = {self.find(one) for one in self.alone}
        beside = {pair for real in seen for pair in pairwise(real)}
        for one, other in sorted(beside):
            if one in alone or other in alone or one == other:
                continue
            together = [(one in real, other in real) for real in seen]
            order = [(one, other) in pairwise(real) for real in seen]
            if all(both == (there, there) for both, there in zip(together, order, strict=True)):
                self.meet(one, other)
                return True
        return False

    def _real(self, name: str) -> list[int]:
        """The places where a value has more than one element, in order; a merged one once."""
        sizes = self.types[name].sizes
        found = [self.find(p) for p, n in zip(self.places[name], sizes, strict=True) if n != _ONE]
        return [place for place, _ in groupby(found)]

    def kept(self) -> set[int]:
        """Places where anything has more than one element, or is joined."""
        real = {place for name in self.places for place in self._real(name)}
        return real | {self.find(place) for place in self.joined}


@dataclass
class Rewriting:
    """What becomes of axes."""

    axes: Axes
    kept: set[int]

    def order(self, name: str) -> list[int]:
        """The places that a value has axes for."""
        found = [self.axes.find(place) for place in self.axes.places[name]]
        order = [place for place, _ in groupby(place for place in found if place in self.kept)]
        if len(set(order)) < len(order):
            raise UnfitError
        return order

    def axis(self, name: str, axis: int) -> int | None:
        """The axis that an axis is part of, counted from the same end; none where it has one
        element, as others there."""
        order = self.order(name)
        place = self.axes.find(self.axes.places[name][axis])
        if place not in order:
            return None
        return order.index(place) - (len(order) if axis < 0 else 0)

    def type(self, name: str, kind: TensorType) -> TensorType:
        places = [self.axes.find(place) for place in self.axes.places[name]]
        shape: list[int] = []
        extents: list[str] = []
        for wanted in self.order(name):
            own = [number for number, place in enumerate(places) if place == wanted]
            shape.append(math.prod(kind.shape[number] for number in own))
            extents.append(str(product(kind.sizes[number] for number in own)))
        return TensorType(tuple(shape), kind.dtype, tuple(extents))
