# SPDX-License-Identifier: Apache-2.0
"""A question that is a part of a tensor, or a tensor with its first axes turned: the kernel follows
from the shapes alone.

Elements before the axis that a part is taken of are rows, those after it lie together. Nothing is
computed: what was read is stored. The planner writes such kernels in this way.
"""

from __future__ import annotations

from typing import NamedTuple

from npuforge import dtypes
from npuforge.generate.lm.guide.facts.counted import extents_of, size_of, spelled
from npuforge.generate.lm.guide.facts.loops import FIRST, OVER_ELEMENTS, OVER_OUTER, OVER_ROWS
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.plan.ways import WAYS
from npuforge.spec.size import Size, product

_SELECT, _SLICE, _TURN = "select.int", "slice.Tensor", "permute"
_COPY = "clone"
_AS_THEY_ARE = ("float32", "int32")
_ONE, _NONE = Size.of(1), Size.of(0)
_SINGLE = """\
    with tl.copyin():
        in0 = tl.alloc_ub(8, dtype=tl.{dtype})
        tl.load({place}, in0[:1])
    with tl.copyout():
        tl.store({result}, in0[:1])
"""


class Moved(NamedTuple):
    """The part of a tensor that a question is. `outer` counts what rows are taken of; a row has
    `cols` elements beside one another, and rows lie `pitch` apart."""

    tensor: str
    result: str
    dtype: str
    outer: Size
    rows: Size
    cols: Size
    begins: Size
    pitch: Size
    each: Size  # from one outer index to the next, where it is read

    @property
    def left(self) -> Size:
        """From one outer index to the next, where it is stored."""
        return self.rows * self.cols

    @property
    def gone_over(self) -> tuple[Size, Size]:
        """The rows that the kernel goes over, and of how many outer indices."""
        return self.rows, self.outer

    def is_for(self, purpose: Purpose) -> bool:
        """Whether a kernel is for this, and for nothing else."""
        return not purpose.computes and purpose.reads == [self.tensor]

    def outline(self) -> str:
        """What is said of the kernel."""
        way = WAYS["flat"] if self._is_line else WAYS["rows"]
        said = ", ".join(f"{name} = {spelled(size)}" for name, size in self._parameters().items())
        lines = [way, said, f"{self.tensor} -> {self.result}"]
        return "".join(f"{OPERATOR}: {line}\n" for line in lines if line)

    def body(self) -> str:
        """The kernel after its head."""
        place = " + ".join((self.tensor, *self._from()))
        if self._is_single:
            return _SINGLE.format(dtype=self.dtype, place=place, result=self.result)
        if self._is_line:
            room, part, rest, head = "tile", "[:m]", "", OVER_ELEMENTS
            to = f"{self.result} + start"
        else:
            cols, pitch = self._name(self.cols), self._name(self.pitch)
            room, part, rest = f"(tile, {cols})", "[:n, :]", f", stride={pitch}"
            head = OVER_ROWS if self.outer == _ONE else OVER_OUTER
            outer = f"i0 * {self._name(self.left)} + " if self.outer != _ONE else ""
            to = f"{self.result} + {outer}start * {cols}"
        left = "" if self._is_line else f", stride={self._name(self.cols)}"
        return (
            f"{FIRST}\n{head}        with tl.copyin():\n"
            f"            in0 = tl.alloc_ub({room}, dtype=tl.{self.dtype})\n"
            f"            tl.load({place}, in0{part}{rest})\n"
            f"        with tl.copyout():\n"
            f"            tl.store({to}, in0{part}{left})\n"
        )

    @property
    def _is_line(self) -> bool:
        return self.outer == _ONE and self.rows == _ONE

    @property
    def _is_single(self) -> bool:
        return self._is_line and self.cols == _ONE

    def _from(self) -> list[str]:
        """What is added to the tensor, to where a kernel has come."""
        begins = [self._name(self.begins)] if self.begins != _NONE else []
        if self._is_line:
            return begins if self._is_single else [*begins, "start"]
        outer = [f"i0 * {self._name(self.each)}"] if self.outer != _ONE else []
        return [*begins, *outer, f"start * {self._name(self.pitch)}"]

    def _parameters(self) -> dict[str, Size]:
        """Sizes that have names in the kernel, in the order in which it reads them."""
        if self._is_single:
            return {}
        found = {} if self._is_line else {"rows": self.rows}
        if self.cols.known is None or self._is_line:
            found["cols"] = self.cols
        strided = [] if self._is_line else [self.pitch]
        outer = [self.each] if self.outer != _ONE else []
        left = [self.left] if self.outer != _ONE else []
        for size in (self.begins, *outer, *strided, *left):
            plain = size.known is not None or str(size).isidentifier()
            if not plain and size not in found.values():
                found[f"e{len(found)}"] = size
        return found

    def _name(self, size: Size) -> str:
        """What the kernel calls a size; `rows` are too many to be counted in."""
        named = (name for name, one in self._parameters().items() if one == size and name != "rows")
        return next(named, str(size))


