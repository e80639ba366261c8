# SPDX-License-Identifier: Apache-2.0
"""Who writes the programs."""

from __future__ import annotations

from npuforge.errors import UsageError
from npuforge.generate.pipeline import Planner
from npuforge.plan import planner

STRATEGIES: dict[str, Planner] = {"planner": planner.plan}


def find(strategy: str) -> Planner:
    """The strategy of that name."""
    if strategy not in STRATEGIES:
        raise UsageError(f"no strategy {strategy!r}; strategies: {', '.join(STRATEGIES)}")
    return STRATEGIES[strategy]
