# SPDX-License-Identifier: Apache-2.0
"""Who writes the programs."""

from __future__ import annotations

from npuforge.errors import UsageError
from npuforge.generate.planned import PlannedWriter
from npuforge.generate.writer import Planner, Writer
from npuforge.plan import CUBE, planner

# Operations that a strategy has no plan for, whatever is around them.
REFUSED: dict[str, frozenset[str]] = {"planner": CUBE}
STRATEGIES: dict[str, Planner] = {"planner": planner.plan}


def writer(strategy: str | Planner | Writer) -> Writer:
    """Who writes: a strategy by its name, a planner of the caller's own, or any writer."""
    if isinstance(strategy, str):
        return PlannedWriter(find(strategy), strategy)
    return strategy if isinstance(strategy, Writer) else PlannedWriter(strategy, strategy.__name__)


def find(strategy: str) -> Planner:
    """The planner of that name."""
    if strategy not in STRATEGIES:
        raise UsageError(f"no strategy {strategy!r}; strategies: {', '.join(STRATEGIES)}")
    return STRATEGIES[strategy]
