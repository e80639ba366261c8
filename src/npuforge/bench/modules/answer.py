# SPDX-License-Identifier: Apache-2.0
"""What the judge of a module's task needs of an answer, whatever its form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from npuforge.bench.attempt import Cheat
from npuforge.bench.modules.reference import References
from npuforge.dtypes import HostTensor
from npuforge.twin.execute import Mode
from npuforge.twin.model_verify import Seen
from npuforge.twin.torchbind.candidate import CandidateResult
from npuforge.verdict import Diagnostic, Violation


@dataclass(slots=True)
class Ran:
    """A run over the checks: the results of each call, none where it did not come so far; what the
    kernels did; why it went no further. `done` is how an answer in Python behaved."""

    given: list[list[HostTensor]] = field(default_factory=list)
    seen: Seen = field(default_factory=Seen)
    error: str | None = None
    isolation: str | None = None
    done: CandidateResult | None = None


class Built(Protocol):
    @property
    def ok(self) -> bool: ...

    @property
    def diagnostics(self) -> Sequence[Diagnostic]: ...


class Answer(Protocol):
    """`takes_state`: it is called with the tensors that the task's own model has."""

    @property
    def takes_state(self) -> bool: ...

    def build(self) -> Built:
        """What can be built before the first call."""
        ...

    def run(self, references: References, mode: Mode) -> Ran:
        """Call it on every check that the task accepts; with mode `time` on the first alone."""
        ...

    def cheats(self, ran: Ran, references: References) -> list[Cheat]:
        """In its text and in what it did."""
        ...

    def timed_otherwise(self, checked: Ran, timed: Ran) -> list[Cheat]:
        """Where it does something else when its time is taken."""
        ...

    def lint(self) -> list[Violation]: ...

    def kernel_diagnostics(self) -> list[Diagnostic]: ...
