# SPDX-License-Identifier: Apache-2.0
"""The compiler looks over the model's shoulder: a line that cannot stand is not written.

A grammar knows which texts are programs; which names there are, of which types and shapes, only
the compiler knows. After each line of a program it says whether the line can stand, whatever
follows: if not, another one is drawn. What the question leaves no choice in (lines of it that are
quoted, the head of the host function) is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace

from npuforge.errors import NpuforgeError
from npuforge.generate.lm.form.answer import program_in
from npuforge.generate.lm.form.asked import Asked
from npuforge.generate.lm.form.fit import without_fits
from npuforge.generate.lm.form.form import complete
from npuforge.generate.lm.form.grammar import ENDED, THINK
from npuforge.generate.lm.form.heads import filled
from npuforge.generate.lm.form.inline import hoisted
from npuforge.generate.lm.form.quoted import ALLOCATION, MARK, about, indentation, is_quote
from npuforge.generate.lm.guide.facts.meaning import SHARED, Meaning
from npuforge.generate.lm.guide.intent import Intent
from npuforge.generate.lm.guide.joins import counting, counts
from npuforge.generate.lm.guide.outline import Outline, is_number, is_said, outline_in
from npuforge.generate.lm.guide.rules.casts import DETOUR, idle, straight
from npuforge.generate.lm.guide.rules.demanded import demands
from npuforge.generate.lm.guide.rules.extents import (
    Shapes,
    numbers_in,
    shapes_in,
    strange,
    strange_number,
)
from npuforge.generate.lm.guide.rules.literals import renumbered, unknown_numbers
from npuforge.generate.lm.guide.rules.orders import kept
from npuforge.generate.lm.guide.rules.shifted import shifted
from npuforge.generate.lm.guide.rules.wide import by_mask
from npuforge.generate.lm.guide.settled import settled
from npuforge.generate.lm.guide.whole_kernels import begins, direction
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.lower.compiler import lower
from npuforge.tile import chip_constants
from npuforge.tile.beginning import in_host, in_kernel
from npuforge.tile.parse import KERNEL_DECORATOR, LANGUAGE_IMPORT
from npuforge.tile.source import Finding

_KERNEL = f"@{KERNEL_DECORATOR}"
_BEGINNING = f"{LANGUAGE_IMPORT}\n\n\n{_KERNEL}\n"
_HEAD = re.compile(r"^def (\w+)\(([\w, ]*)\):$", re.MULTILINE)
_PREPARED = re.compile(rf"^ +{MARK}def (\w+)\((.*)\)$", re.MULTILINE)
_SHAPE = re.compile(r'^ +tl\.require\(.*"\w+ has shape |^ +\w+ = \w+\.shape\[')
_HOST = f"def {OPERATOR}_host("
_BLOCK = "with tl."
_MOST_THOUGHTS = 60  # lines
_REQUIRED = "the head has all shapes that there are"


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether the last line stays; what is given to follow, or why it does not stay."""

    keep: bool = True
    then: str = ""
    reason: str = ""
    thought: bool = False  # the line is part of the reasoning, and may be wrong
    lines: int = 1  # that do not stay


_FINE = Advice()


