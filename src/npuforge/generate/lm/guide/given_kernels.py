# SPDX-License-Identifier: Apache-2.0
"""Questions whose kernel is given as a whole: a part of a tensor, a number or a tensor repeated."""

from __future__ import annotations

from npuforge.generate.lm.guide.facts.laid_again import is_laying, laid_again
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.moved import is_moved, moved
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.generate.lm.guide.facts.repeated import is_repeating, repeated
from npuforge.spec.size import Size


def outline_of(meaning: Meaning) -> str:
    """The lines of the outline; nothing where a question is none of these."""
    found = moved(meaning) or repeated(meaning) or laid_again(meaning)
    return found.outline() if found is not None else ""


def body_of(purpose: Purpose, meaning: Meaning) -> str:
    """The kernel after its head; nothing where it is for something else."""
    part, number, again = moved(meaning), repeated(meaning), laid_again(meaning)
    if part is not None and is_moved(purpose, meaning):
        return part.body()
    if number is not None and is_repeating(purpose, meaning):
        return number.body(meaning)
    return again.body() if again is not None and is_laying(purpose, meaning) else ""


def gone_over(purpose: Purpose, meaning: Meaning) -> tuple[Size, Size] | None:
    """The rows of such a kernel, or the elements of a stream that it goes over again and again, and
    how often it does."""
    part, again = moved(meaning), laid_again(meaning)
    if part is not None and is_moved(purpose, meaning):
        return part.rows, part.outer
    if again is not None and is_laying(purpose, meaning):
        return again.cols, again.times
    return None
