# SPDX-License-Identifier: Apache-2.0
"""Numbers in instructions are numbers of the question, or of how its operations are computed.

Products and quotients of two are, too. Of 24,801 numbers in taught instructions 8 are others. A
long number is hard to write: where a line that was quoted has one that nobody used yet, it is
given.
"""

from __future__ import annotations

import math
import re

from npuforge.generate.lm.form.quoted import MARK
from npuforge.generate.lm.guide.facts.dataflow import numbers_of_call
from npuforge.generate.lm.guide.facts.meaning import Meaning, known_operations

_QUOTED = re.compile(rf"^ +{MARK}(v\d+) = ", re.MULTILINE)
_DIGITS = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e[-+]?\d+)?")
# What any operation may be computed with.
_USUAL = frozenset({0.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.01, 3e38, 3.4028234663852886e38})
_HALVES = frozenset({12.0, 4096.0})  # that large whole numbers are taken apart by


def unknown_numbers(line: str, meaning: Meaning) -> set[float]:
    """Numbers of an instruction that nothing in the question has."""
    known = known_operations()
    used = (known[one].numbers or () for one in meaning.operations.values() if one in known)
    own = meaning.numbers(meaning.lines)
    left = numbers_of_call(line) - own.union(_USUAL, _HALVES, *used)
    return {number for number in left if not _follows(number, own)}


def _follows(number: float, own: set[float]) -> bool:
    """Whether a number is the product or quotient of two others, or one over these."""
    factors = [one for one in (*own, 1.0) if one]
    pairs = ((a, b) for a in factors for b in factors)
    return any(
        math.isclose(number, found) for a, b in pairs for found in (a * b, a / b, 1 / (a * b))
    )


def renumbered(body: str, line: str, meaning: Meaning) -> str | None:
    """The last line of a kernel's body with the number it must have: the only one, of the line that
    was quoted last with any, that the kernel has not used."""
    wrong = unknown_numbers(line, meaning)
    before = body.rstrip("\n").rpartition("\n")[0]
    used = {number for one in before.splitlines() for number in numbers_of_call(one)}
    for value in reversed(_QUOTED.findall(before)):
        waiting = [text for text in _texts(meaning.lines.get(value, "")) if float(text) not in used]
        if waiting:
            places = [found for found in _DIGITS.finditer(line) if float(found[0]) in wrong]
            if len(set(waiting)) != 1 or len(places) != 1:
                return None
            (place,) = places
            return f"{line[: place.start()]}{waiting[0]}{line[place.end() :]}"
    return None


def _texts(line: str) -> list[str]:
    """Numbers with a fraction that the operation of a line is given, as they are written."""
    found = _DIGITS.findall(line.partition("(")[2].rpartition("): ")[0])
    return [text for text in found if not float(text).is_integer()]
