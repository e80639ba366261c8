# SPDX-License-Identifier: Apache-2.0
"""Memory of a running program: tiles on the chip, tensors in global memory.

Both know which elements have a value. Tensors also know which core touched an element during the
launch: cores run at the same time on the device, so an element that one core writes and another
reads or writes has no defined value, unless all of them write it atomically.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npuforge.dtypes import AnyArray, DType, find
from npuforge.tile.interpret.cast import cast, widened
from npuforge.tile.interpret.failure import failure
from npuforge.tile.interpret.scalars import Scalars
from npuforge.tile.ir import Atomic, Buffer, Pointer, Tensor, View
from npuforge.tile.source import Span

Index = tuple[Any, ...]

_NOBODY = -1
_SEVERAL = -2  # readers: more than one core; writers: atomic ones


@dataclass(slots=True)
class Tile:
    """An on-chip buffer of one core; a mask holds truth values."""

    buffer: Buffer
    data: AnyArray
    defined: AnyArray

    @staticmethod
    def of(buffer: Buffer, scalars: Scalars) -> Tile:
        shape = tuple(scalars.whole(extent) for extent in buffer.shape)
        if min(shape) < 0:
            raise failure("TL-15", buffer.span, f"{buffer.name!r} has the shape {shape}")
        dtype = np.dtype(np.bool_) if buffer.dtype is None else buffer.dtype.array_type
        return Tile(buffer, np.zeros(shape, dtype), np.zeros(shape, np.bool_))

    def index(self, view: View, scalars: Scalars) -> Index:
        """The place of `view` for NumPy; checked against the shape."""
        places: list[Any] = []
        for axis in view.axes:
            if axis.dim is None:
                places.append(np.newaxis)
                continue
            start, extent = scalars.whole(axis.start), scalars.whole(axis.extent)
            step = scalars.whole(axis.step)
            size = self.data.shape[axis.dim]
            end = start + (extent - 1) * step + 1 if extent > 0 else start
            if start < 0 or extent < 0 or end > size:
                what = f"elements {start} to {end}" if axis.kept else f"element {start}"
                raise failure(
                    "TL-16",
                    view.span,
                    f"{what} of {self.buffer.name!r}, which has {size} along axis {axis.dim}",
                )
            places.append(slice(start, end, step) if axis.kept else start)
        return tuple(places)

    def read(self, view: View, scalars: Scalars) -> AnyArray:
        """The elements of `view`, all of which must have a value."""
        index = self.index(view, scalars)
        known = self.defined[index]
        if not known.all():
            first = tuple(int(place) for place in np.argwhere(~np.asarray(known))[0])
            raise failure(
                "TL-13",
                view.span,
                f"element {list(first)} of this view of {self.buffer.name!r} was never written",
            )
        return np.asarray(self.data[index])

    def write(self, view: View, scalars: Scalars, values: AnyArray) -> None:
        index = self.index(view, scalars)
        self.data[index] = values
        self.defined[index] = True


@dataclass(frozen=True, slots=True)
class Region:
    """A strided rectangle of a flat tensor; the last axis is contiguous."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def steps(self) -> tuple[int, ...]:
        return (*self.strides, 1) if self.shape else ()

    def ends(self) -> tuple[int, int]:
        """Smallest and largest element number."""
        reach = [(n - 1) * step for n, step in zip(self.shape, self.steps(), strict=True)]
        return (
            self.offset + sum(min(0, far) for far in reach),
            self.offset + sum(max(0, far) for far in reach),
        )

    def of(self, flat: AnyArray) -> AnyArray:
        """This part of `flat`, in place; it must lie inside."""
        if 0 in self.shape:
            return np.zeros(self.shape, flat.dtype)
        steps = tuple(step * flat.itemsize for step in self.steps())
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, steps)

    def first(self, chosen: AnyArray) -> int:
        """Number of the first element that `chosen` marks."""
        place = np.argwhere(chosen)[0]
        return self.offset + sum(int(n) * step for n, step in zip(place, self.steps(), strict=True))


