# SPDX-License-Identifier: Apache-2.0
"""Kernels that work on several parts of one tensor read each of them.

Halves of a row that are multiplied lie apart in memory: who reads the tensor once has only one of
them. Of 698 taught kernels with several parts of a tensor 689 read it more than once.
"""

from __future__ import annotations

import re

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose

_PART = re.compile(r"^(?:slice|select|getitem)\b")
_ON_THE_WAY = re.compile(
    r"^(?:slice|select|getitem|split\w*|view|reshape|_unsafe_view|squeeze|unsqueeze|clone|alias"
    r"|_to_copy)\b"
)
_COMPUTE = "with tl.compute():"


def unread(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """A tensor of which another part is to be read before the last line of a kernel's body."""
    if not last.endswith(_COMPUTE) or not purpose.way.startswith((ROWS, STREAM)):
        return None
    for tensor in purpose.reads:
        several = len(_parts_of(tensor, purpose, meaning)) > 1
        if several and len(re.findall(rf"tl\.load\({tensor}\b", body)) == 1:
            return f"another part of {tensor} is read too"
    return None


def _parts_of(tensor: str, purpose: Purpose, meaning: Meaning) -> set[str]:
    """The different parts of a tensor that a kernel works on; a part of a part is one with it."""
    found = {
        value
        for value in purpose.computes
        if _PART.match(meaning.operations.get(value, "")) and _taken_from(value, meaning) == tensor
    }
    within = {
        one for value in found for one in meaning.operands[value] if _only_for(one, value, meaning)
    }
    return {meaning.lines[value].partition(" = ")[2] for value in found - within}


def _only_for(part: str, value: str, meaning: Meaning) -> bool:
    """Whether a value is all that is made of a part."""
    readers = {name for name, operands in meaning.operands.items() if part in operands}
    return readers == {value} and part not in meaning.results.values()


def _taken_from(value: str, meaning: Meaning) -> str | None:
    """The tensor that a value is a part of, if nothing is computed on the way."""
    while operation := meaning.operations.get(value):
        operands = meaning.operands.get(value, ())
        if len(operands) != 1 or not _ON_THE_WAY.match(operation):
            return None
        value = operands[0]
    return value
