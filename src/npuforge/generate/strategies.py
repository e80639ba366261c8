# SPDX-License-Identifier: Apache-2.0
"""Who writes the programs."""

from __future__ import annotations

from npuforge.errors import UsageError
from npuforge.generate.pipeline import Planner
from npuforge.plan import CUBE, planner

# Operations that a strategy has no plan for, whatever is around them.
REFUSED: dict[str, frozenset[str]] = {"planner": CUBE}
STRATEGIES: dict[str, Planner] = {"planner": planner.plan}


def find(strategy: str) -> Planner:
    """The strategy of that name."""
    if strategy not in STRATEGIES:
        raise UsageError(f"no strategy {strategy!r}; strategies: {', '.join(STRATEGIES)}")
    return STRATEGIES[strategy]