@dataclass(slots=True)
class GlobalTensor:
    """A tensor in global memory, flat."""

    tensor: Tensor
    shape: tuple[int, ...]
    data: AnyArray
    written: AnyArray
    _writers: AnyArray | None = field(default=None)
    _readers: AnyArray | None = field(default=None)

    @staticmethod
    def empty(tensor: Tensor, shape: tuple[int, ...]) -> GlobalTensor:
        """A tensor none of whose elements has a value."""
        count = math.prod(shape)
        data = np.zeros(count, tensor.dtype.array_type)
        return GlobalTensor(tensor, shape, data, np.zeros(count, np.bool_))

    @staticmethod
    def holding(tensor: Tensor, values: AnyArray) -> GlobalTensor:
        data = np.array(values, tensor.dtype.array_type).reshape(-1)
        return GlobalTensor(tensor, tuple(values.shape), data, np.ones(data.size, np.bool_))

    def begin_launch(self, cores: int) -> None:
        """Forget who touched what; with one core nobody else can."""
        watched = cores > 1 and self.tensor.role != "in"
        self._writers = np.full(self.data.size, _NOBODY, np.int32) if watched else None
        self._readers = np.full(self.data.size, _NOBODY, np.int32) if watched else None

    def read(self, region: Region, core: int, pointer: Pointer) -> AnyArray:
        self._check_inside(region, pointer.span)
        self._demand_written(region, pointer.span)
        if self._writers is not None and self._readers is not None:
            writers, readers = region.of(self._writers), region.of(self._readers)
            self._no_race((writers != _NOBODY) & (writers != core), region, pointer.span)
            readers[...] = np.where((readers == _NOBODY) | (readers == core), core, _SEVERAL)
        return region.of(self.data)

    def write(self, region: Region, values: AnyArray, core: int, pointer: Pointer) -> None:
        self._check_inside(region, pointer.span)
        self._note_write(region, core, core, pointer.span)
        region.of(self.data)[...] = values
        region.of(self.written)[...] = True

    def combine(
        self, region: Region, values: AnyArray, atomic: Atomic, core: int, pointer: Pointer
    ) -> None:
        """Atomic store: rows one after another, for they may meet in one place."""
        self._check_inside(region, pointer.span)
        self._demand_written(region, pointer.span)
        self._note_write(region, _SEVERAL, core, pointer.span)
        target = region.of(self.data)
        for row in np.ndindex(target.shape[:-1]):
            target[row] = combined(atomic, target[row], values[row], self.tensor.dtype)

    def _check_inside(self, region: Region, span: Span) -> None:
        first, last = region.ends()
        if math.prod(region.shape) and (first < 0 or last >= self.data.size):
            raise failure(
                "TL-16",
                span,
                f"element {first if first < 0 else last} of {self.tensor.name!r}, "
                f"which has {self.data.size}",
            )

    def _demand_written(self, region: Region, span: Span) -> None:
        known = region.of(self.written)
        if not known.all():
            raise failure(
                "TL-13",
                span,
                f"element {region.first(~known)} of {self.tensor.name!r} was never written",
            )

    def _note_write(self, region: Region, mark: int, core: int, span: Span) -> None:
        if self._writers is None or self._readers is None:
            return
        writers, readers = region.of(self._writers), region.of(self._readers)
        foreign = (writers != _NOBODY) & (writers != mark)
        self._no_race(foreign | ((readers != _NOBODY) & (readers != core)), region, span)
        writers[...] = mark

    def _no_race(self, conflict: AnyArray, region: Region, span: Span) -> None:
        if conflict.any():
            raise failure(
                "TL-20",
                span,
                f"another core touches element {region.first(conflict)} of {self.tensor.name!r}",
            )


def combined(atomic: Atomic, old: AnyArray, new: AnyArray, dtype: DType) -> AnyArray:
    """What an atomic store leaves in memory."""
    function = {"add": np.add, "max": np.maximum, "min": np.minimum}[atomic]
    result: AnyArray = function(widened(old, dtype), widened(new, dtype))
    return cast(result, find("float32"), dtype, "none") if dtype.kind == "float" else result
