# SPDX-License-Identifier: Apache-2.0
"""llama.cpp's form of grammars, read, recognised and drawn from: what the tests judge by."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_LETTER = re.compile(r"\\x([0-9a-fA-F]{2})|\\(.)|(.)", re.DOTALL)
_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:\\.|[^"\\])*")|(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<name>[a-zA-Z0-9-]+)'
    r"|(?P<times>\{\d+,\d*\})|(?P<mark>[()|*+?]))"
)
_NAMED = {"n": "\n", "t": "\t", "r": "\r"}

# An element: a set of letters, a rule's name, or alternatives with how often they may come.
Letters = tuple[bool, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    letters: Letters | None = None
    rule: str | None = None
    cases: tuple[tuple[Part, ...], ...] = ()
    least: int = 1
    most: int | None = 1


Stack = Any  # None, or a part and the stack under it: mypy does not follow types of themselves


@dataclass(slots=True)
class Grammar:
    """`rules` by name; the beginning is `root`."""

    text: str
    rules: dict[str, tuple[tuple[Part, ...], ...]] = field(default_factory=dict)
    depths: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.text.splitlines():
            name, _, body = line.partition(" ::= ")
            cases, rest = _cases(list(_tokens(body)))
            assert not rest, (name, rest[:3])
            self.rules[name] = cases
        self._measure()

    def accepts(self, text: str, rule: str = "root") -> int | None:
        """None for a text of the grammar; else the place of the letter that is too much, or the
        text's length where something is missing."""
        stacks = self._opened(_pushed((Part(rule=rule),), None))
        for place, letter in enumerate(text):
            met = [
                stack[1]
                for stack in stacks
                if stack is not None and _holds(stack[0].letters, ord(letter))
            ]
            if not met:
                return place
            stacks = {}
            for stack in met:
                stacks |= self._opened(stack)
        return None if any(stack is None for stack in stacks) else len(text)

    def _opened(self, stack: Stack) -> dict[Stack, None]:
        """Stacks that begin with a letter, or are empty."""
        found: dict[Stack, None] = {}
        todo = [stack]
        seen: set[Stack] = set()
        while todo:
            top = todo.pop()
            if top in seen:
                continue
            seen.add(top)
            if top is None or top[0].letters is not None:
                found[top] = None
                continue
            part, rest = top
            todo += [_pushed(case, after) for case, after in self._unfolded(part, rest)]
        return found

    def _unfolded(self, part: Part, rest: Stack) -> Iterator[tuple[tuple[Part, ...], Stack]]:
        if part.rule is not None:
            yield from ((case, rest) for case in self.rules[part.rule])
            return
        if part.least == 0:
            yield (), rest
        if part.most == 0:
            return
        again = _again(part)
        after = rest if again is None else (again, rest)
        yield from ((case, after) for case in part.cases)

    def drawn(self, dice: random.Random, rule: str = "root", room: int = 400) -> str:
        """A text of the grammar, ended as soon as may be after `room` letters."""
        out: list[str] = []
        self._draw(Part(rule=rule), dice, out, room)
        return "".join(out)

    def _draw(self, part: Part, dice: random.Random, out: list[str], room: int) -> None:
        if part.letters is not None:
            out.append(_any(part.letters, dice))
            return
        cases = self.rules[part.rule] if part.rule is not None else part.cases
        times = 1
        if part.rule is None:
            most = part.most if part.most is not None else part.least + 2
            times = dice.randint(part.least, most) if len(out) < room else part.least
        for _ in range(times):
            if len(out) >= room:
                cases = (min(cases, key=self._depth),)
            for inner in dice.choice(cases):
                self._draw(inner, dice, out, room)

    def _depth(self, case: tuple[Part, ...]) -> float:
        return max((self._deep(part) for part in case), default=0)

    def _deep(self, part: Part) -> float:
        """How many levels the shortest text of an element has."""
        if part.letters is not None or part.least == 0:
            return 0
        if part.rule is None:
            return 1 + min(self._depth(case) for case in part.cases)
        return self.depths[part.rule]

    def _measure(self) -> None:
        """The same for every rule, until nothing changes."""
        self.depths = dict.fromkeys(self.rules, math.inf)
        changed = True
        while changed:
            changed = False
            for name, cases in self.rules.items():
                depth = 1 + min(self._depth(case) for case in cases)
                changed |= depth < self.depths[name]
                self.depths[name] = depth


_AGAIN: dict[Part, Part | None] = {}


def _again(part: Part) -> Part | None:
    """What may follow once an element has come."""
    if part not in _AGAIN:
        most = None if part.most is None else part.most - 1
        _AGAIN[part] = (
            None
            if most == 0
            else part
            if part.least == 0 and most is None
            else Part(cases=part.cases, least=max(0, part.least - 1), most=most)
        )
    return _AGAIN[part]


def _pushed(case: tuple[Part, ...], rest: Stack) -> Stack:
    for part in reversed(case):
        rest = (part, rest)
    return rest


def _holds(letters: Letters | None, code: int) -> bool:
    assert letters is not None
    inside, ranges = letters
    return any(low <= code <= high for low, high in ranges) is inside


def _any(letters: Letters, dice: random.Random) -> str:
    inside, ranges = letters
    if inside:
        low, high = dice.choice(ranges)
        return chr(dice.randint(low, high))
    return dice.choice([c for c in " ab9.\n" if _holds(letters, ord(c))])


def _tokens(body: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(body.rstrip()):
        found = _TOKEN.match(body, place)
        assert found is not None, body[place : place + 20]
        assert found.lastgroup is not None
        yield found.lastgroup, found[found.lastgroup]
        place = found.end()


def _cases(
    tokens: list[tuple[str, str]],
) -> tuple[tuple[tuple[Part, ...], ...], list[tuple[str, str]]]:
    cases: list[tuple[Part, ...]] = []
    case: list[Part] = []
    tokens = list(tokens)
    while tokens and tokens[0] != ("mark", ")"):
        kind, text = tokens.pop(0)
        if (kind, text) == ("mark", "|"):
            cases.append(tuple(case))
            case = []
        elif kind == "text":
            word = tuple(Part(letters=(True, ((ord(c), ord(c)),))) for c in _letters(text[1:-1]))
            case.append(Part(cases=(word,)))
        elif kind == "set":
            case.append(Part(letters=_set(text[1:-1])))
        elif kind == "name":
            case.append(Part(rule=text))
        elif (kind, text) == ("mark", "("):
            inner, tokens = _cases(tokens)
            assert tokens.pop(0) == ("mark", ")")
            case.append(Part(cases=inner))
        else:
            repeated = case.pop()
            held = repeated.cases or ((repeated,),)
            case.append(Part(cases=held, least=_times(text)[0], most=_times(text)[1]))
    return (*cases, tuple(case)), tokens


def _times(text: str) -> tuple[int, int | None]:
    if text in "*+?":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[text]
    least, most = text[1:-1].split(",")
    return int(least), int(most) if most else None


def _letters(text: str) -> Iterator[str]:
    for code, escaped, plain in _LETTER.findall(text):
        yield chr(int(code, 16)) if code else _NAMED.get(escaped, escaped) or plain


def _set(text: str) -> Letters:
    inside = not text.startswith("^")
    letters = list(_LETTER.finditer(text if inside else text[1:]))
    ranges: list[tuple[int, int]] = []
    while letters:
        low = ord(next(_letters(letters.pop(0)[0])))
        high = low
        if len(letters) > 1 and letters[0][0] == "-":
            letters.pop(0)
            high = ord(next(_letters(letters.pop(0)[0])))
        ranges.append((low, high))
    return inside, tuple(ranges)
