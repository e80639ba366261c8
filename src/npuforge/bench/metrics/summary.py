# SPDX-License-Identifier: Apache-2.0
"""A run's totals as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics.estimators import Estimate
from npuforge.bench.metrics.figures import Figures, figures
from npuforge.bench.metrics.groups import by_category, by_level
from npuforge.bench.task import Task


def summary(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> dict[str, Any]:
    """In all, by category and by level. Shares are of 1; what was not taken is None."""
    return {
        **_object(figures(tasks, attempts)),
        "categories": {
            name: _object(found) for name, found in by_category(tasks, attempts).items()
        },
        "levels": {
            str(level): _object(found) for level, found in by_level(tasks, attempts).items()
        },
    }


def _object(found: Figures) -> dict[str, Any]:
    estimates = {
        "compile": found.compiled,
        "published": found.published,
        "strict": found.strict,
        "correct": found.passed,
        **{f"fast_{x}": estimate for x, estimate in found.fast.items()},
        **{f"fast_p_{p}": estimate for p, estimate in found.fast_p.items()},
        "speedup_geometric_mean": found.speedup_mean,
        "speedup_median": found.speedup_median,
        "seconds_per_task": found.seconds,
        "tokens_per_task": found.tokens,
    }
    return {
        **{name: estimate.value for name, estimate in estimates.items()},
        "intervals": {name: _interval(estimate) for name, estimate in estimates.items()},
        "compile_at": _keys(found.compile_at),
        "pass_at": _keys(found.pass_at),
        "tasks": found.tasks,
        "attempted": found.attempted,
        "attempts": found.attempts,
        "passed": found.passed_tasks,
        "timed": found.timed,
        "untimed": found.untimed,
        "unplanned": found.unplanned,
        "weak": found.weak,
        "states": dict(found.states),
        "cheats": found.cheats,
        "violations": found.violations,
        "races": found.races,
        "baselines": found.baselines,
    }


def _interval(estimate: Estimate) -> list[float] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return [estimate.low, estimate.high]


def _keys(values: Mapping[int, float]) -> dict[str, float]:
    return {str(k): value for k, value in values.items()}
