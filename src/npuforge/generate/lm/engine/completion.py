# SPDX-License-Identifier: Apache-2.0
"""A completion under way: drawn a token at a time, under a grammar and a check of its lines.

The grammar says which tokens may follow. Where only one text may follow, its tokens are forced:
they are appended and not drawn. The check accepts or rejects each line of the program and never
writes one. After a rejection the completion goes back to the beginning of the line, which is drawn
again at a higher temperature. A line that is rejected too often ends the completion without a
program.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from npuforge.generate.lm.engine.vocabulary import Vocabulary

_MOST_TRIES = 8  # of a line
_WARMER = 0.25  # added to the factor of the temperature for every rejection of a line


class Check(Protocol):
    """A judge of unfinished programs. Both methods return the reason for a rejection, or None."""

    def line(self, completion: str) -> str | None:
        """Judge the last line of a completion that ends with a whole line."""
        ...

    def end(self, completion: str) -> str | None:
        """Judge a whole completion."""
        ...


@dataclass(slots=True)
class Completion:
    """The tokens of a completion so far. `forced` counts tokens that the grammar left no choice in,
    `drawn` all tokens that the model drew, rejected ones included."""

    vocabulary: Vocabulary
    matcher: Any = None  # llguidance's, or None if any text may follow
    check: Check | None = None
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    drawn: int = 0
    rejected: int = 0  # lines
    ended: bool = False
    given_up: bool = False
    _pending: deque[int] = field(default_factory=deque)
    _line: int = 0  # the first token of the current line
    _forced_before_line: int = 0
    _tries: int = 0

    def __post_init__(self) -> None:
        self._force()

    @property
    def warmth(self) -> float:
        """Return the factor of the temperature for the next token."""
        return 1.0 + _WARMER * self._tries

    @property
    def is_forced(self) -> bool:
        """Return whether the grammar leaves no choice in the next token."""
        return bool(self._pending)

    def is_over(self, most: int) -> bool:
        """Return whether a completion of at most so many tokens goes no further."""
        spent = self.drawn > 2 * most  # rejected lines cost tokens, too
        return self.ended or self.given_up or spent or len(self.tokens) >= most

    def allows(self, token: int) -> bool:
        """Return whether the grammar allows a token next."""
        return self.matcher is None or self.matcher.validate_tokens([token]) == 1

    def mask(self) -> npt.NDArray[np.bool_] | None:
        """Return which tokens the grammar allows next, or None if it allows all."""
        if self.matcher is None:
            return None
        bits = np.frombuffer(self.matcher.compute_bitmask(), dtype=np.uint8)
        return np.unpackbits(bits, bitorder="little").astype(np.bool_)

    def asks(self, drawn: int) -> bool:
        """Return whether the next `take` runs the check, which takes milliseconds."""
        token = self._pending[0] if self._pending else drawn
        ends = token == self.vocabulary.end or self.vocabulary.ends_line(token)
        return self.check is not None and ends

    def take(self, drawn: int) -> tuple[int | None, int]:
        """Append the forced token, or else the drawn one. Return the token to read next (None at
        the end) and the number of tokens that are taken back before it."""
        if self._pending:
            token = self._pending.popleft()
            self.forced += token != self.vocabulary.end
        else:
            token = drawn
            self.drawn += 1
            if self.matcher is not None:
                self.matcher.consume_token(token)
        if token == self.vocabulary.end:
            return self._finish()
        self.tokens.append(token)
        if self.vocabulary.ends_line(token):
            text = self.vocabulary.text(self.tokens)
            if self.check is not None and self.check.line(text[: text.rindex("\n") + 1]):
                return self._reject()
            self._begin_line()
        self._force()
        return token, 0

    def _finish(self) -> tuple[int | None, int]:
        if self.check is not None and self.check.end(self.vocabulary.text(self.tokens)):
            if self.matcher is not None:
                self.matcher.rollback(1)
            self.tokens.append(self.vocabulary.end)  # goes with the line
            return self._reject(end=True)
        self.ended = True
        return None, 0

    def _begin_line(self) -> None:
        self._line = len(self.tokens)
        self._forced_before_line = self.forced
        self._tries = 0

    def _reject(self, *, end: bool = False) -> tuple[int | None, int]:
        """Go back to the beginning of the line. The token before it is read once more, so that the
        model says what may follow."""
        self.rejected += 1
        self._tries += 1
        count = len(self.tokens) - self._line
        if self._tries >= _MOST_TRIES or self._line == 0:
            self.given_up = True
            del self.tokens[self._line :]
            return None, 0
        # The last token was not read yet, and tokens that are pending were consumed already.
        if self.matcher is not None:
            self.matcher.rollback(count - end + len(self._pending))
        self._pending.clear()
        again = self.tokens[self._line - 1]
        del self.tokens[self._line :]
        self.forced = self._forced_before_line
        self._force()
        return again, count

    def _force(self) -> None:
        """Ask the grammar for tokens that it leaves no choice in."""
        if self.matcher is None or self._pending:
            return
        for token in self.matcher.compute_ff_tokens():
            if not self.matcher.consume_token(token):
                break
            self._pending.append(token)
        if not self._pending:
            self._force_only_choice()

    def _force_only_choice(self) -> None:
        """Force the end after a whole text, or the only token that the grammar allows."""
        if self.matcher.is_stopped():
            self._pending.append(self.vocabulary.end)
            return
        mask = self.mask()
        if mask is None:
            return
        choices = np.flatnonzero(mask)
        if len(choices) == 1 and self.matcher.consume_token(int(choices[0])):
            self._pending.append(int(choices[0]))
