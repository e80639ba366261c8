# SPDX-License-Identifier: Apache-2.0
"""A question that is a tensor laid down again for each outer index, too long for a row: parts of it
are read and stored. Nothing is computed, and the planner writes such kernels in this way."""

from __future__ import annotations

from typing import NamedTuple

from npuforge.generate.lm.guide.facts.counted import extents_of, size_of, spelled
from npuforge.generate.lm.guide.facts.loops import FIRST, OVER_OUTER_ELEMENTS, counted
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.plan.ways import NARROW, WAYS
from npuforge.spec.size import Size, product

_REPEAT = "expand"
_COPIED = """\
        with tl.copyin():
            in0 = tl.alloc_ub(tile, dtype=tl.{dtype})
            tl.load({tensor} + start, in0[:m])
        with tl.copyout():
            tl.store({result} + i0 * {cols} + start, in0[:m])
"""


class LaidAgain(NamedTuple):
    """The tensor of `cols` elements, and how often."""

    tensor: str
    result: str
    dtype: str
    cols: Size
    times: Size

    def outline(self) -> str:
        """What is said of the kernel."""
        named = f"cols = {spelled(self.cols)}" if self.cols.known is None else ""
        lines = (WAYS["flat"], named, f"{self.tensor} -> {self.result}")
        return "".join(f"{OPERATOR}: {line}\n" for line in lines if line)

    @property
    def gone_over(self) -> tuple[Size, Size]:
        """The elements that the kernel goes over again and again, and how often it does."""
        return self.cols, self.times

    def is_for(self, purpose: Purpose) -> bool:
        """Whether a kernel is for this, and for nothing else."""
        return not purpose.computes and purpose.reads == [self.tensor]

    def body(self) -> str:
        """The kernel after its head."""
        said = counted(self.cols)
        loop = OVER_OUTER_ELEMENTS.replace("cols", said)
        return f"{FIRST}\n{loop}" + _COPIED.format(**self._asdict() | {"cols": said})


def laid_again(meaning: Meaning) -> LaidAgain | None:
    """The tensor that a question lays down again and again; nothing where it asks for anything
    else, or a row of it fits."""
    if meaning.only is None or meaning.operations[meaning.only[1]] != _REPEAT:
        return None
    result, value = meaning.only
    tensor = meaning.given_to(value)[0]
    own, all_ = (
        [one for one in extents_of(meaning.lines[name]) if one != "1"] for name in (tensor, value)
    )
    outer = all_[: len(all_) - len(own)]
    sizes = [size for one in all_ if (size := size_of(one)) is not None]
    if not own or not outer or all_[len(outer) :] != own or len(sizes) < len(all_):
        return None
    cols, times = product(sizes[len(outer) :]), product(sizes[: len(outer)])
    if meaning.fits(own, NARROW):
        return None
    return LaidAgain(tensor, result, meaning.dtype(tensor), cols, times)
