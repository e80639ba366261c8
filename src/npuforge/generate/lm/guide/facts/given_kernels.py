# SPDX-License-Identifier: Apache-2.0
"""Questions whose kernel is given as a whole: a part of a tensor, a number or a tensor repeated."""

from __future__ import annotations

from npuforge.generate.lm.guide.facts.laid_again import LaidAgain, laid_again
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.moved import Moved, moved
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.generate.lm.guide.facts.repeated import Repeated, repeated
from npuforge.spec.size import Size


def outline_of(meaning: Meaning) -> str:
    """The lines of the outline; nothing where a question is none of these."""
    found = _given(meaning)
    return found.outline() if found is not None else ""


def body_of(purpose: Purpose, meaning: Meaning) -> str:
    """The kernel after its head; nothing where it is for something else."""
    found = _given(meaning)
    return found.body() if found is not None and found.is_for(purpose) else ""


def gone_over(purpose: Purpose, meaning: Meaning) -> tuple[Size, Size] | None:
    """The rows of such a kernel, or the elements of a stream that it goes over again and again, and
    how often it does."""
    found = _given(meaning)
    return found.gone_over if found is not None and found.is_for(purpose) else None


def _given(meaning: Meaning) -> Moved | Repeated | LaidAgain | None:
    return moved(meaning) or repeated(meaning) or laid_again(meaning)
