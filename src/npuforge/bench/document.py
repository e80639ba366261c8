# SPDX-License-Identifier: Apache-2.0
"""A run as the JSON that `bench --json` writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics import summary
from npuforge.bench.settings import Settings
from npuforge.bench.suite import Score
from npuforge.bench.task import Task
from npuforge.fileformat import BENCH_JSON


def document(
    settings: Settings,
    tasks: Sequence[Task],
    attempts: Sequence[Attempt],
    scores: Sequence[Score],
) -> dict[str, Any]:
    """Suite, settings, a verdict for each attempt with what the benchmark adds, and totals."""
    return {
        "format": BENCH_JSON.number,
        "suite": settings.suite,
        "settings": msgspec.to_builtins(settings),
        "tasks": [_flat(attempt) for attempt in attempts],
        "summary": summary(tasks, attempts),
        "scores": [msgspec.to_builtins(score) for score in scores],
    }


def _flat(attempt: Attempt) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(attempt)
    verdict: dict[str, Any] = found.pop("verdict")
    return {**verdict, **found}
