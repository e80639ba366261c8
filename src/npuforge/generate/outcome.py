# SPDX-License-Identifier: Apache-2.0
"""What a generation ends with: everything the summary, the report and the folder are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from npuforge.eager import Baseline
from npuforge.plan import Plan, Variant
from npuforge.spec.graph import Graph
from npuforge.twin.timing.report import TimingReport
from npuforge.verdict import Verdict

# chosen: what was written. slower: timed, not the fastest. wrong: its proof failed.
# failed: it does not compile or refuses the shapes. untried: the budget was spent before it.
State = Literal["chosen", "slower", "wrong", "failed", "untried"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the plan's variants, with what tuning found out; `note` is why it was not chosen.

    `time_us` is at the full given shapes; None where none was taken.
    """

    variant: Variant
    state: State
    time_us: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Used:
    """Entries of the knowledge base that were before a model when it wrote `title`, and what
    changed with it: the fault of the program before, that of the one after, and the effect."""

    title: str
    ids: tuple[str, ...]
    before: str
    after: str
    effect: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the pipeline and its wall time. Stages may overlap."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A generated operator, or the best attempt at one: `verdict` says which.

    `reference` is the text of the module's file. `files` are path and text of the operator in the
    format `form`. `trace` is the timeline at the full shapes (Chrome's trace JSON), empty where
    none was made. `baseline` is eager PyTorch's time, where one is known. Candidates stand in the
    plan's order, the cost model's favourite first.
    """

    name: str
    graph: Graph
    plan: Plan
    reference: str
    candidates: tuple[Candidate, ...]
    verdict: Verdict
    form: str
    files: Mapping[str, str]
    timing: TimingReport | None = None
    trace: bytes = b""
    notes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = field(default=())
    baseline: Baseline | None = None
    used: tuple[Used, ...] = ()

    @property
    def chosen(self) -> Candidate:
        """The candidate that was written: the fastest proven one, or else the first tried."""
        for candidate in self.candidates:
            if candidate.state == "chosen":
                return candidate
        return self.candidates[0]

    @property
    def program(self) -> str:
        """The chosen program as it was written."""
        return self.chosen.variant.program

    @property
    def program_file(self) -> str:
        """What the program's file is called."""
        tile = self.chosen.variant.language == "tile"
        return f"{self.name}.{'tile.py' if tile else 'ascendc.cpp'}"
