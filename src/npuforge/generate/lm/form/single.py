# SPDX-License-Identifier: Apache-2.0
"""Programs in which every value has a buffer of its own, named as the graph names the value.

The planner shares buffers by lifetime, and so a name means one value here and another one there. A
model that learns from it has to keep account of lifetimes; in this form it only writes down what
follows from what, and the compiler lets buffers share memory. Kernels are changed where that is
plain to see: a buffer all of whose values are made and used in one compute block.

The planner remarks which value of the graph an instruction computes, and the buffer gets that name;
`xa_in` is what is loaded from `xa`, `xa_wide` the same in the type it is computed with, and `y_out`
what is stored to `y`; what one kernel leaves for another has the value's name. What has no name
is numbered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_ALLOCATION = re.compile(r"^    (\w+) = tl\.(alloc_ub|alloc_mask)\((.*)\)$")
_CALL = re.compile(r"^(\s*)(?:(\w+) = )?tl\.(\w+)\((.*)\)$")
_REMARK = re.compile(r"^(\s*tl\..*\))  # (\w+)$")
_POINTER = re.compile(r"^\w+")
_WORKSPACE = re.compile(r"^w\d+$")
KINDS = ("in", "wide", "out")  # what the buffers of a tensor are
_KERNEL = re.compile(r"^@ascend_kernel$")
# Write to what is there: the old contents count.
_UPDATES = {"axpy", "mul_add", "insert_scalar", "scatter", "scatter_add"}


def single(program: str) -> str:
    """The program with as many buffers as values."""
    lines = program.splitlines()
    starts = [number for number, line in enumerate(lines) if _KERNEL.match(line)]
    ends = [
        next(
            (n for n in range(start + 2, len(lines)) if lines[n] and lines[n][0] != " "), len(lines)
        )
        for start in starts
    ]
    made: list[str] = []
    last = 0
    for start, end in zip(starts, ends, strict=True):
        made += [*lines[last:start], *_Kernel(lines[start:end]).written()]
        last = end
    return "\n".join([*made, *lines[last:]]) + "\n"


@dataclass(slots=True)
class _Kernel:
    lines: list[str]
    allocations: dict[str, str] = field(default_factory=dict)  # a buffer, and how it is made
    fresh: dict[str, str] = field(default_factory=dict)  # new buffers, and how they are made
    remarks: dict[int, str] = field(default_factory=dict)  # the graph's names by line

    def written(self) -> list[str]:
        for number, line in enumerate(self.lines):
            if (remark := _REMARK.match(line)) is not None:
                self.lines[number], self.remarks[number] = remark[1], remark[2]
            elif (found := _ALLOCATION.match(line)) is not None:
                self.allocations[found[1]] = line.partition(" = ")[2]
        changed = list(self.lines)
        for block in self._blocks():
            self._separate(changed, block)
        return self._with_allocations(changed)

    def _blocks(self) -> Iterator[range]:
        """Lines of compute blocks that are calls and nothing else."""
        for number, line in enumerate(self.lines):
            if line.strip() != "with tl.compute():":
                continue
            depth = len(line) - len(line.lstrip()) + 4
            end = number + 1
            while end < len(self.lines) and _depth(self.lines[end]) >= depth:
                end += 1
            inside = range(number + 1, end)
            if all(_CALL.match(self.lines[n]) and _depth(self.lines[n]) == depth for n in inside):
                yield inside

    def _own(self, block: range) -> set[str]:
        """Buffers whose values are made and used in the block alone; what is loaded or stored may
        be so elsewhere."""
        own = set(self.allocations)
        for number, line in enumerate(self.lines):
            call = _CALL.match(line)
            moved = call is not None and call[3] in {"load", "store"}
            if number not in block and not moved and not _ALLOCATION.match(line):
                own -= set(re.findall(r"\w+", line))
        views: dict[str, set[str]] = {}
        for number in block:
            call = _CALL.match(self.lines[number])
            assert call is not None
            given = arguments(call[4])
            name = _name(given[0])
            if call[2] is None:
                views.setdefault(name, set()).add(given[0])
                if call[3] in _UPDATES:
                    own.discard(name)
        return {name for name in own if len(views.get(name, ())) <= 1}

    def _separate(self, changed: list[str], block: range) -> None:
        own = self._own(block)
        stored = {
            _name(arguments(call[4])[1])
            for line in self.lines
            if (call := _CALL.match(line)) and call[3] == "store"
        }
        final = {}
        for number in block:
            call = _CALL.match(self.lines[number])
            assert call is not None
            if call[2] is None:
                final[_name(arguments(call[4])[0])] = number
        current: dict[str, str] = {}
        here: set[str] = set()  # buffers made for this block
        for number in block:
            call = _CALL.match(self.lines[number])
            assert call is not None
            given = arguments(call[4])
            first = 0 if call[2] is not None else 1
            for place in range(first, len(given)):
                given[place] = _renamed(given[place], current)
            if call[2] is None:
                name = _name(given[0])
                if name in own and not (name in stored and final[name] == number):
                    current[name] = self._new(name, self.remarks.get(number), here)
                    here.add(current[name])
                elif name in own:
                    current.pop(name, None)
                given[0] = _renamed(given[0], current)
            head = f"{call[2]} = " if call[2] is not None else ""
            changed[number] = f"{call[1]}{head}tl.{call[3]}({', '.join(given)})"

    def _new(self, name: str, remark: str | None, here: set[str]) -> str:
        how = self.allocations[name].replace(", buffers=1", "")
        taken = {*self.allocations, *self.fresh}
        if remark is not None:
            made = self._buffer_of(remark)
            while made in here or (made in taken and self.fresh.get(made) != how):
                made += "_"  # the same value in another shape or type
        else:
            stem = "mask" if "alloc_mask" in how else "t"
            number = sum(known.startswith(stem) for known in self.fresh)
            while (made := f"{stem}{number}_") in taken:
                number += 1
        self.fresh[made] = how
        return made

    def _buffer_of(self, value: str) -> str:
        """What the buffer of a value of the graph is called; pointers have a tensor's own name."""
        head = next(line for line in self.lines if line.startswith("def "))
        return f"{value}_wide" if value in re.findall(r"\w+", head) else value

    def _known(self) -> dict[str, str]:
        """Names of buffers that only one tensor is loaded to or stored from, or that hold the same
        value wherever they are written."""
        found: dict[str, set[str]] = {}
        for number, line in enumerate(self.lines):
            call = _CALL.match(line)
            if call is None or call[2] is not None or call[3] in {"alloc_ub", "alloc_mask"}:
                continue
            given = arguments(call[4])
            if call[3] in {"load", "store"}:
                pointer = _POINTER.match(given[0])
                assert pointer is not None
                way = "in" if call[3] == "load" else "out"
                if way == "in" or not _WORKSPACE.match(pointer[0]):
                    found.setdefault(_name(given[1]), set()).add(f"{pointer[0]}_{way}")
            else:
                value = self.remarks.get(number)
                name = self._buffer_of(value) if value is not None else ""
                found.setdefault(_name(given[0]), set()).add(name)
        for names in found.values():
            moved = {name for name in names if name.endswith(("_in", "_out"))}
            if moved:  # whatever is computed in it
                names &= moved
        taken = set(self.fresh)
        single = {buffer: names.pop() for buffer, names in found.items() if len(names) == 1}
        counts = Counter(single.values())
        return {
            buffer: name
            for buffer, name in single.items()
            if name and counts[name] == 1 and name not in taken
        }

    def _with_allocations(self, changed: list[str]) -> list[str]:
        """Buffers that are in use, in the order of their first use and numbered by it."""
        body = [line for line in changed if not _ALLOCATION.match(line)]
        buffers = {**self.allocations, **self.fresh}
        used = dict.fromkeys(re.findall(r"\w+", "\n".join(body)))
        final = _numbered([name for name in used if name in buffers], self._known())
        made = [f"    {number} = {buffers[name]}" for name, number in final.items()]
        first = next(n for n, line in enumerate(changed) if _ALLOCATION.match(line))
        rest = [line for line in changed[first:] if not _ALLOCATION.match(line)]
        return [*changed[:first], *made, *(_renamed(line, final) for line in rest)]


def _numbered(used: list[str], known: Mapping[str, str]) -> dict[str, str]:
    final: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name in used:
        stem = re.sub(r"\d+_?$", "", name)
        if name in known:
            final[name] = known[name]
        elif stem in {"t", "mask"}:
            final[name] = f"{stem}{counts.get(stem, 0)}"
            counts[stem] = counts.get(stem, 0) + 1
        else:
            final[name] = name
    return final


def arguments(text: str) -> list[str]:
    """Arguments of a call, brackets respected."""
    found, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += letter
    return [*found, current.strip()] if current.strip() else found


def _name(view: str) -> str:
    return re.split(r"\W", view, maxsplit=1)[0]


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: names.get(word[0], word[0]), text)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
