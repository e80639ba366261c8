# SPDX-License-Identifier: Apache-2.0
"""Lines of the question, quoted in the program where it comes to them.

A small model repeats a line without fault, and translates what stands right before it. To find the
operands of an instruction hundreds of words back, among many that look alike, it does not learn
from tens of thousands of programs: it writes down an operand of another program. So each function
of a program quotes what it is about to load or compute, views before what is seen through them, and
the host quotes the head of a kernel before it prepares what the kernel takes. The compiler never
sees the quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from npuforge.generate.lm.form.single import arguments

MARK = "# "
_FUNCTION = re.compile(r"^def \w+\(")
_HEAD = re.compile(r"^def (\w+)\(.*\)(?=:$)")
_LAUNCH = re.compile(r"^    (\w+)\[.+?\]\(")
ALLOCATION = re.compile(r"^\s*(\w+) = tl\.(?:alloc_ub|alloc_mask)\(.*\)$")
_CALL = re.compile(r"^ +(?:\w+ = )?tl\.(\w+)\((.*)\)$")
_PARAMETER = re.compile(r"^ +(\w+): tl\.(?:input|inout|output)\(")
_LINE = re.compile(r"^(\w+)(?: = |: )")
_BUFFER = re.compile(r"^(\w+?)(?:_(in|wide|out|fold))?_*$")
_LEFT = re.compile(r"^ +tl\.store\((w\d+)\b[^,]*, (\w+?)_*\b")
_RETURN = "return "


def quoted(program: str, asked: str) -> str:
    """The program with lines of what was asked (`task_text`)."""
    lines = program.splitlines()
    question = _Question.read(asked, lines)
    computed = {name for line in lines for name in question.named_by(line)}
    made: list[str] = []
    said: set[str] = set()
    for line in lines:
        if _FUNCTION.match(line):
            said = set()
        place = _place(made, line, question)
        for name in question.named_by(line):
            known = computed | said
            new = [] if name in said else [*question.seen_through(name, known), name]
            new = new[-1:] if _PARAMETER.match(line) else new
            made[place:place] = [f"{indentation(line)}{MARK}{question.lines[one]}" for one in new]
            place += len(new)
            said |= set(new)
        made.append(line)
    return "\n".join(_with_heads(made)) + "\n"


def _with_heads(lines: list[str]) -> list[str]:
    """Heads of kernels, each where the host begins to work for its launch."""
    heads = {found[1]: found[0] for line in lines if (found := _HEAD.match(line))}
    before: dict[int, str] = {}
    last = 0
    for number, line in enumerate(lines):
        launch = _LAUNCH.match(line)
        if launch is not None and launch[1] in heads:
            own = re.compile(rf"^    (?:k\d+|{launch[1]})_\w+ = ")
            first = next((n for n in range(last, number) if own.match(lines[n])), number)
            before[first] = f"    {MARK}{heads[launch[1]]}"
            last = number + 1
    return [
        text
        for number, line in enumerate(lines)
        for text in ([before[number], line] if number in before else [line])
    ]


def _place(made: list[str], line: str, question: _Question) -> int:
    """Where quotes of the line after these go: before what it needs that is no value of the graph,
    which is part of it."""
    depth = indentation(line)
    place = len(made)
    while place and _CALL.match(made[place - 1]) and indentation(made[place - 1]) == depth:
        before = made[place - 1]
        if not ALLOCATION.match(before) and not question.is_part(before):
            break
        place -= 1
    return place


def quotable(asked: str) -> list[str]:
    """Lines of a question that are about a tensor or a value."""
    return [line for line in asked.splitlines() if _LINE.match(line)]


def lines_of(asked: str) -> dict[str, str]:
    """The same, by the tensor or value that each is about."""
    return {re.split(r"\W", line, maxsplit=1)[0]: line for line in quotable(asked)}


def buffer_of(name: str, outputs: Mapping[str, str]) -> tuple[str, str] | None:
    """What a question calls the contents of a buffer, and what the buffer is for (`in`, `wide`,
    `out`, `fold` or nothing); `outputs` are values by the tensors they are stored to."""
    found = _BUFFER.match(name)
    if found is None:
        return None
    use = found[2] or ""
    return (outputs.get(found[1], "") if use == "out" else found[1]), use


def stored(asked: str) -> dict[str, str]:
    """What a question returns: values by the tensors of the program that they are stored to."""
    returned = [one.strip() for one in asked.rpartition(_RETURN)[2].split(", ")]
    updated = [one.split(" -> ") for one in returned if " -> " in one]
    fresh = [one for one in returned if " -> " not in one]
    names = ["y"] if len(fresh) == 1 else [f"y{place}" for place in range(len(fresh))]
    outputs = dict(zip(names, fresh, strict=True))
    return outputs | {tensor: value for value, tensor in updated}


def about(quote: str) -> str:
    """The tensor or value that a quote is of."""
    return re.split(r"\W", quote.partition(MARK)[2], maxsplit=1)[0]


def last_quoted(body: str) -> str:
    """The tensor or value that was quoted last in a kernel's body; nothing where none was."""
    return next((about(line) for line in reversed(body.splitlines()) if is_quote(line)), "")


def is_quote(line: str) -> bool:
    return line.lstrip().startswith(MARK)


def indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


@dataclass(frozen=True, slots=True)
class _Question:
    lines: dict[str, str]  # by the tensor or value a line is about
    outputs: dict[str, str]  # values by the tensors they are stored to
    between: dict[str, str]  # values by what one kernel leaves them in for another

    @classmethod
    def read(cls, asked: str, program: Sequence[str]) -> _Question:
        lines, outputs = lines_of(asked), stored(asked)
        left = (found for line in program if (found := _LEFT.match(line)))
        return cls(lines, outputs, {one[1]: one[2] for one in left})

    def named_by(self, line: str) -> Iterator[str]:
        """What a line of a program loads, computes or takes."""
        if (taken := _PARAMETER.match(line)) is not None:
            tensor = taken[1]
            yield from (one for one in (tensor, self.outputs.get(tensor)) if one in self.lines)
        elif (call := _CALL.match(line)) is not None and not ALLOCATION.match(line):
            given = arguments(call[2])
            if call[1] != "store" and given:
                value = self._value(given[1 if call[1] == "load" else 0])
                yield from [value] if value in self.lines else []

    def is_part(self, line: str) -> bool:
        """Whether a line computes something for what comes after it, which is no value itself."""
        call = _CALL.match(line)
        if call is None or call[1] in {"load", "store"}:
            return False
        return not any(" = " in self.lines[name] for name in self.named_by(line))

    def seen_through(self, name: str, known: set[str]) -> dict[str, None]:
        """The views that a value reads and nothing computes, each after those that it reads."""
        found: dict[str, None] = {}
        waiting = [name]
        while waiting:
            _, _, reads = self.lines[waiting[-1]].partition("(")
            missing = [
                other
                for other in re.findall(r"\bv\d+\b", reads)
                if other in self.lines and other not in known and other not in found
            ]
            if missing:
                waiting += reversed(missing)
            else:
                found[waiting.pop()] = None
        found.pop(name)
        return found

    def _value(self, view: str) -> str:
        """What the graph calls the contents of a buffer."""
        buffer = re.match(r"\w+", view)
        found = buffer_of(buffer[0], self.outputs) if buffer is not None else None
        if found is None:
            return ""
        name, use = found
        return name if use == "out" else self.between.get(name, name)