def moved(meaning: Meaning) -> Moved | None:
    """The part of a tensor that is all that a question asks for; nothing where it is no such part,
    or elements of it do not lie together."""
    if meaning.only is None:
        return None
    result, value = meaning.only
    operation, given = meaning.operations[value], meaning.given_to(value)
    if not given or given[0] not in meaning.lines or result in given:
        return None
    if operation == _TURN:
        return _turned(given, result, meaning)
    if operation == _COPY:
        return _copied(given[0], result, meaning)
    if operation not in (_SELECT, _SLICE):
        return None
    if any("=" in one for one in given):
        return None
    tensor, axis = given[0], int(given[1]) if len(given) > 1 else 0
    before = [size_of(one) for one in extents_of(meaning.lines[tensor])]
    after = [size_of(one) for one in extents_of(meaning.lines[value])]
    begins = size_of(given[2]) if len(given) > 2 else _NONE
    step = size_of(given[4]) if len(given) > 4 else _ONE
    sizes = [one for one in (*before, *after, begins, step) if one is not None]
    if len(sizes) < len(before) + len(after) + 2 or begins is None or step is None:
        return None
    extents = [one for one in before if one is not None]
    axis %= len(extents)
    count = _ONE if operation == _SELECT else after[axis]
    if begins.known is not None and begins.known < 0:  # counted from the end
        begins = extents[axis] + begins
    if step.known is None or count is None:
        return None
    rows, run = product(extents[:axis]), product(extents[axis + 1 :])
    apart = extents[axis] * run
    kind = meaning.dtype(tensor)
    if rows != _ONE and count * run == _ONE:
        return None  # a column
    if rows.known is not None and rows != _ONE:
        return None  # a number, which has no name
    if step == _ONE and (rows == _ONE or _fits(count * run, kind, meaning)):
        return Moved(tensor, result, kind, _ONE, rows, count * run, begins * run, apart, apart)
    if run == _ONE or not _fits(run, kind, meaning):
        return None
    return Moved(tensor, result, kind, rows, count, run, begins * run, step * run, apart)


def _copied(tensor: str, result: str, meaning: Meaning) -> Moved | None:
    """All of a tensor, in a type that kernels hold as it is."""
    sizes = [size_of(one) for one in extents_of(meaning.lines[tensor])]
    count = product(one for one in sizes if one is not None)
    kind = meaning.dtype(tensor)
    if kind not in _AS_THEY_ARE or None in sizes:
        return None
    return Moved(tensor, result, kind, _ONE, _ONE, count, _NONE, count, count)


def _turned(given: list[str], result: str, meaning: Meaning) -> Moved | None:
    """The first two of three axes, one for the other."""
    extents = [size_of(one) for one in extents_of(meaning.lines[given[0]])]
    sizes = [one for one in extents if one is not None]
    kind = meaning.dtype(given[0])
    if given[1].replace(" ", "") != "[1,0,2]" or len(sizes) != len(extents):
        return None
    rows, outer, cols = sizes
    if not _fits(cols, kind, meaning):
        return None
    return Moved(given[0], result, kind, outer, rows, cols, _NONE, outer * cols, cols)


def _fits(row: Size, dtype: str, meaning: Meaning) -> bool:
    """Whether rows of the example fit, one while the other is stored."""
    sizes = {name: meaning.sizes.get(name, meaning.room) for name in row.names}
    return 2 * dtypes.find(dtype).bytes_for(row.at(sizes)) <= meaning.room
