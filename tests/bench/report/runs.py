# SPDX-License-Identifier: Apache-2.0
"""Small runs, made of nothing but tasks and attempts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npuforge.bench.attempt import Attempt, State
from npuforge.bench.task import Task
from npuforge.verdict import Verdict

EVIL = '</script><script>alert(1)</script><img src=x onerror="alert(1)">&<b>\x1b[31m\u202e'


def task(name: str, level: int | None = None) -> Task:
    return Task(name, name.partition("/")[0], level, Path(name))


def seven_categories() -> list[Task]:
    """As many tasks as MultiKernelBench has in the categories that AscendCraft took."""
    counts = {
        "activation": 15,
        "loss": 7,
        "math": 6,
        "normalization": 8,
        "optimizer": 5,
        "reduce": 5,
        "pooling": 6,
    }
    return [task(f"{name}/x{i}") for name, count in counts.items() for i in range(count)]


def good(name: str, sample: int = 0, *, speedup: float | None = 2.0, **changes: Any) -> Attempt:
    """Passed, ten microseconds."""
    verdict = Verdict(
        name,
        category=name.partition("/")[0],
        compiled=True,
        correct=True,
        time_us=10.0,
        baseline_us=None if speedup is None else 10.0 * speedup,
        baseline_source=None if speedup is None else "measured",
        speedup=speedup,
        seconds=4.0,
        bottleneck="memory",
    )
    return Attempt(name, sample, "judged", verdict, True, True, **changes)


def bad(name: str, sample: int = 0, *, published: bool = False, **changes: Any) -> Attempt:
    """Compiled, and wrong."""
    verdict = Verdict(
        name, category=name.partition("/")[0], compiled=True, correct=False, seconds=2.0
    )
    return Attempt(name, sample, "judged", verdict, published, False, **changes)


def ended(name: str, state: State, reason: str = "so it is") -> Attempt:
    """Never judged."""
    verdict = Verdict(name, category=name.partition("/")[0], seconds=1.0)
    return Attempt(name, 0, state, verdict, reason=reason)
