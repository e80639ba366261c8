# SPDX-License-Identifier: Apache-2.0
"""Figures of parts of a suite: its categories, its levels."""

from __future__ import annotations

from collections.abc import Sequence

from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics.figures import Figures, figures
from npuforge.bench.task import Task


def by_category(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> dict[str, Figures]:
    """In the order of the suite."""
    names = dict.fromkeys(task.category for task in tasks)
    return {
        name: figures([task for task in tasks if task.category == name], attempts) for name in names
    }


def by_level(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> dict[int, Figures]:
    """In the order of the levels; tasks without one are left out."""
    levels = sorted({task.level for task in tasks if task.level is not None})
    return {
        level: figures([task for task in tasks if task.level == level], attempts)
        for level in levels
    }
