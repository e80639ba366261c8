# SPDX-License-Identifier: Apache-2.0
"""Whether instructions compute what the question says of the value they are for.

What is read for a value must be among its ancestors in the question, and no way from it back to a
tensor may miss them all. Operations that were taught have the instructions they were taught with,
and no number but those of their lines and those that every program has for them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType

import msgspec

from npuforge import dtypes
from npuforge.generate.lm.form.quoted import lines_of, stored
from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.bounds import not_bounds
from npuforge.generate.lm.guide.facts.counted import Count, elements_of, extents_of
from npuforge.generate.lm.guide.facts.dataflow import UNKNOWN, Flow, Made, Step, numbers_in
from npuforge.generate.lm.guide.facts.deviations import not_deviations
from npuforge.tile import chip_constants

_OPERANDS = re.compile(r"\b(?:x[a-z]{1,2}|v\d+)\b")
_OPERATION = re.compile(r"^\w+ = ([\w.]+)\(")
# Operations that read the shape of their first operand, not what is in it.
_SHAPED = re.compile(r"^(?:(?:full|zeros|ones|empty)_like|new_\w+|copy)\b")
# Operations whose parts other values may be: deviations from a mean that is there already.
_SHARING = re.compile(r"^(?:var|std|native_)")
# Operations that need no instruction of their own.
_VIEWS = re.compile(
    r"^(?:view|reshape|_unsafe_view|squeeze|unsqueeze|expand|permute|transpose|t|slice|select|getitem"
    r"|clone|alias|_to_copy|copy|scalar_tensor|full|lift_fresh_copy)\b"
)
# Of these, the ones that only say where the elements of their operand are to be found.
_LOOKS = re.compile(r"^(?:view|squeeze|unsqueeze|slice|select|expand|permute)\b")
# Operations that pick, move or repeat elements, or go over them in an order of their own.
_PICKING = re.compile(
    r"^(?:slice|select|narrow|split|chunk|unbind|gather|index|take|embedding|scatter|cat|stack"
    r"|constant_pad|pad|roll|flip|permute|transpose|t\b|as_strided|unfold|im2col|col2im|repeat|tril|triu"
    r"|diagonal|sort|topk|cum|.*pool|upsample|reflection|replication)"
)
_PICKED = re.compile(r"^(?:slice|select)\b")
_SEVERAL = re.compile(r"\): \w+\[.*\] \w+\[")  # results of one operation, each computed its own way
_RAISED, _BITS = re.compile(r"^(?:__i?l|bitwise_left_)shift"), 32  # that bits are moved in
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
VIEW = "view"  # any of them
_HEAD = re.compile(r"^def (\w+)\(")
_EXTENT = re.compile(r"n[a-z]{1,2}")
_GATHER = "gather"
_ORDERED = frozenset(
    {"sub", "div", "pow", "floor_mod", "select"}
    | {f"compare {how}" for how in ("lt", "le", "gt", "ge")}
)
# With which nothing changes, as the second operand.
_SIZE = re.compile(r"(\w+)=(\d+)")
_IDLE = {"mul.Tensor": 1.0, "div.Tensor": 1.0, "add.Tensor": 0.0, "sub.Tensor": 0.0}
_CONSTANT = re.compile(r"^(?:full|scalar_tensor)$")
_BEGUN = frozenset({0.0})  # with which sums begin, whatever they are for
_QUOTIENT = "div"
_END = re.compile(r"(?<=arange\.start_step\()([^,]+), [^,)]+")
_CAST, _RANGE, _ITEM = "_to_copy", "arange", "getitem"
_SHORT = re.compile(r": b?float16\[[^\]]*\]$")
# Views of all elements in their order.
_WHOLE = re.compile(r"^(?:view|reshape|_unsafe_view|squeeze|unsqueeze|clone|alias|_to_copy)\b")
_READ = re.compile(r"\b(?:v\d+|y\d*_out)\b(?=\[)")
_NOTHING: frozenset[str] = frozenset()
JOIN = "cat"
SHARED = "_kernel"  # how kernels are called that are the same for many operators


class Known(msgspec.Struct, frozen=True):
    """What an operation was taught with."""

    instructions: list[list[str]]  # ways to do it, each in its order
    numbers: list[float] | None  # of those that are not in its line; nothing where any may be
    says: bool | None = None  # whether its instructions have all numbers it is given, if known


@cache
def known_operations() -> dict[str, Known]:
    text = files(__package__).joinpath("operations.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Known])


@dataclass(frozen=True)
class Meaning:
    """Of a question: what each value is made of."""

    lines: Mapping[str, str]
    operands: Mapping[str, tuple[str, ...]]  # nothing for tensors
    operations: Mapping[str, str]
    results: Mapping[str, str]  # values by the tensors they are stored to
    sizes: Mapping[str, int]  # of the example
    room: int  # bytes that a kernel has for its buffers

    @classmethod
    def read(cls, asked: str, soc: str = "910b2") -> Meaning:
        lines = lines_of(asked)
        operands: dict[str, tuple[str, ...]] = {}
        operations: dict[str, str] = {}
        for name, line in lines.items():
            operation = _OPERATION.match(line)
            operations[name] = operation[1] if operation is not None else ""
            given = _given(line) if operation else []
            said = ", ".join(given[1:] if _SHAPED.match(operations[name]) else given)
            found = dict.fromkeys(_OPERANDS.findall(said))
            operands[name] = tuple(one for one in found if one in lines)
        sizes = {name: int(size) for name, size in _SIZE.findall(_examples(asked))}
        room = chip_constants(soc)["ub_bytes"]
        return cls(lines, operands, operations, stored(asked), sizes, room)

    def fits(self, extents: Iterable[str], each: int) -> bool:
        """Whether as many elements as the extents of the example come to fit with `each` bytes."""
        sizes = (int(one) if one.isdigit() else self.sizes.get(one, self.room) for one in extents)
        return math.prod(sizes) * each <= self.room

    @cached_property
    def only(self) -> tuple[str, str] | None:
        """The result and the value of a question of one operation; nothing where there are more."""
        values = [name for name, operation in self.operations.items() if operation]
        if len(values) != 1 or list(self.results.values()) != values:
            return None
        return next(iter(self.results)), values[0]

    @cached_property
    def moves(self) -> bool:
        """Whether an operation has elements elsewhere than its operands have them; a number that is
        taken out of a tensor does not, and what is joined in the end has a kernel of its own."""
        picking = (name for name, one in self.operations.items() if _PICKING.match(one))
        return any(not self.is_number(name) and name not in self._joined for name in picking)

    @cached_property
    def gathers(self) -> bool:
        """Whether elements are moved by one operation alone, which takes one of each row."""
        moving = [one for one in self.operations.values() if _PICKING.match(one)]
        return moving == [_GATHER]

    @cached_property
    def _joined(self) -> frozenset[str]:
        """Results that are joins, and that nothing is made of."""
        used = {name for given in self.operands.values() for name in given}
        left = (name for name in self.results.values() if self.operations[name] == JOIN)
        return frozenset(name for name in left if name not in used)

    @cached_property
    def shapes_alone(self) -> bool:
        """Whether nothing but the shape of some value is read."""
        return any(_SHAPED.match(one) for one in self.operations.values() if one != "copy")

    @cached_property
    def reshapes(self) -> bool:
        """Whether values are looked at with other axes, so that a kernel may read a part of one."""
        return any(one.startswith("view") for one in self.operations.values())

    def picks(self, value: str) -> bool:
        """Whether a value has elements elsewhere than what it is made of, or is one of several that
        have."""
        if self.operations[value] == _ITEM:
            value = self.operands[value][0]
        elif _SEVERAL.search(self.lines[value]) or self.is_number(value):
            return False
        return _PICKING.match(self.operations[value]) is not None

    def given_to(self, value: str) -> list[str]:
        """What the operation of a value is given."""
        return _given(self.lines[value])

    def dtype(self, name: str) -> str:
        """Of the elements of a value or tensor."""
        return self.lines[name].rpartition(": ")[2].partition("[")[0]

    def is_number(self, value: str) -> bool:
        """Whether a value is one element of a tensor."""
        single = _PICKED.match(self.operations.get(value, "")) is not None
        return single and elements_of(self.lines[value]) == Counter()

    @cached_property
    def picked(self) -> frozenset[str]:
        """Tensors of one axis of which nothing but single elements is read."""
        reading: dict[str, list[str]] = {}
        for value, operands in self.operands.items():
            for one in operands:
                reading.setdefault(one, []).append(value)
        return frozenset(
            name
            for name, values in reading.items()
            if not self.operations[name]
            and len(extents_of(self.lines[name])) == 1
            and all(map(self.is_number, values))
        )

    def elements(self, name: str) -> Count | None:
        """Of a value, or of a tensor as far as it is read: one of a tensor that numbers are taken
        out of."""
        return Counter() if name in self.picked else elements_of(self.lines.get(name, ""))

    @cached_property
    def ancestors(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for name, reads in self.operands.items():  # in the order in which they are computed
            found[name] = frozenset(reads).union(*(found.get(one, _NOTHING) for one in reads))
        return found

    def tensors_of(self, name: str) -> list[str]:
        """The tensors that a value is made of."""
        return [one for one in self.ancestors[name] if not self.operations[one]]

    def steps(
        self, program: str, parts: Mapping[str, str] = MappingProxyType({})
    ) -> Iterator[list[Step]]:
        """What each line of a program's kernels does for values; `parts` are those that the last
        kernel reads parts of tensors for, by the pointers to these."""
        flow = Flow(frozenset(self.lines), self.results, parts)
        shared = False
        for line in program.splitlines():
            if (head := _HEAD.match(line)) is not None:
                flow.begin_kernel()
                shared = head[1].endswith(SHARED)
            yield [] if shared else list(flow.line(line))

    def of(self, program: str, parts: Mapping[str, str] = MappingProxyType({})) -> str | None:
        """What is wrong with the last line of a program's kernels."""
        last = deque(self.steps(program, parts), maxlen=1)
        found = (self.wrong(step) for steps in last for step in steps)
        return next((said for said in found if said is not None), None)

    def wrong(self, step: Step) -> str | None:
        """What is wrong with what was done for a value."""
        value = step.value
        if not self.operations[value]:
            return None  # a tensor
        if strangers := self._strangers(value, step.made.leaves - {value, UNKNOWN}):
            return f"{value} is not made of {strangers[0]}"
        if (said := not_deviations(step, self.operations, self.operands)) is not None:
            return said
        if step.idly:
            return f"{value} is {step.idly}"
        operands, given = self.operands[value], self.given_to(value)
        if (said := not_bounds(step, self.operations[value], operands, given)) is not None:
            return said
        if self._is_over_itself(step):
            return f"{value} is not {min(step.made.leaves)} over itself"
        between = self.between_leaves(step)
        if between is None:
            return None
        missed = [name for name in between if not self.operations[name]]
        if missed and step.whole:
            return f"{value} is made of {missed[0]} too"
        near = {one for name in between for one in self.operands[name]}
        if step.whole and (far := step.made.leaves - near - {step.value, UNKNOWN}):
            return f"{step.value} is made of what is made of {min(far)}"
        if rounded := [one for one in between if one != value and self._is_cast_back(one)]:
            return f"{value} is made of {rounded[0]}, in fewer digits"
        return self._spoken(between, step)

    def _is_over_itself(self, step: Step) -> bool:
        """Whether one of two operands was divided by itself, for what is no quotient of theirs."""
        order, operands = step.made.order, set(self.operands[step.value])
        if len(order) != 2 or order[0] != order[1] or len(order[0]) != 1 or len(operands) < 2:
            return False
        quotient = self.operations[step.value].startswith(_QUOTIENT)
        return not quotient and order[0] <= operands and max(step.made.done)[1] == _QUOTIENT

    def between_leaves(self, step: Step) -> list[str] | None:
        """The value and what it is made of, up to what was read for it; nothing where a part of
        itself was read, or something that cannot be known."""
        leaves = step.made.leaves
        known = step.value not in leaves and leaves <= self.ancestors[step.value]
        return self.between(step.value, leaves) if known else None

    def between(self, value: str, leaves: Iterable[str]) -> list[str]:
        """The value and what it is made of, up to the leaves."""
        found: dict[str, None] = {}
        waiting = [value]
        while waiting:
            name = waiting.pop()
            if name not in leaves and name not in found:
                found[name] = None
                waiting += self.operands.get(name, ())
        return list(found)

    def computed(self, between: Iterable[str]) -> list[str]:
        """Operations of those between that need instructions, or that there is none."""
        names = list(between)
        done = [one for name in names if (one := self.operations[name]) and not _VIEWS.match(one)]
        return self._item_of(done, names) or done or [VIEW]

    def _item_of(self, done: list[str], names: Sequence[str]) -> list[str]:
        """An operation of several results by the one that is wanted, where nothing else is done."""
        if len(done) != 1:
            return []
        for name in names:
            if self.operations[name] == _ITEM:
                of, place = self.given_to(name)[:2]
                if of in names and self.operations[of] == done[0]:
                    return [f"{done[0]}[{place}]"]
        return []

    def computes(self, value: str) -> bool:
        """Whether a value needs instructions of its own."""
        return self.computed([value]) != [VIEW]

    def may_be_moved(self, value: str) -> bool:
        """Whether no instruction need compute anything for a value: elements are repeated, or stand
        elsewhere."""
        known = known_operations().get(self.operations[value])
        return self.picks(value) and (known is None or [] in known.instructions)

    def is_look(self, value: str) -> bool:
        """Whether a value is another one, looked at otherwise: nothing is done for it alone."""
        return not self.computes(value) and _LOOKS.match(self.operations[value]) is not None

    def instead(self, line: str, made: Collection[str]) -> str | None:
        """A line with the buffers that there are for those that there are not: what changes nothing
        has no buffer of its own, and what is asked for may have the result's."""

        def known(found: re.Match[str]) -> str:
            name = self.results.get(found[0].removesuffix("_out"), found[0])
            while name not in made and (one := self.same(name)) is not None:
                name = one
            asked = (f"{left}_out" for left, value in self.results.items() if value == name)
            return next((one for one in (found[0], name, *asked) if one in made), found[0])

        renamed = _READ.sub(known, line)
        return renamed if renamed != line else None

    def same(self, name: str) -> str | None:
        """The value that another one is, as it is."""
        operands = self.operands.get(name, ())
        whole = len(operands) == 1 and _WHOLE.match(self.operations[name]) is not None
        same = (whole and not self._is_cast_back(name)) or self.is_idle(name)
        return operands[0] if same else None

    def looked_at(self, name: str) -> str:
        """What a value is another look at, or a number out of: a tensor, or a value of its own."""
        while (one := self.same(name)) is not None or self.is_number(name):
            name = one or self.operands[name][0]
        return name

    def _is_cast_back(self, name: str) -> bool:
        operands = self.operands.get(name, ())
        return self.operations[name] == _CAST and any(self._rounds(one) for one in operands)

    def _rounds(self, name: str) -> bool:
        """Whether a value is another one in fewer digits, which whoever casts it back asks for."""
        operands = self.operands.get(name, ())
        if self.operations[name] != _CAST or not _SHORT.search(self.lines[name]):
            return False
        return not any(_SHORT.search(self.lines[one]) for one in operands)

    def is_idle(self, name: str) -> bool:
        """Whether an operation changes nothing; a value that nobody asked for has none."""
        given = _given(self.lines.get(name, ""))
        second = given[1] if len(given) > 1 and _NUMBER.fullmatch(given[1]) else None
        first = bool(given) and given[0] in self.lines
        return first and second is not None and float(second) == _IDLE.get(self.operations[name])

    def numbers(self, between: Iterable[str]) -> set[float]:
        """Numbers in the lines of values, and those that move bits up."""
        names = list(between)
        found = set[float]().union(*(numbers_in(self._without_end(name)) for name in names))
        moved = [one for name in names if (one := self.raised(name)) is not None]
        return found.union(*moved)

    def _without_end(self, name: str) -> str:
        """A line without the number that a range does not reach."""
        return _END.sub(r"\1", self.lines[name])

    def raised(self, value: str) -> tuple[int, int] | None:
        """By what a value is multiplied whose bits are moved up, and how far they come back down
        where it is narrower than what it is computed in."""
        if not _RAISED.match(self.operations.get(value, "")):
            return None
        spare = max(0, _BITS - dtypes.find(self.dtype(value)).bits)
        places = [int(one) for one in self.given_to(value)[1:] if one.isdigit()]
        moved = places[0] + spare if places else _BITS
        return (2**moved, spare) if moved < _BITS - 1 else None

    def given(self, between: Iterable[str]) -> set[float]:
        """Numbers that operations which need instructions are given as operands; those that move
        bits up as they are computed with."""
        found: set[float] = set()
        for name in (one for one in between if self.computes(one)):
            if (raised := self.raised(name)) is not None:
                found.add(float(raised[0]))
            else:
                found |= {abs(float(one)) for one in self.given_to(name) if _NUMBER.fullmatch(one)}
        return found

    def _constants(self, between: Iterable[str]) -> set[float]:
        """Numbers that values are."""
        full = (name for name in between if _CONSTANT.match(self.operations[name]))
        said = (one for name in full for one in self.given_to(name) if _NUMBER.fullmatch(one))
        return {abs(float(one)) for one in said}

    def _strangers(self, value: str, leaves: Iterable[str]) -> list[str]:
        known = self.ancestors[value]
        found = [one for one in sorted(leaves) if one not in known]
        if _SHARING.match(self.operations[value]):
            found = [one for one in found if not self.ancestors[one] & known]
        return found

    def _spoken(self, between: list[str], step: Step) -> str | None:
        made, taught = step.made, known_operations()
        operations = self.computed(between)
        if not all(operation in taught for operation in operations):
            return None
        found = made.instructions
        ways = [way for operation in operations for way in taught[operation].instructions]
        # Where a range begins at nothing, or goes on by one, there is less to do.
        ranged = operations[0].startswith(_RANGE)
        exact = step.whole and len(operations) == 1 and not ranged
        forms = (found, made.without_spreading)
        single = len(operations) == 1
        if not any(one in ways if exact else _is_begun(one, ways, single=single) for one in forms):
            return f"{operations[0]} is not done by {', '.join(found) or 'nothing'}"
        together = step.whole and len(operations) > 1
        if together and (undone := self._undone(between, found)) is not None:
            return f"{step.value} is made of {undone} too"
        own = [taught[operation].numbers for operation in operations]
        strange = made.numbers - self.numbers(between).union(*(one or () for one in own), _BEGUN)
        if strange and None not in own:
            return f"{min(strange)} is no number of {operations[0]}"
        idle = not found and all(self.is_idle(name) for name in between if self.computes(name))
        missed = self.given(between) - made.numbers if exact and not idle else None
        if missed and taught[operations[0]].says:
            return f"{min(missed)} is a number of {operations[0]}"
        constants = self._constants(between) - made.numbers if exact and found else None
        if constants:
            return f"{step.value} is made of {min(constants)}"
        counted = [one for one in _given(self.lines[step.value]) if _EXTENT.fullmatch(one)]
        plain = [operations[0].partition(".")[0]] == found and exact and counted
        if plain and len([one for one in made.order if one]) > len(self.operands[step.value]):
            return f"{step.value} is made of {counted[0]}"
        done = made.without_spreading
        ordered = exact and done and _ORDERED.issuperset(done)
        return self._disordered(between, made) if ordered else None

    def _undone(self, between: list[str], found: Sequence[str]) -> str | None:
        """A value on the way whose operation none of these instructions do; what is computed of a
        range may need none."""
        taught = known_operations()
        if any(self.operations[name].startswith(_RANGE) for name in between):
            return None
        for name in between[1:]:
            if self.computes(name) and not self.is_idle(name):
                ways = taught[self.operations[name]].instructions
                if not any(set(found) >= set(way) for way in ways):
                    return name
        return None

    def _disordered(self, between: list[str], made: Made) -> str | None:
        """An operand in another's place."""
        name = next((one for one in between if not _VIEWS.match(self.operations[one])), "")
        if not name:
            return None
        for said, leaves in zip(_given(self.lines[name]), made.order, strict=False):
            operand = _OPERANDS.fullmatch(said)
            known = self.ancestors[operand[0]] | {operand[0]} if operand is not None else _NOTHING
            if not leaves <= known:
                return f"{said} is not {min(leaves)}"
        return None


def _examples(asked: str) -> str:
    """The line with the extents of the example."""
    return next((line for line in asked.splitlines() if line.startswith("where ")), "")


def _is_begun(found: list[str], ways: list[list[str]], *, single: bool) -> bool:
    """Whether instructions may be the first ones of some way, or, where several operations are done
    at once, be among those of any."""
    if not single:
        return set().union(*ways).issuperset(found)
    return any(not Counter(found) - Counter(way) for way in ways)


def _given(line: str) -> list[str]:
    """What the operation of a line is given."""
    return arguments(line.partition("(")[2].rpartition("): ")[0])
