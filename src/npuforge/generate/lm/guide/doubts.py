# SPDX-License-Identifier: Apache-2.0
"""Where something earlier may have been wrong, and how it could have gone on instead.

A line that cannot be written after what stands there says that what stands there is wrong. Of all
tokens before it, the one that the model was least sure of is the likeliest to blame.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

Choice = tuple[int, float]  # a token and the logarithm of its chance


@dataclass(slots=True)
class Doubts:
    """Of the tokens from a place on, so many times at most."""

    most: int
    begin: int = 0
    count: int = 0
    _waiting: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)
    _known: set[tuple[int, ...]] = field(default_factory=set)

    def other(
        self, tokens: Sequence[int], choices: Sequence[Sequence[Choice]], places: range
    ) -> tuple[int, ...] | None:
        """The likeliest text that differs in one token at one of these places, or in one of those
        that were doubted before."""
        if self.count >= self.most:
            return None
        self.count += 1
        for place in places:
            held = dict(choices[place])
            own = held.get(tokens[place], 0.0)
            for other, logarithm in held.items():
                text = (*tokens[:place], other)
                if other != tokens[place] and text not in self._known:
                    self._known.add(text)
                    heapq.heappush(self._waiting, (own - logarithm, text))
        return heapq.heappop(self._waiting)[1] if self._waiting else None
