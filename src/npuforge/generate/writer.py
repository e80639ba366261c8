# SPDX-License-Identifier: Apache-2.0
"""Who writes programs: a planner, or anybody who has a workbench."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from npuforge.generate.cases import ProofCase
from npuforge.generate.workbench import Chosen, Workbench
from npuforge.plan import Plan
from npuforge.spec.graph import Graph


class Planner(Protocol):
    """A function that writes programs for a graph; `PlanError` says why it cannot."""

    __name__: str

    def __call__(self, graph: Graph, soc: str) -> Plan: ...


@runtime_checkable
class Writer(Protocol):
    """Writes, has it judged, writes again; `UsageError` says why it cannot. `name` is the
    strategy's, `forms` the formats it can hand over (None: all)."""

    @property
    def name(self) -> str: ...

    @property
    def forms(self) -> tuple[str, ...] | None: ...

    def cases(self, graph: Graph, module: str) -> list[ProofCase]:
        """What is to be proven besides the usual; `module` is its text."""
        ...

    def __call__(self, bench: Workbench) -> Chosen: ...
