# SPDX-License-Identifier: Apache-2.0
"""A question that ends with values joined along an axis: one kernel for each, and one that joins.

Each part that is computed has a room, in the order of the join, and the kernel that joins them is
the same for many operators: what it is given follows from the shapes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from npuforge.generate.lm.guide.facts.counted import extents_of, size_of, spelled
from npuforge.generate.lm.guide.facts.meaning import JOIN, Meaning
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.spec.size import Size

MOST = 8  # tensors that one kernel joins
FILLED = "full"
_APART = ("split", "unbind", "chunk")
_COUNTS = re.compile(r"^( +\w+)_(outer|run\d+) = (.*)$")


class Join(NamedTuple):
    """The parts of the only result of a question, and the axis along which they are joined."""

    result: str
    parts: list[str]
    axis: int

    def rooms(self, meaning: Meaning) -> list[str]:
        """The parts that kernels leave, in their order; others are tensors as they are."""
        return [one for one in self.parts if meaning.operations[one]]

    def given(self, rooms: Sequence[str], meaning: Meaning) -> dict[str, str]:
        """What the kernel that joins is given, as an outline says it; `rooms` are those of the
        parts that are computed."""
        left = iter(rooms)
        said = {"begin": "0", "total": self._run(meaning.results[self.result], meaning)}
        for number, part in enumerate(self.parts):
            said[f"x{number}"] = next(left) if meaning.operations[part] else part
            said |= {f"offset{number}": "0", f"pitch{number}": self._run(part, meaning)}
            said |= {"y": self.result} if number == 0 else {}
        return said

    def counted(self, name: str, meaning: Meaning) -> str | None:
        """What a host function calls `outer`, `run0`, `run1`: how many joins there are, and how
        many elements each part has in one."""
        if name == "outer":
            extents = extents_of(meaning.lines[meaning.results[self.result]])
            return _product(extents[: self.axis])
        number = int(name.removeprefix("run"))
        return self._run(self.parts[number], meaning) if number < len(self.parts) else None

    def _run(self, value: str, meaning: Meaning) -> str:
        return _product(extents_of(meaning.lines[value])[self.axis :])


def _product(extents: Sequence[str]) -> str:
    """Of extents, as an outline spells it."""
    return spelled(Size.parse(" * ".join(f"({one})" for one in extents) or "1"))


def counting(last: str, meaning: Meaning) -> str | None:
    """What must stand instead of a line of the host function that counts elements of a join."""
    found, join = _COUNTS.match(last), join_of(meaning)
    size = join.counted(found[2], meaning) if found is not None and join is not None else None
    if found is None or size is None or size_of(found[3]) == size_of(size):
        return None
    return f"{found[1]}_{found[2]} = {size}"


def counts(meaning: Meaning) -> str:
    """The lines with which a host function begins that joins tensors as they are."""
    join = join_of(meaning)
    if join is None or join.rooms(meaning) or len(join.parts) > MOST:
        return ""
    names = ["outer", *(f"run{number}" for number in range(len(join.parts)))]
    return "".join(f"    {OPERATOR}_{name} = {join.counted(name, meaning)}\n" for name in names)


def join_of(meaning: Meaning) -> Join | None:
    """The join that a question ends with; nothing where parts of it are parts of values that are
    computed: what rooms hold is not said then."""
    if len(meaning.results) != 1:
        return None
    ((result, value),) = meaning.results.items()
    given = meaning.given_to(value) if meaning.operations[value] == JOIN else []
    parts = re.findall(r"\w+", given[0]) if given else []
    extents = extents_of(meaning.lines[value])
    known = bool(parts) and all(one in meaning.lines for one in parts)
    known = known and all(size_of(one) is not None for one in extents)
    if (
        not known
        or len(set(parts)) < len(parts)
        or not all(_is_plain(one, meaning) for one in parts)
    ):
        return None
    axis = int(given[1]) if len(given) > 1 else 0
    return Join(result, parts, axis % len(extents))


def _is_plain(value: str, meaning: Meaning) -> bool:
    """Whether nothing that a value is made of is a part of, or another look at, what is computed.
    A part of a tensor that is joined as it is has no kernel of its own."""
    if not meaning.operations[value]:
        return True
    for one in (value, *meaning.ancestors[value]):
        if not _is_made(one, meaning):
            of = {
                name
                for given in meaning.operands[one]
                for name in (given, *meaning.ancestors[given])
            }
            if any(_is_made(name, meaning) for name in of):
                return False
    return _is_made(value, meaning)


def _is_made(value: str, meaning: Meaning) -> bool:
    """Whether a value is computed, and not a part of another or several."""
    operation = meaning.operations[value]
    moved = meaning.picks(value) or operation.startswith(_APART)
    return operation == FILLED or (bool(operation) and meaning.computes(value) and not moved)
