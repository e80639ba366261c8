# SPDX-License-Identifier: Apache-2.0
"""Numbers that follow from the shape, where an instruction takes them.

The outline gives a count such as `nb - 1` a name, and the kernel is launched with it; the
instruction of the value that is made of it must have that name, in the type it computes with.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.form.quoted import last_quoted
from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.counted import size_of, spelled
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import Purpose

_CALL = re.compile(r"^( +tl\.(\w+))\((\w+)(.*)\)$")
_GIVEN = re.compile(r"e\d+")


def sized(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """The last line of a kernel's body with the number it must have, where it has another."""
    call = _CALL.match(last)
    value = last_quoted(body)
    if call is None or meaning.operations.get(value, "").partition(".")[0] != call[2]:
        return None
    asked = arguments(meaning.lines[value].partition("(")[2].rpartition("): ")[0])
    result, *operands = arguments(call[3] + call[4])
    views = [one for one in operands if "[" in one]
    names = [_name(one, purpose) for one in asked]
    if len(asked) != len(operands) or len(views) != 1 or sum(map(bool, names)) != 1:
        return None
    real = re.search(rf"^ +{call[3]} = .*dtype=tl\.float", body, re.MULTILINE)
    given = [(f"float({one})" if real else one) if one else views[0] for one in names]
    right = f"{call[1]}({', '.join([result, *given])})"
    return right if right != last else None


def _name(operand: str, purpose: Purpose) -> str | None:
    """What the outline calls a number of the question."""
    size = size_of(operand)
    said = spelled(size) if size is not None and size.known is None else None
    named = (name for name in purpose.parameters if _GIVEN.fullmatch(name))
    return next((name for name in named if purpose.parameters[name] == said), None)
