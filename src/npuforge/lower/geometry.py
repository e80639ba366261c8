# SPDX-License-Identifier: Apache-2.0
"""Alignment and padding: where the elements of a view lie in its buffer.

The last dimension of a buffer with two or more dimensions is padded so that every row starts on a
32 byte boundary; the distance between rows is the *pitch*. Pad lanes hold no data, but an
instruction that runs over a whole tile in one go reads and writes them too, so it matters whether
they were ever written: `Padding` says so for each buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from npuforge.tile.expr import ONE, ZERO, Const, Expr, add, align_up, fold, mul
from npuforge.tile.expr import Call as ExprCall
from npuforge.tile.facts import Facts
from npuforge.tile.ir import Buffer, Kernel, Load, Op, View, walk

BLOCK_BYTES = 32
# Operations whose result is whole blocks, whatever the operands are.
_WHOLE_BLOCKS = ("transpose",)


def element_bytes(buffer: Buffer) -> int:
    """Bytes of an element; a mask counts as bytes of eight bits."""
    return 1 if buffer.dtype is None else max(1, buffer.dtype.bits // 8)


@dataclass(frozen=True, slots=True)
class Rows:
    """A view as rows of contiguous elements: `pitch` elements from row to row."""

    view: View
    offset: Expr
    rows: Expr
    cols: Expr
    pitch: Expr


class Geometry:
    """Pitches, sizes and offsets of the buffers of a kernel."""

    def __init__(self, kernel: Kernel, facts: Facts) -> None:
        self._facts = facts
        self._pitches: dict[str, tuple[Expr, bool]] = {}
        # Answers about views, by identity: the kernel keeps them alive.
        self._rows: dict[int, Rows | None] = {}
        self._whole: dict[int, bool] = {}
        self._lanes = _masked_lanes(kernel)
        self._padded = _padded_buffers(kernel, self)

    def pitch(self, buffer: Buffer) -> Expr:
        """Elements between the starts of two rows."""
        return self._pitch(buffer)[0]

    def lanes(self, buffer: Buffer) -> int:
        """Elements that rows are padded to a multiple of."""
        return self._lanes.get(buffer.name, buffer.lanes)

    def has_pads(self, buffer: Buffer) -> bool:
        """May there be lanes behind the end of a row?"""
        return self._pitch(buffer)[1]

    def _pitch(self, buffer: Buffer) -> tuple[Expr, bool]:
        if buffer.name not in self._pitches:
            last = buffer.shape[-1]
            padded = len(buffer.shape) > 1 and not self._facts.multiple_of(last, self.lanes(buffer))
            pitch = align_up(last, self.lanes(buffer)) if padded else last
            self._pitches[buffer.name] = (pitch, padded)
        return self._pitches[buffer.name]

    def elements(self, buffer: Buffer) -> Expr:
        """Elements the buffer takes, pads included."""
        return reduce(mul, buffer.shape[:-1], self.pitch(buffer))

    def bytes(self, buffer: Buffer) -> Expr:
        """Size of one copy, a multiple of 32 bytes."""
        if buffer.dtype is None:
            bits = buffer.shape[0]
            if len(buffer.shape) == 2:  # rows as far apart as those of any element type
                bits = mul(bits, align_up(buffer.shape[1], BLOCK_BYTES))
            return align_up(fold(ExprCall("cdiv", (bits, Const(8)))), BLOCK_BYTES)
        size = mul(self.elements(buffer), Const(element_bytes(buffer)))
        return size if self._facts.multiple_of(size, BLOCK_BYTES) else align_up(size, BLOCK_BYTES)

    def strides(self, buffer: Buffer) -> tuple[Expr, ...]:
        """Elements between neighbours along each dimension."""
        pitch = self.pitch(buffer)
        return (
            (mul(buffer.shape[1], pitch), pitch, ONE) if len(buffer.shape) == 3 else (pitch, ONE)
        )[-len(buffer.shape) :]

    def offset(self, view: View) -> Expr:
        """Element of the buffer at which the view starts."""
        strides = self.strides(view.buffer)
        total: Expr = ZERO
        for axis in view.axes:
            if axis.dim is not None and axis.start != ZERO:
                total = add(total, mul(axis.start, strides[axis.dim]))
        return total

    def full_width(self, view: View) -> bool:
        """Does the view take whole rows of its buffer?"""
        if id(view) not in self._whole:
            self._whole[id(view)] = self._takes_whole_rows(view)
        return self._whole[id(view)]

    def _takes_whole_rows(self, view: View) -> bool:
        last = view.axes[-1]
        return (
            last.dim == len(view.buffer.shape) - 1
            and last.kept
            and last.start == ZERO
            and self._facts.equal(last.extent, view.buffer.shape[-1])
        )

    def rows(self, view: View) -> Rows | None:
        """The view as evenly spaced rows; None where a middle dimension is cut."""
        if id(view) not in self._rows:
            self._rows[id(view)] = self._as_rows(view)
        return self._rows[id(view)]

    def _as_rows(self, view: View) -> Rows | None:
        kept = [axis for axis in view.axes if axis.kept and axis.dim is not None]
        strides = self.strides(view.buffer)
        if not kept:
            return Rows(view, self.offset(view), ONE, ONE, ONE)
        last = kept[-1]
        assert last.dim is not None
        if len(kept) == 1:
            return Rows(view, self.offset(view), ONE, last.extent, self.pitch(view.buffer))
        first = kept[0]
        assert first.dim is not None
        if len(kept) == 2:
            pitch = mul(first.step, strides[first.dim])
            return Rows(view, self.offset(view), first.extent, last.extent, pitch)
        middle = kept[1]
        whole = middle.start == ZERO and self._facts.equal(middle.extent, view.buffer.shape[1])
        if not whole and not self._facts.equal(first.extent, ONE):
            return None
        return Rows(
            view, self.offset(view), mul(first.extent, middle.extent), last.extent, strides[1]
        )

    def flat(self, views: list[Rows]) -> Expr | None:
        """Number of elements if one instruction may run over all rows of all views at once."""
        first = views[0]
        if self._facts.equal(first.rows, ONE):
            return first.cols
        for rows in views:
            buffer = rows.view.buffer
            contiguous = (
                self.full_width(rows.view)
                and (not self.has_pads(buffer) or buffer.name in self._padded)
                and self._facts.equal(rows.pitch, self.pitch(buffer))
            )
            if not contiguous or not self._facts.equal(rows.pitch, first.pitch):
                return None
        return mul(first.rows, first.pitch)


def _padded_buffers(kernel: Kernel, geometry: Geometry) -> set[str]:
    """Buffers whose pad lanes are always written together with their rows."""
    padded = {buffer.name for buffer in kernel.buffers}

    def covers(operand: View, out: View) -> bool:
        """Do the pad lanes of `operand` reach as far as those of `out`?"""
        if len(operand.buffer.shape) == 1 or operand.buffer.name == out.buffer.name:
            return True
        wide = geometry.lanes(operand.buffer) >= geometry.lanes(out.buffer)
        return operand.buffer.name in padded and wide

    statements = list(walk(kernel.body))
    while True:
        broken: set[str] = set()
        for statement in statements:
            match statement:
                case Load(view=view) if not geometry.full_width(view):
                    broken.add(view.buffer.name)
                case Op(outs=outs, ins=ins):
                    for out in (view for view in outs if len(view.buffer.shape) > 1):
                        if out.rank == 0 or not geometry.full_width(out):
                            broken.add(out.buffer.name)
                            continue
                        for operand in () if statement.name in _WHOLE_BLOCKS else ins:
                            if isinstance(operand, View) and not covers(operand, out):
                                broken.add(out.buffer.name)
                case _:
                    pass
        if not broken & padded:
            return padded
        padded -= broken


def _masked_lanes(kernel: Kernel) -> dict[str, int]:
    """Padding of tiles whose elements share masks.

    The bits of a mask lie as the elements do that it was made from, row after row with their pads.
    Tiles of several types that meet in a mask are therefore padded alike, as the narrowest needs.
    """
    owner: dict[str, str] = {}

    def find(name: str) -> str:
        while owner.setdefault(name, name) != name:
            name = owner[name]
        return name

    lanes: dict[str, int] = {}
    for statement in walk(kernel.body):
        if not isinstance(statement, Op):
            continue
        views = [view for view in (*statement.outs, *statement.ins) if isinstance(view, View)]
        views = [view for view in views if len(view.buffer.shape) > 1]
        if not any(view.buffer.is_mask for view in views):
            continue
        for view in views:
            if not view.buffer.is_mask:
                lanes[view.buffer.name] = view.buffer.lanes
            owner[find(view.buffer.name)] = find(views[0].buffer.name)
    widest: dict[str, int] = {}
    for name, own in lanes.items():
        widest[find(name)] = max(own, widest.get(find(name), 0))
    return {name: widest[find(name)] for name in lanes}
