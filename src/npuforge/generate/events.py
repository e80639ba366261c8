# SPDX-License-Identifier: Apache-2.0
"""What a generation tells about itself while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npuforge.verdict import Case


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage began; `what` says in a few words what it does now."""

    name: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class StageDone:
    """A stage ended; `what` is what came of it."""

    name: str
    seconds: float
    what: str = ""


@dataclass(frozen=True, slots=True)
class CandidateTimed:
    """A variant was built and timed (None: it was not, and `note` says why)."""

    title: str
    time_us: float | None
    note: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class CaseDone:
    """A case was run and judged."""

    name: str
    case: Case
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Writing:
    """A model is at it: `letters` of its answer have come; `tokens` and `cost` are all so far."""

    title: str
    letters: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class ProgramJudged:
    """A model's program was judged: `said` is the first line of what goes back to it."""

    title: str
    said: str
    time_us: float | None
    tokens: int
    cost: float | None


Event = StageStarted | StageDone | CandidateTimed | CaseDone | Writing | ProgramJudged
Observer = Callable[[Event], None]


def silent(event: Event) -> None:
    """Nobody listens."""