@dataclass(frozen=True, slots=True)
class Guide:
    """For all answers to one question: what was said of a beginning is not thought of again,
    whatever numbers the reasoning had."""

    asked: str
    soc: str = "910b2"
    _known: Asked = field(init=False)
    _chip: dict[str, int] = field(init=False)
    _shapes: Shapes = field(init=False)
    _sizes: frozenset[int] = field(init=False)
    _meaning: Meaning = field(init=False)
    _said: dict[tuple[tuple[str, ...], str], Advice] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", Asked.read(self.asked))
        object.__setattr__(self, "_chip", chip_constants(self.soc))
        object.__setattr__(self, "_shapes", shapes_in(self.asked))
        object.__setattr__(self, "_sizes", numbers_in(self.asked))
        object.__setattr__(self, "_meaning", Meaning.read(self.asked, self.soc))

    def line(self, answer: str) -> Advice:
        """On the last line of an answer that ends with a whole line."""
        before, ended, program = answer.partition(f"{ENDED}\n")
        if not ended:
            return self._thinking(before)
        if not program:
            return self._thought(before)
        beginning = outline_in(before), program
        if beginning not in self._said:
            intent = Intent(Outline.read(before).sound(self._meaning))
            self._said[beginning] = self._on(program, intent)
        return self._said[beginning]

    def end(self, answer: str) -> Advice:
        """On an answer that ends here."""
        try:
            lower(complete(program_in(answer), self.soc).text, self.soc)
        except (NpuforgeError, RecursionError) as error:
            return Advice(keep=False, reason=str(error))
        return _FINE

    def _thought(self, before: str) -> Advice:
        """On a reasoning that ends here: without numbers it had none to be held against."""
        missing = Outline.read(before).missing(self._meaning)
        if missing is not None and not any(is_number(line) for line in before.splitlines()):
            return Advice(keep=False, reason=missing, thought=True)
        return Advice(then=_BEGINNING)

    def _thinking(self, before: str) -> Advice:
        last = before.rstrip("\n").rpartition("\n")[2]
        if before.count("\n") > _MOST_THOUGHTS or last.startswith((" ", "@", "def ")):
            return Advice(keep=False, then=f"{ENDED}\n{_BEGINNING}", reason="no thought")
        if last == THINK:
            return Advice(then=settled(self._meaning))
        outline = Outline.read(before)
        if (alone := outline.uncounting(last, self._meaning)) is not None:
            return Advice(keep=False, then=f"{alone}\n", reason="nothing to count", lines=2)
        begun = last in outline_in(before)
        if begun and (joined := outline.joining(last, self._meaning)) is not None:
            return Advice(keep=False, then=f"{joined}\n", reason="not what is joined")
        if begun and (sorting := kept(last, self._meaning)) is not None:
            return Advice(keep=False, then=f"{sorting}\n", reason="nothing says how many are kept")
        said = outline.thought(last, self._meaning)
        if said is None and (count := outline.counting(last, self._meaning)) is not None:
            return Advice(keep=False, then=f"{count}\n{last}\n", reason="elements to count")
        if said is None and (named := outline.naming(last, self._meaning)) is not None:
            return Advice(keep=False, then=f"{named}\n", reason="a size without a name", lines=2)
        if said is None and begun and not is_said(last):
            said = "nothing that an outline says"
        if said is None:
            return _FINE
        if is_number(last) and (whole := outline.completed(self._meaning)) is not None:
            again = _with_line(before.splitlines()[:-1], *whole)
            return Advice(keep=False, then=again, reason=said, lines=again.count("\n") + 1)
        instead = outline.repaired(last, self._meaning)
        then = f"{instead}\n" if instead else ""
        return Advice(keep=False, then=then, reason=said, thought=True)

    def _on(self, program: str, intent: Intent) -> Advice:
        last = program.rstrip("\n").rpartition("\n")[2] if not program.endswith("\n\n") else ""
        parts = program.split(f"{_KERNEL}\n")
        head, host, body = parts[-1].partition(f"\n{_HOST}\n")
        if host:
            return self._in_host(program, body, last, intent)
        heads = _HEAD.findall(program)
        advice = self._in_body(program, head, last, heads, intent)
        if advice.keep or advice.then or not heads:
            return advice
        right = intent.instruction(program, heads[-1][0], self._meaning)
        return replace(advice, then=f"{right}\n") if right and right != last else advice

    def _in_body(
        self, program: str, head: str, last: str, heads: list[tuple[str, str]], intent: Intent
    ) -> Advice:
        own = intent.parameters(heads[-1][0]) if heads else frozenset[str]()
        advice = self._in_kernel(f"{_KERNEL}\n{head}", last, heads, own)
        if not advice.keep or not heads:
            return advice
        if _HEAD.match(last):
            return Advice(then=intent.opening(heads[-1][0], self._meaning))
        instead = intent.instead(program, last, heads[-1][0], self._meaning)
        if instead is not None:
            return Advice(keep=False, then=f"{instead}\n", reason="not what comes next")
        if (turned := direction(last, self._meaning)) is not None:
            return Advice(keep=False, then=f"{turned}\n", reason="sorted the other way round")
        apart = heads[-1][0].endswith(SHARED)
        if not apart and (size := strange_number(last, self._sizes)) is not None:
            return Advice(keep=False, reason=f"no tensor has {size} elements")
        right = shifted(program, last, self._meaning)
        if right is not None:
            return Advice(keep=False, then=f"{right}\n", reason="bits are not moved so")
        if not apart and (number := unknown_numbers(last, self._meaning)):
            body = program.rpartition(f"def {heads[-1][0]}(")[2]
            right = renumbered(body, last, self._meaning)
            then = f"{right}\n" if right is not None else ""
            return Advice(keep=False, then=then, reason=f"{min(number)} is a number of nothing")
        parts = intent.pointers(heads[-1][0], self._meaning)
        wrong = intent.line(program, last, heads[-1][0], self._meaning)
        said = wrong or self._meaning.of(program, parts)
        if said is not None:
            return _advice(said)
        return Advice(then=intent.following(program, last, heads[-1][0], self._meaning))

    def _in_kernel(
        self, kernel: str, last: str, heads: list[tuple[str, str]], own: Set[str]
    ) -> Advice:
        if not last:
            return _FINE if _is_whole(kernel) else Advice(keep=False, reason="nothing is stored")
        if last == _KERNEL:
            return _FINE
        if _HEAD.match(last):
            twice = [name for name, _ in heads].count(heads[-1][0]) > 1
            return Advice(keep=False, reason="a name of two kernels") if twice else _FINE
        if not last.startswith(" "):
            return Advice(keep=False, reason="neither a kernel nor the host function")
        if is_quote(last):
            again = f"\n{last}\n" in kernel.rpartition(_BLOCK)[2].removesuffix(f"{last}\n")
            return Advice(keep=False, reason="quoted already") if again else self._quote(last)
        if not heads or "\n\n" in kernel:
            return Advice(keep=False, reason="outside any kernel")
        # A kernel that is the same for many operators has names of its own.
        shared = heads[-1][0].endswith(SHARED)
        known = self._known.tensors.items()
        tensors = {} if shared else {name: one for name, one in known if name not in own}
        refused = _first(in_kernel(hoisted(filled(kernel)).text, tensors, self._chip))
        if refused is None:
            return _idle_cast(last, kernel)
        made = {found[1] for line in kernel.splitlines() if (found := ALLOCATION.match(line))}
        instead = by_mask(kernel, last) or self._meaning.instead(last, made)
        return Advice(keep=False, then=f"{instead}\n" if instead else "", reason=refused)

    def _in_host(self, program: str, body: str, last: str, intent: Intent) -> Advice:
        head = self._known.head
        if not body and head is not None:
            return Advice(then=head.partition("\n")[2] + self._begun)
        if last == "):" and head is not None:
            return Advice(then=head.partition("\n):\n")[2] + self._begun)
        if "\n):\n" not in f"\n{body}" or last == "):":
            return _FINE  # what it is called with cannot be known
        program = filled(program)
        known = {name: f"def {name}({given})" for name, given in _HEAD.findall(program)}
        if head is not None and _SHAPE.search(last) and last not in head.splitlines():
            return Advice(keep=False, then=_first_head(known, body), reason=_REQUIRED)
        if is_quote(last):
            wanted = last.partition("def ")[2].partition("(")[0]
            return _given(last, known.get(wanted))
        kernel = prepared(body)
        right = counting(last, self._meaning)
        if right is None and kernel is not None:
            right = intent.counted(last, kernel[0], self._meaning)
            right = right or intent.launch(last, *kernel, self._meaning)
        if right is not None:
            return Advice(keep=False, then=f"{right}\n", reason="not what is given")
        try:
            text = without_fits(hoisted(program).text)
        except NpuforgeError as error:
            return Advice(keep=False, reason=str(error))
        wrong = _first(in_host(text, self._chip))
        if wrong is None and kernel is not None and not kernel[0].endswith(SHARED):
            said = strange(last, kernel[1], self._shapes)
            wrong = f"no tensor of {kernel[0]} has {said} elements" if said else None
        return _advice(wrong)

    @property
    def _begun(self) -> str:
        """What a host function begins with that follows from the question."""
        return demands(self._meaning) + counts(self._meaning) + begins(self._meaning)

    def _quote(self, last: str) -> Advice:
        return _given(last, self._known.lines.get(about(last)))


