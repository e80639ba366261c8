# SPDX-License-Identifier: Apache-2.0
"""What a host function asks of its sizes before it counts anything: of an axis that is folded and
may be empty, that it is not."""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.generate.lm.guide.facts.counted import extents_of, size_of, spelled
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.question.kinds import is_fold


def demands(meaning: Meaning) -> str:
    """The lines that refuse such sizes."""
    found = dict.fromkeys(
        size
        for value, operation in meaning.operations.items()
        if is_fold(operation)
        for size in _folded(value, meaning)
    )
    why = "an axis that is folded has elements"
    return "".join(f'    tl.require({one} >= 1, "{why}")\n' for one in found)


def _folded(value: str, meaning: Meaning) -> Iterator[str]:
    """Extents that a fold goes over and that may be nothing."""
    left = extents_of(meaning.lines[value])
    for operand in meaning.operands[value]:
        for extent in extents_of(meaning.lines[operand]):
            size = size_of(extent) if extent not in left else None
            if size is not None and not size.is_positive:
                yield spelled(size)
