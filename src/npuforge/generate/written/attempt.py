# SPDX-License-Identifier: Apache-2.0
"""One program by a model, and how far it came."""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.generate.outcome import Candidate, State
from npuforge.generate.proof import Proof
from npuforge.generate.tuning import Trial
from npuforge.generate.written.feedback import Cause, Feedback
from npuforge.twin.execute import RunResult

_STEPS: tuple[Cause, ...] = (
    "no answer",
    "does not parse",
    "does not compile",
    "does not run",
    "rule",
    "race",
    "wrong",
    "slow",
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """`trial` is None where there was no program to try; `timed` follows a proof that holds."""

    title: str
    feedback: Feedback
    trial: Trial | None = None
    proof: Proof | None = None
    timed: RunResult | None = None
    trace: bytes = b""

    @property
    def right(self) -> bool:
        return self.proof is not None and self.proof.holds

    @property
    def time_us(self) -> float | None:
        timing = self.timed.timing if self.timed is not None else None
        return timing.time_us if timing is not None else None

    @property
    def roofline(self) -> float | None:
        timing = self.timed.timing if self.timed is not None else None
        return timing.roofline.share if timing is not None else None

    @property
    def worth(self) -> tuple[int, float, float]:
        """The larger the better: how far it came, right cases, speed."""
        right = 0
        if self.proof is not None:
            right = sum(case.correct is True for case in self.proof.cases)
        speed = 1.0 / self.time_us if self.right and self.time_us else 0.0
        return _STEPS.index(self.feedback.cause), float(right), speed

    def candidate(self, chosen: Attempt | None) -> Candidate | None:
        """As the report shows it; None where there is no program to show."""
        if self.trial is None:
            return None
        variant = self.trial.variant
        if self is chosen:
            return Candidate(variant, "chosen", self.time_us)
        if self.right:
            return Candidate(variant, "slower", self.time_us)
        state: State = "failed" if self.proof is None else "wrong"
        return Candidate(variant, state, None, self.feedback.short)