def _first_head(known: Mapping[str, str], body: str) -> str:
    """The quote of the first kernel's head, with which a host function begins to count; nothing
    where it has begun, or counts something else first."""
    name = next(iter(known), SHARED)
    return "" if name.endswith(SHARED) or _PREPARED.search(body) else f"    {MARK}{known[name]}\n"


def prepared(host: str) -> tuple[str, list[str]] | None:
    """The kernel whose head a host function quoted last, and its parameters."""
    heads = _PREPARED.findall(host)
    return (heads[-1][0], heads[-1][1].split(", ")) if heads else None


def _is_whole(kernel: str) -> bool:
    """Whether a kernel may end: it left something, and no block is open."""
    lines = [line for line in kernel.splitlines() if line.strip() and not is_quote(line)]
    return "tl.store(" in kernel and not lines[-1].endswith(":")


def _given(last: str, right: str | None) -> Advice:
    """On a quote, as it must be."""
    if right is None:
        return Advice(keep=False, reason="nothing to quote")
    wanted = f"{indentation(last)}{MARK}{right}"
    return _FINE if last == wanted else Advice(keep=False, then=f"{wanted}\n")


def _with_line(thoughts: list[str], kernel: str, line: str) -> str:
    """The end of an outline with another line on what a kernel reads, computes and leaves."""
    about = [place for place, one in enumerate(thoughts) if one.startswith(f"{kernel}: ")]
    return "".join(f"{one}\n" for one in (line, *thoughts[about[-1] + 1 :]))


def _idle_cast(last: str, kernel: str) -> Advice:
    said = idle(last, kernel)
    if said is None:
        return _FINE
    right = straight(kernel)
    if right is None:
        return Advice(keep=False, reason=said)
    return Advice(keep=False, then=right, reason=said, lines=DETOUR)


def _advice(wrong: str | None) -> Advice:
    return Advice(keep=False, reason=wrong) if wrong else _FINE


def _first(findings: list[Finding]) -> str | None:
    return next((f"{one.rule}: {one.message}" for one in findings), None)
