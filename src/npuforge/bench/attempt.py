# SPDX-License-Identifier: Apache-2.0
"""What one sample of one task gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from npuforge.bench.task import Task
from npuforge.errors import UsageError
from npuforge.verdict import Verdict

# judged: there was an answer, and the verdict is on it. unplanned: the strategy says that it cannot
# write one. missing: no answer among those given. crashed, timeout: the attempt itself ended early.
# unusable: the task cannot be run here, whoever answers (its reference needs a device, say).
State = Literal["judged", "unplanned", "missing", "crashed", "timeout", "unusable"]


@dataclass(frozen=True, slots=True)
class Cheat:
    """A kind of `bench/cheats/kinds.toml`, and what gave it away."""

    kind: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """`verdict.correct` is both judgements and no cheat; None where nothing was judged.

    `published` is the suite's own check, `strict` ours. `reason` says in a line why there was no
    success. `lost` counts workers of a cluster that died with the attempt before it ended.
    `scores` are the suite's own figures (accuracy, HAP...). `files` names what was left in the
    attempt's folder, by what it is: answer, trace, log.
    """

    task: str
    sample: int
    state: State
    verdict: Verdict
    published: bool | None = None
    strict: bool | None = None
    cheats: list[Cheat] = field(default_factory=list)
    reason: str | None = None
    scores: dict[str, float | None] = field(default_factory=dict)
    tokens: int | None = None
    files: dict[str, str] = field(default_factory=dict)
    lost: int = 0

    @property
    def passed(self) -> bool:
        """Compiled, right by both judgements, and no cheat."""
        right = self.verdict.correct is True and self.verdict.ok
        return self.state == "judged" and right and not self.cheats

    @staticmethod
    def ended_early(task: Task, sample: int, state: State, reason: str) -> Attempt:
        """Return the attempt of a process that ended without leaving one."""
        verdict = Verdict(task.name, task.category, task.level, error=reason)
        return Attempt(task.name, sample, state, verdict, reason=reason)

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)

    @staticmethod
    def from_json(text: bytes | str) -> Attempt:
        """`UsageError` says what is wrong with the text."""
        try:
            return msgspec.json.decode(text, type=Attempt)
        except msgspec.DecodeError as error:
            raise UsageError(f"not an attempt: {error}") from error
