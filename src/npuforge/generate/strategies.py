# SPDX-License-Identifier: Apache-2.0
"""Who writes the programs."""

from __future__ import annotations

import importlib

from npuforge.errors import UsageError
from npuforge.generate.pipeline import Planner

# name: module and function
STRATEGIES = {"planner": ("npuforge.plan.planner", "plan")}


def find(strategy: str) -> Planner:
    """The strategy of that name; it is imported when it is used."""
    if strategy not in STRATEGIES:
        raise UsageError(f"no strategy {strategy!r}; strategies: {', '.join(STRATEGIES)}")
    module, function = STRATEGIES[strategy]
    found: Planner = getattr(importlib.import_module(module), function)
    return found
