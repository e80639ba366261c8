# SPDX-License-Identifier: Apache-2.0
"""The outline that a reasoning begins with, held against the question.

`op: rows = na * nb, cols = nc` and `op: xa, xb -> v0, v1 -> w0 = v1: float32[na, nb]` settle what a
kernel counts in, what it reads, computes and leaves. A value must follow from what is read; values
of a kernel that takes whole rows have as many elements as a row, all rows, or one of each, and come
after those they are made of; what is asked for is left by some kernel. What follows from the rest
is given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count, takewhile

from npuforge.generate.lm.guide.facts.counted import elements_of, extents_of
from npuforge.generate.lm.guide.facts.given_kernels import body_of
from npuforge.generate.lm.guide.facts.meaning import SHARED, Meaning
from npuforge.generate.lm.guide.facts.outer import unnamed_each
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose, note
from npuforge.generate.lm.guide.facts.worked_on import uncounted
from npuforge.generate.lm.guide.joins import join_of
from npuforge.generate.lm.guide.rules.parted import unnamed
from npuforge.generate.lm.guide.rules.reads import is_shared, late
from npuforge.generate.lm.guide.rules.rooms import uncounted_part

_ABOUT = re.compile(r"^(\w+): (.*)$")
_SAID = re.compile(r"^\w+: ([A-Z]|.* -> |[a-z]\w*(:| =) )")
_EXTENT = re.compile(r"\bn[a-z]{1,2}\b")
_ROOM = re.compile(r"w\d+")
_JOINED = "y"  # what kernels that are the same for many operators call what they leave
_TRAFFIC = re.compile(r"^\S+ \w+ in, ")


def outline_in(thoughts: str) -> tuple[str, ...]:
    """The lines of a reasoning that say what kernels are for: those before numbers begin."""
    return tuple(takewhile(lambda line: not is_number(line), thoughts.splitlines()))


def is_said(line: str) -> bool:
    """Whether a line of an outline says something of a kernel: its way, what it counts in, what it
    works on or how large a tensor is."""
    return _SAID.match(line) is not None


def is_number(line: str) -> bool:
    """Whether a line of a reasoning is the first that has numbers."""
    return _TRAFFIC.match(line) is not None


@dataclass(frozen=True, slots=True)
class Outline:
    """The reasoning of an answer so far, by the kernels that it speaks of."""

    kernels: Mapping[str, Purpose]

    @classmethod
    def read(cls, thoughts: str) -> Outline:
        kernels: dict[str, Purpose] = {}
        for line in outline_in(thoughts):
            if (about := _ABOUT.match(line)) is not None:
                note(kernels.setdefault(about[1], Purpose()), about[2])
        return cls(kernels)

    def sound(self, meaning: Meaning) -> dict[str, Purpose]:
        """The kernels of which nothing wrong is said: nothing is held against the others."""
        return {
            name: one
            for name, one in self.kernels.items()
            if not one.leaves or self._wrong(name, meaning) is None
        }

    def thought(self, last: str, meaning: Meaning) -> str | None:
        """What is wrong with the last line of the reasoning."""
        if is_number(last):
            return self.missing(meaning)
        about = _ABOUT.match(last)
        if about is None or about[1] not in self.kernels:
            return None
        if (strange := _strange(about[2], meaning)) is not None:
            return f"there is no {strange}"
        if " -> " not in about[2]:
            return self._unleft(about[1]) if about[1].endswith(SHARED) else None
        return self._wrong(about[1], meaning)

    def missing(self, meaning: Meaning) -> str | None:
        """A result that no kernel leaves."""
        left = {name for one in self.kernels.values() for name in one.leaves}
        left |= {text for one in self.kernels.values() for text in one.parameters.values()}
        found = [name for name in meaning.results if name not in left]
        return f"nothing leaves {found[0]}" if found and self.kernels else None

    def _wrong(self, kernel: str, meaning: Meaning) -> str | None:
        purpose = self.kernels[kernel]
        if body_of(purpose, meaning):
            return None
        return (
            self._unfounded(purpose, meaning)
            or (None if self._continues(kernel) else uncounted(purpose, meaning))
            or late(purpose, meaning)
            or self._incomplete(purpose, meaning)
            or _needless(purpose, meaning)
            or self._not_joined(kernel, meaning)
        )

    def _continues(self, kernel: str) -> bool:
        """Whether a kernel reads what one left that is the same for many operators, which names no
        values: what it says that it computes may have been before that one."""
        earlier = takewhile(lambda name: name != kernel, self.kernels)
        rooms = {one for name in earlier for one in self.kernels[name].given}
        return not rooms.isdisjoint(self.kernels[kernel].reads)

    def _unleft(self, kernel: str) -> str | None:
        """A room that a kernel is given and that no other left."""
        earlier = list(takewhile(lambda name: name != kernel, self.kernels))
        left = {one for name in earlier for one in self.kernels[name].leaves}
        left |= {self.kernels[name].parameters.get(_JOINED, "") for name in earlier}
        left = left.union(*(self.kernels[name].given for name in (*earlier, kernel)))
        given = self.kernels[kernel].parameters.items()
        rooms = (said for name, said in given if name != _JOINED and _ROOM.fullmatch(said))
        return next((f"nothing leaves {room}" for room in rooms if room not in left), None)

    def repaired(self, last: str, meaning: Meaning) -> str | None:
        """What must stand instead of a line that was refused, where nothing is left to choose: for
        a kernel that takes rows or elements and leaves results alone, what it computes and reads
        follows from these."""
        about = _ABOUT.match(last)
        purpose = self.kernels.get(about[1]) if about is not None else None
        if about is None or purpose is None or " -> " not in about[2]:
            return None
        part = self._part(about[1], meaning)
        if part is not None:
            line = self._leaving(about[1], part, meaning)
        else:
            line = self._determined(about[1], list(purpose.leaves), meaning)
        return line if line != last else None

    def completed(self, meaning: Meaning) -> tuple[str, str] | None:
        """A kernel, and what must stand instead of the line that says what it leaves, where nobody
        leaves all that is asked for: everything if it is the only one, if not what is as large as
        what it leaves. The last one that can is taken."""
        left = {one for kernel in self.kernels.values() for one in kernel.leaves}
        missing = [one for one in meaning.results if one not in left]
        for name, purpose in reversed(list(self.kernels.items())):
            sizes = [_extents(one, meaning) for one in purpose.leaves]
            alone = len(self.kernels) == 1
            added = [one for one in missing if alone or _extents(one, meaning) in sizes]
            wanted = [one for one in meaning.results if one in purpose.leaves or one in added]
            line = self._determined(name, wanted, meaning) if added else None
            if line is not None:
                return name, line
        return None

    def uncounting(self, last: str, meaning: Meaning) -> str | None:
        """What must stand instead of the last two lines, where a stream counts in something and all
        that it computes are single numbers: it counts in nothing."""
        about = _ABOUT.match(last)
        purpose = self.kernels.get(about[1]) if about is not None else None
        if about is None or purpose is None or " -> " not in about[2] or meaning.moves:
            return None
        found = [elements_of(meaning.lines.get(one, "")) for one in purpose.computes]
        single = bool(found) and all(elements == Counter() for elements in found)
        if not purpose.way.startswith(STREAM) or not purpose.parameters or not single:
            return None
        alone = Outline({**self.kernels, about[1]: replace(purpose, parameters={})})
        return alone._determined(about[1], list(purpose.leaves), meaning)

    def joining(self, last: str, meaning: Meaning) -> str | None:
        """What must stand instead of the last line, where a question ends with a join: that joins
        what is there once all parts of it are, and not before."""
        about, join = _ABOUT.match(last), join_of(meaning)
        begins = about is not None and len(self.kernels) > 1 and about[1] == list(self.kernels)[-1]
        if about is None or join is None or not begins or " -> " in about[2]:
            return None
        rooms = self._rooms_before(about[1])
        name, joins = about[1].removesuffix(SHARED), about[1].endswith(SHARED)
        if len(rooms) == len(join.rooms(meaning)):
            given = join.given(rooms, meaning)
            said = ", ".join(f"{name} = {one}" for name, one in given.items())
            right = (
                last if given == self.kernels[about[1]].parameters else f"{name}{SHARED}: {said}"
            )
        elif joins:
            before = self.kernels[list(self.kernels)[-2]]
            right = f"{name}: {before.way}"
        else:
            return None
        return right if right != last else None

    def _not_joined(self, kernel: str, meaning: Meaning) -> str | None:
        """What is wrong with a part of the join that a question ends with."""
        value, purpose = self._part(kernel, meaning), self.kernels[kernel]
        if value is None or not meaning.lines.keys() >= set(purpose.reads):
            return None
        needed = {one for one in meaning.between(value, ()) if meaning.operations[one]}
        missed = [one for one in needed ^ set(purpose.computes) if _matters(one, meaning)]
        unsaid = _is_held(value, meaning) and value not in purpose.leaves.values()
        return f"what is left here is {value}" if missed or unsaid else None

    def _part(self, kernel: str, meaning: Meaning) -> str | None:
        """The part of the join that a question ends with which a kernel has to leave."""
        join = join_of(meaning)
        rooms = join.rooms(meaning) if join is not None else []
        place = len(self._rooms_before(kernel))
        return rooms[place] if place < len(rooms) else None

    def _rooms_before(self, kernel: str) -> list[str]:
        earlier = takewhile(lambda name: name != kernel, self.kernels)
        return [room for name in earlier for room in self.kernels[name].rooms]

    def naming(self, last: str, meaning: Meaning) -> str | None:
        """What must stand instead of the last two lines, where a kernel has no name for a size that
        it needs."""
        about = _ABOUT.match(last)
        purpose = self.kernels.get(about[1]) if about is not None else None
        if about is None or purpose is None or " -> " not in about[2] or not purpose.parameters:
            return None
        size = (
            uncounted_part(purpose) or unnamed(purpose, meaning) or unnamed_each(purpose, meaning)
        )
        if size is None:
            return None
        names = (f"e{number}" for number in count(1))
        free = next(name for name in names if name not in purpose.parameters)
        counted = ", ".join(f"{name} = {said}" for name, said in purpose.parameters.items())
        return f"{about[1]}: {counted}, {free} = {size}\n{last}"

    def counting(self, last: str, meaning: Meaning) -> str | None:
        """What must stand before the last line, where a stream counts in nothing and computes more
        than single numbers."""
        about = _ABOUT.match(last)
        purpose = self.kernels.get(about[1]) if about is not None else None
        if about is None or purpose is None or " -> " not in about[2] or meaning.moves:
            return None
        if not purpose.way.startswith(STREAM) or purpose.parameters:
            return None
        several = [one for one in purpose.computes if elements_of(meaning.lines.get(one, ""))]
        if not several:
            return None
        axes = [one for one in extents_of(meaning.lines[several[-1]]) if one != "1"]
        numbers = all(one.isdigit() for one in axes)  # which need no name
        return None if numbers else f"{about[1]}: cols = {' * '.join(axes)}"

    def _determined(self, kernel: str, leaves: list[str], meaning: Meaning) -> str | None:
        """The line on what a kernel reads, computes and leaves, if it follows from the last."""
        purpose = self.kernels[kernel]
        left = {name for one in self.kernels.values() for name in one.leaves}
        alone = left <= meaning.results.keys() and not any(n.endswith(SHARED) for n in self.kernels)
        if not alone or not leaves or not purpose.way.startswith((ROWS, STREAM)):
            return None
        return self._line(kernel, [meaning.results[name] for name in leaves], leaves, meaning)

    def _leaving(self, kernel: str, part: str, meaning: Meaning) -> str | None:
        """The line on a kernel that leaves a part of the join that a question ends with."""
        shape = f"{meaning.dtype(part)}[{', '.join(extents_of(meaning.lines[part]))}]"
        room = f"w{len(self._rooms_before(kernel))}"
        room += f" = {part}: {shape}" if _is_held(part, meaning) else f": {shape}"
        return self._line(kernel, [part], [room], meaning)

    def _line(
        self, kernel: str, values: list[str], leaves: list[str], meaning: Meaning
    ) -> str | None:
        """The line on a kernel that leaves these values, if nothing is wrong with it."""
        purpose = self.kernels[kernel]
        needed = {one for value in values for one in meaning.between(value, ())}
        computes = [name for name in meaning.lines if name in needed and meaning.operations[name]]
        reads = [name for name in meaning.lines if name in needed and name not in computes]
        shared = [name for name in reads if is_shared(name, purpose, meaning)]
        parts = [dict.fromkeys([*shared, *reads]), computes, leaves]
        line = f"{kernel}: " + " -> ".join(", ".join(part) for part in parts if part)
        again = Outline({**self.kernels, kernel: replace(purpose)})
        note(again.kernels[kernel], line.partition(": ")[2])
        return line if again.thought(line, meaning) is None else None

    def _unfounded(self, purpose: Purpose, meaning: Meaning) -> str | None:
        """What a kernel computes and cannot, with what it reads."""
        left = self._left()
        for name in purpose.reads:
            if name not in meaning.lines and name not in left and name not in meaning.results:
                return f"nothing leaves {name}"
        named = self._named(purpose, meaning)
        known = meaning.lines.keys() >= set(named)
        if len(set(purpose.computes)) < len(purpose.computes):
            return "a value is computed twice"
        for value in purpose.computes:
            if value not in meaning.lines:
                return f"there is no {value}"
            if not purpose.reads or not meaning.computes(value):
                continue  # a constant, or something that is only looked at
            missed = [one for one in meaning.between(value, named) if not meaning.operations[one]]
            if missed and known:
                return f"{value} is made of {missed[0]}"
        return None

    def _incomplete(self, purpose: Purpose, meaning: Meaning) -> str | None:
        """A value that is needed for a result and that the kernel does not compute, or too late."""
        named = set(self._named(purpose, meaning))
        if not named <= meaning.lines.keys():
            return None  # something that cannot be known
        early = purpose.way.startswith((ROWS, STREAM)) and self._early(purpose, named, meaning)
        if early:
            return early
        for name in purpose.leaves:
            result = meaning.results.get(name)
            done = {*purpose.computes, *named}
            if result is not None and result not in done and not meaning.may_be_moved(result):
                return f"{name} is {result}, which is not computed"
        return _unlisted(purpose, meaning)

    def _early(self, purpose: Purpose, named: set[str], meaning: Meaning) -> str | None:
        """A value that is computed before something that it is made of."""
        seen: set[str] = set()
        for value in purpose.computes:
            if value in meaning.lines and meaning.computes(value):
                between = meaning.between(value, named | seen)
                early = [one for one in between[1:] if meaning.computes(one)]
                if early:
                    return f"{value} is computed before {early[0]}"
            seen.add(value)
        return None

    def _left(self) -> dict[str, str | None]:
        """What kernels leave, and the values where they are named."""
        left: dict[str, str | None] = {}
        for one in self.kernels.values():
            left |= dict.fromkeys(one.parameters.values()) | one.leaves
        return left

    def _named(self, purpose: Purpose, meaning: Meaning) -> list[str]:
        """What a kernel reads, by the values that it stands for where these are known."""
        left = self._left()
        return [
            name if name in meaning.lines else left.get(name) or meaning.results.get(name, name)
            for name in purpose.reads
        ]


def _strange(said: str, meaning: Meaning) -> str | None:
    """An extent that the question does not have."""
    counts = " = " in said or " -> " in said
    known = {one for line in meaning.lines.values() for one in _EXTENT.findall(line)}
    found = _EXTENT.findall(said) if counts else []
    return next((one for one in found if one not in known), None)


def _needless(purpose: Purpose, meaning: Meaning) -> str | None:
    """A tensor that a kernel reads, or a value that it computes, for nothing that it leaves."""
    left = [value or meaning.results.get(name) for name, value in purpose.leaves.items()]
    known = all(one in meaning.lines for one in left)
    if not known or not purpose.way.startswith((ROWS, STREAM)):
        return None
    needed = {one for value in left if value for one in meaning.between(value, ())}
    named = (one for one in purpose.reads if one in meaning.lines)
    computed = [] if meaning.shapes_alone else purpose.computes
    found = (one for one in (*named, *computed) if one not in needed)
    return next((f"nothing that is left is made of {one}" for one in found), None)


def _unlisted(purpose: Purpose, meaning: Meaning) -> str | None:
    """A part of something that is needed for what a kernel leaves, and that it does not name."""
    left = [meaning.results.get(name, "") for name in purpose.leaves]
    known = meaning.lines.keys() >= {*purpose.reads, *left} and not meaning.shapes_alone
    if not known or not purpose.computes or not purpose.way.startswith((ROWS, STREAM)):
        return None
    needed = (one for value in left for one in meaning.between(value, ()))
    found = (one for one in needed if meaning.picks(one) and one not in purpose.computes)
    return next((f"{one} is needed too" for one in found), None)


def _matters(value: str, meaning: Meaning) -> bool:
    """Whether instructions are needed for a value."""
    return meaning.computes(value) and not meaning.is_idle(value)


def _is_held(value: str, meaning: Meaning) -> bool:
    """Whether what is left of a value is in the buffer of it, and not rounded."""
    return meaning.dtype(value) == "float32"


def _extents(result: str, meaning: Meaning) -> list[str]:
    return extents_of(meaning.lines.get(meaning.results.get(result, ""), ""))
