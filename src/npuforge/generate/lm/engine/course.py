# SPDX-License-Identifier: Apache-2.0
"""One answer under way: tokens, those taken back, those that are given.

A line the guide refuses is taken back, and the likeliest text that differs from what was refused in
one more token is tried next: best first, over the tokens the model itself held for possible. Where
nothing helps the fault lies further back: what was written since the last quote is doubted, its
least sure token first, and in the end the function is drawn anew, with more courage. An answer that
is refused too often is given up.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from npuforge.generate.lm.form.quoted import is_quote
from npuforge.generate.lm.guide.doubts import Choice, Doubts
from npuforge.generate.lm.guide.guide import Advice, prepared

CHOICES = 4  # tokens that could have been drawn instead, which a course is told of
_DETOURS = 1_500  # tokens that may be taken back, or as many as there are where these are more
_TRIES = 8  # for a line
_ENDINGS = 3  # for the end
_AGAIN = 3  # where the lines before it are doubted already
_DOUBTS = 8  # of what was written since a quote
_RETURNS = 3  # to where a function begins
_RETHOUGHT = 8  # times that earlier thoughts are doubted
_SPAN = 3  # lines of an outline that are said of one kernel
_DARING = 2.0  # times the temperature, after a return


class Reader(Protocol):
    """Who is asked about an answer: on its last line, and where it ends."""

    def line(self, answer: str) -> Advice: ...

    def end(self, answer: str) -> Advice: ...


@dataclass(frozen=True, slots=True)
class Words:
    """A tokenizer, as far as an answer needs it."""

    text: Callable[[Sequence[int]], str]
    tokens: Callable[[str], list[int]]
    newline: int
    end: int


@dataclass(slots=True)
class Course:
    """Asked for a token at a time (`take`), it says how many are taken back."""

    words: Words
    guide: Reader | None
    tokens: list[int] = field(default_factory=list)
    ended: bool = False
    given_up: bool = False
    refused: int = 0
    taken: int = 0  # tokens, those taken back among them
    _given: deque[int] = field(default_factory=deque)
    _choices: list[Sequence[Choice]] = field(default_factory=list)  # one for each token
    _line: int = 0  # the token at which the current line begins
    _known: set[tuple[int, ...]] = field(default_factory=set)
    _waiting: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)
    _forced: int = 0  # tokens of the current line that were not the model's own
    _tries: int = 0
    _first: tuple[int, ...] = ()  # the current line as the model would have it
    _settled: bool = False  # whether the current line stays, whatever the guide says
    _returns: int = 0
    _furthest: int = 0
    _thoughts: Doubts = field(default_factory=lambda: Doubts(_RETHOUGHT))
    _block: Doubts = field(default_factory=lambda: Doubts(_DOUBTS))

    @property
    def daring(self) -> float:
        """What the temperature is multiplied with."""
        return _DARING if self._line < self._furthest else 1.0

    @property
    def waits_with_given(self) -> bool:
        """Whether the next token is given, and nothing need be drawn."""
        return bool(self._given)

    def asks(self, drawn: int) -> bool:
        """Whether the guide is asked when this token is taken."""
        if self.guide is None:
            return False
        token = self._given[0] if self._given else drawn
        return token == self.words.end or (token == self.words.newline and len(self._given) <= 1)

    def is_over(self, most: int) -> bool:
        """Whether nothing more is drawn for an answer of at most so many tokens."""
        written = len(self.tokens)
        lost = self.taken - written > max(_DETOURS, written)
        return self.ended or self.given_up or written >= most or lost

    def take(self, drawn: int, choices: Sequence[Choice]) -> tuple[int, int]:
        """A token was drawn: the one to go on with, and how many before it are taken back."""
        self.taken += 1
        own = not self._given
        token = drawn if own else self._given.popleft()
        given = bool(self._given)
        self.tokens.append(token)
        self._choices.append(choices if own else ())  # what is given is not doubted
        if token == self.words.end:
            return self._judged(self.guide.end if self.guide else None, ended=True)
        if token == self.words.newline:
            if given:  # more lines are given: nobody asks
                self._begin_line()
                return token, 0
            return self._judged(self.guide.line if self.guide else None, ended=False)
        return token, 0

    def _judged(self, judge: Callable[[str], Advice] | None, *, ended: bool) -> tuple[int, int]:
        token = self.tokens[-1]
        advice = judge(self._text()) if judge is not None else Advice()
        if advice.keep or self._settled:
            then = advice.then if advice.keep else ""
            self._given.extend(self.words.tokens(then) if then else ())
            if ended:
                self.tokens.pop()
                self.ended = True
            else:
                self._begin_line()
            return token, 0
        self.refused += 1
        if advice.then:
            place = self._begins(advice.lines)
            return self._back_to(place, self.words.tokens(advice.then))
        self._tries += 1
        if self._tries == 1:
            self._first = tuple(self.tokens[self._line :])
        self._note_others()
        if self._waiting and self._tries <= self._tried_at_most(ended=ended):
            return self._back_to(self._line, heapq.heappop(self._waiting)[1])
        if not ended and (doubt := self._doubted(thought=advice.thought)) is not None:
            return self._back_to(*doubt)
        if advice.thought:  # the model's own stays: a program may be right all the same
            first = self._first
            back = self._back_to(self._line, first)
            self._settled = True
            return back
        if ended or self._returns >= _RETURNS:
            self.given_up = True
            return token, 0
        self._returns += 1
        self._furthest = max(self._furthest, len(self.tokens))
        place = self._earlier()
        given = self.guide.line(self.words.text(self.tokens[:place])).then if self.guide else ""
        return self._back_to(place, self.words.tokens(given) if given else ())

    def _text(self) -> str:
        kept = self.tokens[:-1] if self.tokens[-1] == self.words.end else self.tokens
        return self.words.text(kept)

    def _begin_line(self) -> None:
        self._line = len(self.tokens)
        self._known.clear()
        self._waiting.clear()
        self._forced = self._tries = 0
        self._settled = False

    def _begins(self, lines: int) -> int:
        """The token at which the last so many lines begin, the current one among them, which may
        have been begun anew after the first token."""
        return self._line if lines == 1 else self._beginnings()[-lines:][0]

    def _beginnings(self) -> list[int]:
        """The tokens at which lines begin."""
        ends = [n + 1 for n, t in enumerate(self.tokens[: self._line]) if t == self.words.newline]
        return [0, *ends]

    def _note_others(self) -> None:
        """What else the model held for possible in the refused line."""
        line = self.tokens[self._line :]
        chance = 0.0
        for place, token in enumerate(line):
            choices = dict(self._choices[self._line + place])
            if place >= self._forced - 1:
                for other, logarithm in choices.items():
                    text = (*line[:place], other)
                    if other != token and text not in self._known:
                        self._known.add(text)
                        heapq.heappush(self._waiting, (-(chance + logarithm), text))
            chance += choices.get(token, min(choices.values(), default=0.0))

    def _tried_at_most(self, *, ended: bool) -> int:
        if ended:
            return _ENDINGS
        return _AGAIN if self._block.begin == self._quoted() and self._block.count else _TRIES

    def _doubted(self, *, thought: bool) -> tuple[int, tuple[int, ...]] | None:
        """Where something earlier may have been wrong, and what could stand there instead: what a
        kernel counts in is said before what it reads and leaves, and settles it; what a value is
        computed of is settled before its last instruction."""
        begin = max(1, self._begins(_SPAN)) if thought else self._quoted()
        if not thought and self._block.begin != begin:
            self._block = Doubts(_DOUBTS, begin)
        doubts = self._thoughts if thought else self._block
        text = doubts.other(self.tokens, self._choices, range(begin, self._line))
        if text is None:
            return None
        pairs = enumerate(zip(text, self.tokens, strict=False))
        differs = next((place for place, (new, old) in pairs if new != old), len(text) - 1)
        place = max(begin for begin in self._beginnings() if begin <= differs)
        return place, text[place:]

    def _quoted(self) -> int:
        """The token after the last quotes but one before the current line, or after the function's
        head: a value that came out wrong may have been begun too early."""
        lines = self.words.text(self.tokens[: self._line]).splitlines()
        ends = self._beginnings()[1:]
        marked = [(_is_mark(line), end) for line, end in zip(lines, ends, strict=False)]
        runs = [end for (mark, end), (again, _) in pairwise([*marked, (False, 0)]) if mark > again]
        return runs[-2:][0] if runs else 1

    def _back_to(self, place: int, given: Sequence[int]) -> tuple[int, int]:
        """Everything from a token on is taken back; the newline before it is read once more, so
        that the model says what may follow."""
        if place < self._line:
            self._begin_line()
            self._line = place
        self._forced = len(given)
        again = self.tokens[place - 1] if place else None
        back = len(self.tokens) - place - 1  # the last one was not read yet
        del self.tokens[place:], self._choices[place:]
        self._given = deque(given)
        if again is None:
            token = self._given.popleft()
            self.tokens.append(token)
            self._choices.append(())
            return token, back
        return again, back + 1

    def _earlier(self) -> int:
        """Where to draw anew: where the function begins that the answer is in; a host that fails
        twice at a kernel has that kernel to blame."""
        lines = self.words.text(self.tokens[: self._line]).splitlines(keepends=True)
        ends = self._beginnings()[1:]
        earlier = [pair for pair in zip(lines, ends, strict=False) if pair[1] < self._line]
        found = [end for line, end in earlier if _begins(line)]
        blamed = prepared("".join(lines)) if self._returns > 1 else None
        for line, end in earlier:
            if blamed is not None and line == f"def {blamed[0]}():\n":
                found = [start for start in found if start < end]
        return found[-1] if found else 1  # the question before the first token stays as it is read


def _begins(line: str) -> bool:
    """Whether a function begins after a line."""
    return line.startswith(("@", "):"))


def _is_mark(line: str) -> bool:
    """Whether what follows a line does not depend on what was computed before it."""
    return is_quote(line) or line.startswith(("@", "def ", "):"))
