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


Event = StageStarted | StageDone | CandidateTimed | CaseDone
Observer = Callable[[Event], None]


def silent(event: Event) -> None:
    """Nobody listens."""
