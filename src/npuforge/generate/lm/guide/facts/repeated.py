# SPDX-License-Identifier: Apache-2.0
"""A question that is one number, repeated: the kernel follows from its type and how often.

The number is taken out of its buffer before anything is gone over. The planner writes such kernels
in this way.
"""

from __future__ import annotations

from typing import NamedTuple

from npuforge.generate.lm.guide.facts.counted import extents_of, size_of, spelled
from npuforge.generate.lm.guide.facts.loops import FIRST, over_elements
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.plan.ways import WAYS
from npuforge.spec.size import Size, product

_REPEAT = "expand"
_READ = """\
    with tl.copyin():
        # {line}
        {name}_in = tl.alloc_ub(8, dtype=tl.{dtype}, buffers=1)
        tl.load({name}, {name}_in[:1])
    with tl.compute():
"""
_FROM_BOOL = """\
        {name}_wide = tl.alloc_mask(8)
        tl.mask_from_bool({name}_wide[:1], {name}_in[:1])
        {name}_wide_ = tl.alloc_ub(8, dtype=tl.float32)
        tl.select({name}_wide_[:1], {name}_wide[:1], 1.0, 0.0)
        sk1 = tl.extract_scalar({name}_wide_[:1], 0)
"""
_WIDER = """\
        {name}_wide = tl.alloc_ub(8, dtype=tl.{held})
        tl.cast({name}_wide[:1], {name}_in[:1])
        sk1 = tl.extract_scalar({name}_wide[:1], 0)
"""
_AS_IT_IS = """\
        sk1 = tl.extract_scalar({name}_in[:1], 0)
"""
_FILLED = """\
            {room} = tl.alloc_ub(tile, dtype=tl.{held})
            tl.fill({room}[:m], sk1)
"""
_TO_BOOL = """\
            mask0 = tl.alloc_mask(tile)
            tl.compare(mask0[:m], t0[:m], 0.0, "ne")
            {result}_out = tl.alloc_ub(tile, dtype=tl.bool)
            tl.bool_from_mask({result}_out[:m], mask0[:m])
"""
_NARROWER = """\
            {result}_out = tl.alloc_ub(tile, dtype=tl.{dtype})
            tl.cast({result}_out[:m], t0[:m]{rounded})
"""
_STORED = """\
        with tl.copyout():
            tl.store({result} + start, {result}_out[:m])
"""
_WHOLE = frozenset({"int64", "int16", "int8", "uint8"})
_ROUNDED = frozenset({"float16", "bfloat16"})


class Repeated(NamedTuple):
    """The number that `value` repeats so many `times`; kernels compute with it as `held`."""

    tensor: str
    value: str
    lines: tuple[str, str]  # of the question: on the tensor, and on the value
    result: str
    dtype: str
    held: str
    times: Size

    @property
    def gone_over(self) -> None:
        """What a host counts is no more than for any stream."""

    def is_for(self, purpose: Purpose) -> bool:
        """Whether a kernel is for this, and for nothing else."""
        return purpose.computes == [self.value] and purpose.reads == [self.tensor]

    def outline(self) -> str:
        """What is said of the kernel."""
        counted = "" if self.times.known is not None else f"cols = {spelled(self.times)}"
        lines = (WAYS["flat"], counted, f"{self.tensor} -> {self.value} -> {self.result}")
        return "".join(f"{OPERATOR}: {line}\n" for line in lines if line)

    def body(self) -> str:
        """The kernel after its head."""
        taken, left = _WIDER, _NARROWER
        if self.dtype == "bool":
            taken, left = _FROM_BOOL, _TO_BOOL
        elif self.dtype == self.held:
            taken, left = _AS_IT_IS, ""
        said = {
            "name": self.tensor,
            "line": self.lines[0],
            "result": self.result,
            "dtype": self.dtype,
            "held": self.held,
            "room": "t0" if left else f"{self.result}_out",
            "rounded": ', round="rint"' if self.dtype in _ROUNDED else "",
        }
        return (
            f"{(_READ + taken).format(**said)}{FIRST}\n{over_elements(self.times)}"
            f"        with tl.compute():\n            # {self.lines[1]}\n"
            f"{(_FILLED + left + _STORED).format(**said)}"
        )


def repeated(meaning: Meaning) -> Repeated | None:
    """The number that a question repeats; nothing where it asks for anything else."""
    if meaning.only is None or meaning.operations[meaning.only[1]] != _REPEAT:
        return None
    result, value = meaning.only
    tensor = meaning.given_to(value)[0]
    dtype = meaning.dtype(tensor)
    before, after = (
        [size_of(one) for one in extents_of(meaning.lines[name])] for name in (tensor, value)
    )
    sizes = [one for one in after if one is not None]
    if any(one != Size.of(1) for one in before) or len(sizes) < len(after):
        return None
    held = "int32" if dtype in _WHOLE else "float32" if dtype in {*_ROUNDED, "bool"} else dtype
    if held not in ("float32", "int32"):
        return None
    lines = meaning.lines[tensor], meaning.lines[value]
    return Repeated(tensor, value, lines, result, dtype, held, product(sizes))
