# SPDX-License-Identifier: Apache-2.0
"""The suite's own figures: rates of each level, and the total in both of its ways.

The repository counts samples: those that are right in all their cases, over all. The paper takes
for each task the share of cases passed, and its mean over tasks. Tasks that cannot be judged here
are in neither.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence

from npuforge.bench.attempt import Attempt
from npuforge.bench.suite import Score

WEIGHTS = {1: 0.2, 2: 0.3, 3: 0.5}
_STAGES = (("parsed", "parse"), ("compiled", "compile"), ("precise", "precision"))


def scores(attempts: Sequence[Attempt], levels: Mapping[str, int], each: int) -> list[Score]:
    """`levels` by task; `each` is the number of samples in an attempt that left no count."""
    judged = [attempt for attempt in attempts if attempt.state != "unusable"]
    found: list[Score] = []
    rates: dict[int, float] = {}
    means: dict[int, float] = {}
    for level in sorted({levels[attempt.task] for attempt in attempts}):
        here = [attempt for attempt in judged if levels[attempt.task] == level]
        left = sum(levels[a.task] == level for a in attempts) - len(here)
        total = sum(_count(attempt, "samples", each) for attempt in here)
        note = f"{total:g} samples" + (f", {left} attempts left out as unusable" if left else "")
        for name, title in _STAGES:
            value = sum(_count(a, name, 0) for a in here) / total if total else None
            found.append(Score(f"level {level} {title} pass rate", value, 1.0, note))
            if name == "precise" and value is not None:
                rates[level] = value
        if here:
            means[level] = _mean(here)
            found.append(Score(f"level {level} mean task score", means[level], 100.0, "paper"))
    missing = [level for level in WEIGHTS if level not in rates]
    partly = f"; without level {', '.join(map(str, missing))}" if missing else ""
    found.append(
        Score(
            "total (repository)",
            sum(WEIGHTS[level] * rate for level, rate in rates.items()) if rates else None,
            1.0,
            f"0.2, 0.3 and 0.5 times the precision pass rates{partly}",
        )
    )
    found.append(
        Score(
            "total (paper)",
            sum(WEIGHTS[level] * mean for level, mean in means.items()) if means else None,
            100.0,
            f"0.2, 0.3 and 0.5 times the mean task scores{partly}",
        )
    )
    return found


def _count(attempt: Attempt, name: str, otherwise: int) -> float:
    found = attempt.scores.get(name)
    return otherwise if found is None else found


def _mean(attempts: Sequence[Attempt]) -> float:
    """The mean over tasks of the cases passed, in hundredths."""
    shares: dict[str, list[float]] = defaultdict(list)
    for attempt in attempts:
        cases = _count(attempt, "cases", 0)
        shares[attempt.task].append(_count(attempt, "cases_passed", 0) / cases if cases else 0.0)
    return 100.0 * statistics.fmean(statistics.fmean(of_task) for of_task in shares.values())
