# SPDX-License-Identifier: Apache-2.0
"""A row of the plain tables: tasks, compiled, published, passed, Fast_0.8, Fast_1.0, median,
unplanned."""

from __future__ import annotations

from npuforge.bench.metrics import Figures
from npuforge.bench.report.published import Result
from npuforge.bench.report.words import NOTHING, percent, times


def ours(found: Figures) -> list[str]:
    """A part of a run; tasks as `12/52` while not all were attempted."""
    part = found.attempted < found.tasks
    return [
        f"{found.attempted}/{found.tasks}" if part else str(found.tasks),
        percent(found.compiled.value),
        percent(found.published.value),
        percent(found.passed.value),
        percent(found.fast[0.8].value),
        percent(found.fast[1.0].value),
        times(found.speedup_median.value),
        str(found.unplanned or ""),
    ]


def theirs(result: Result) -> list[str]:
    """A published result; they pass by the suite's own check, and know no other."""
    return [
        NOTHING if result.tasks is None else str(result.tasks),
        percent(result.share("compile")),
        percent(result.share("pass")),
        "",
        percent(result.share("0.8")),
        percent(result.share("1.0")),
        "" if result.speedup is None else times(result.speedup),
        "",
    ]
