# SPDX-License-Identifier: Apache-2.0
"""What went into each buffer of a program, followed line by line without running anything.

A line that says `v6 = mul.Tensor(xa, v5)` stands right above instructions that multiply `v4` and
`v5`: it compiles, and is wrong. Of every buffer that holds a value of the question one knows which
tensors and other values were read for it, by which instructions, with which numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from npuforge.generate.lm.form.quoted import ALLOCATION, buffer_of, is_quote
from npuforge.generate.lm.form.single import arguments

UNKNOWN = "?"  # what a kernel left that has names of its own
# Instructions that change nothing but where, in which order, or as what elements are held.
MOVING = frozenset({"cast", "copy", "broadcast", "transpose", "reverse", "fill"})

_SPREAD = "spread"  # a sum with nothing: whole numbers are spread over rows in no other way
_CALL = re.compile(r"^ +tl\.(\w+)\((.*)\)$")
_SCALAR = re.compile(r"^ +(\w+) (?:[-+*/]|//)?= (.*)$")
_LOOP = re.compile(r"^ +for (\w+) in (.*):$")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_NO_NAME = re.compile(r'"[^"]*"|\btl\.\w+|\b\w+=(?!=)')
_TEMPORARY = re.compile(r"^t\d+$")
_WHOLE = re.compile(r"^\w+(?:\[:|$)")
_NO_NUMBER = re.compile(r'\[[^\]]*\]|"[^"]*"|\b\w+=[^,]*')
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e[-+]?\d+)?")
_WHOLE_NUMBERS = "dtype=tl.int32"
_EARLY = frozenset({"iota", "reduce_sum"})  # what comes of these may be for any later value
_TWO_RESULTS = frozenset({"argmax", "argmin", "sort", "top_k"})


@dataclass(frozen=True, slots=True)
class Made:
    """What a buffer was made of, and how."""

    leaves: frozenset[str] = frozenset()  # tensors and values of the question
    done: frozenset[tuple[int, str]] = frozenset()  # instructions, by where they stand
    numbers: frozenset[float] = frozenset()
    order: tuple[frozenset[str], ...] = ()  # leaves of each operand of the last instruction

    def __or__(self, other: Made) -> Made:
        return Made(
            self.leaves | other.leaves, self.done | other.done, self.numbers | other.numbers
        )

    @property
    def instructions(self) -> list[str]:
        """In their order, those that compute something."""
        done = (name for _, name in sorted(self.done) if name not in MOVING)
        return ["add" if name == _SPREAD else name for name in done]

    @property
    def without_spreading(self) -> list[str]:
        """Those that are not there for a shape alone."""
        return [name for _, name in sorted(self.done) if name not in {*MOVING, _SPREAD}]


_NOTHING = Made()


@dataclass(frozen=True, slots=True)
class Step:
    """What an instruction did for a value of the question: its buffer, or something on the way."""

    value: str
    made: Made
    whole: bool
    idly: str = ""  # what makes no sense about it, whatever the value is


@dataclass(slots=True)
class Flow:
    """Through the kernels of a program, for a question of the given tensors and values."""

    names: frozenset[str]
    results: Mapping[str, str]  # values by the tensors they are stored to
    parts: Mapping[str, str]  # values that are parts of tensors, by the pointers to them
    _rooms: dict[str, Made] = field(default_factory=dict)  # left in memory for other kernels
    _held: dict[str, Made] = field(default_factory=dict)
    _about: str | None = None  # what was quoted last and has no buffer yet
    _count: int = 0  # instructions so far
    _spread: set[str] = field(default_factory=set)  # what was for the value that was quoted last
    _places: set[str] = field(default_factory=set)  # buffers of whole numbers

    def begin_kernel(self) -> None:
        self._held.clear()
        self._places.clear()
        self._about = None

    def line(self, text: str) -> Iterator[Step]:
        """What the next line does for values of the question."""
        if (made := ALLOCATION.match(text)) is not None:
            if _WHOLE_NUMBERS in text:
                self._places.add(made[1])
            return
        if is_quote(text):
            self._about = _first_name(text)
            self._spread.clear()
            return
        if (call := _CALL.match(text)) is not None:
            given = arguments(call[2])
            if len(given) > 1:
                yield from self._instruction(call[1], given)
        elif (scalar := _SCALAR.match(text) or _LOOP.match(text)) is not None:
            self._held[scalar[1]] = self._held.get(scalar[1], _NOTHING) | self._read(scalar[2])

    def _instruction(self, name: str, given: list[str]) -> Iterator[Step]:
        if name == "store":
            room = _first_name(given[0])
            self._rooms[room] = self._rooms.get(room, _NOTHING) | self._read(given[1])
            return
        if name == "load":
            part = self.parts.get(given[0])
            made = Made(frozenset({part})) if part is not None else self._pointed(given[0])
            self._note(given[1], made, added=False)
            return
        targets = given[: 2 if name in _TWO_RESULTS else 1]
        read = ", ".join(given[len(targets) :])
        if name == "compare":
            name = f"compare {given[-1].strip(chr(34))}"
        numbers = numbers_in(_NO_NUMBER.sub(" ", read))
        if name == "add" and self._spreads(given):
            name = _SPREAD
        self._count += 1
        made = self._read(read) | Made(done=frozenset({(self._count, name)}), numbers=numbers)
        operands = () if name in MOVING else given[len(targets) :]
        read_each = [self._read(one) for one in operands]
        order = tuple(one.leaves for one in read_each)
        idly = ""
        if name == "div" and read_each and _is_nothing(read_each[-1]):
            idly = "divided by nothing"
        if name == _SPREAD:
            spread = next((one for one in operands if not _is_nothing(self._read(one))), "nothing")
            idly = f"made of {_first_name(spread)} twice" if spread in self._spread else ""
            self._spread.add(spread)
        for target in targets:
            buffer = _first_name(target)
            self._note(target, made, added=buffer in _names(read))
            value = self._value(buffer)
            if value is not None:
                yield Step(value, replace(self._held[buffer], order=order), True, idly)
                self._about = None if value == self._about else self._about
            elif self._about is not None and self._is_for_it(name, buffer, _names(read)):
                yield Step(self._about, replace(self._held[buffer], order=order), False, idly)

    def _spreads(self, given: list[str]) -> bool:
        """Whether a sum is there for its shape: one of its terms is filled with nothing, and it is
        not the sum itself, as it is where many are added up."""
        target, *terms = map(_first_name, given)
        held = (self._held.get(term, _NOTHING) for term in terms)
        return target not in terms and any(map(_is_nothing, held))

    def _is_for_it(self, instruction: str, buffer: str, read: set[str]) -> bool:
        """Whether what an instruction computes is for the value that was quoted last, and not for
        any that comes later, as sums over many rounds and places in a row may be."""
        known = self._about in self.names and _TEMPORARY.match(buffer) is not None
        if buffer in read or buffer in self._places:
            return False
        early = _EARLY.intersection(self._held[buffer].instructions)
        return known and instruction not in MOVING and not early

    def _note(self, target: str, made: Made, *, added: bool) -> None:
        """What is in a buffer now, or in a part of it."""
        buffer = _first_name(target)
        kept = added or not _WHOLE.match(target)
        self._held[buffer] = (self._held.get(buffer, _NOTHING) if kept else _NOTHING) | made

    def _read(self, text: str) -> Made:
        """What the names in a text stand for."""
        made = _NOTHING
        for name in _names(text):
            made |= self._stands_for(name)
        return made

    def _pointed(self, source: str) -> Made:
        """What is read at a place in memory, and what that place depends on."""
        pointer = _first_name(source)
        known = pointer in self.names or pointer in self.results
        left = self._rooms.get(pointer, Made(frozenset({UNKNOWN})))
        return self._read(source) | (_NOTHING if known else left)

    def _stands_for(self, name: str) -> Made:
        if name in self.results and name not in self.names:
            return Made(frozenset({self.results[name]}))
        held = self._held.get(name, _NOTHING)
        value = self._value(name)
        if value is None or not held.leaves.isdisjoint(self.parts.values()):
            return held  # a part of a tensor is a value of its own
        # Where a tensor is read may depend on others.
        place = held.leaves if name.startswith("x") else frozenset[str]()
        return Made(place | {value})

    def _value(self, buffer: str) -> str | None:
        """What the question calls the contents of a buffer."""
        found = buffer_of(buffer, self.results)
        if found is None or found[1] == "fold":
            return None  # a fold is on the way to its value
        return found[0] if found[0] in self.names else None


def _is_nothing(made: Made) -> bool:
    """Whether a buffer is filled with zero and nothing else."""
    filled = {name for _, name in made.done} - {"cast"} == {"fill"}
    return filled and not made.leaves and made.numbers == {0.0}


def numbers_in(text: str) -> frozenset[float]:
    return frozenset(map(float, _NUMBER.findall(text)))


def numbers_of_call(line: str) -> frozenset[float]:
    """Numbers that an instruction computes with."""
    call = _CALL.match(line)
    if call is None or call[1] in ("load", "store"):
        return frozenset()
    return numbers_in(_NO_NUMBER.sub(" ", ", ".join(arguments(call[2])[1:])))


def _names(text: str) -> set[str]:
    return set(_NAME.findall(_NO_NAME.sub(" ", text)))


def _first_name(text: str) -> str:
    found = _NAME.search(text)
    return found[0] if found is not None else ""
