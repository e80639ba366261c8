# SPDX-License-Identifier: Apache-2.0
"""Two runs, task by task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import msgspec

from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics import Estimate
from npuforge.bench.metrics.estimators import geometric_mean, mean, paired_shares
from npuforge.bench.metrics.figures import best, grouped
from npuforge.bench.report.run import Run
from npuforge.bench.report.words import plain, result

# Of tasks in both runs the first four; "gone" is only in the first, "new" only in the second.
Kind = Literal["broken", "fixed", "slower", "faster", "gone", "new"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Settings that change what a time means: with other shapes or another chip it is another time.
OF_TIME = ("suite", "shapes", "soc", "sizes", "cases")


@dataclass(frozen=True, slots=True)
class Change:
    """A task that is not the same; `time_a` and `time_b` in us, `ratio` is b over a.

    `was` and `now` are empty where the run does not have the task.
    """

    task: str
    kind: Kind
    was: str
    now: str
    time_a: float | None = None
    time_b: float | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`passed` is the difference of the shares passed, b less a, over tasks that both attempted.

    `time` is the geometric mean of b's time over a's where both passed; None where the runs do not
    time the same. `settings` has what differs: name to (a, b). `lost` names the tasks that passed
    in a and do not in b, be they broken or gone.
    """

    a: str
    b: str
    settings: dict[str, tuple[Any, Any]]
    common: int
    only_a: list[str]
    only_b: list[str]
    passed_a: float | None
    passed_b: float | None
    passed: Estimate
    time: Estimate
    timed: int
    changes: list[Change]
    lost: list[str]

    def of(self, kind: Kind) -> list[Change]:
        """Changes of a kind; of times, the largest first."""
        found = [change for change in self.changes if change.kind == kind]
        if kind in ("slower", "faster"):
            return sorted(found, key=lambda change: -abs(math.log(change.ratio or 1.0)))
        return found


def compare(a: Run, b: Run, threshold: float) -> Comparison:
    """What became of every task; a time differs where it does by more than `threshold` of it."""
    samples_a, samples_b = _attempted(a), _attempted(b)
    common = [name for name in samples_a if name in samples_b]
    settings = _differing(a, b)
    comparable = not set(settings) & set(OF_TIME)
    changes: list[Change] = []
    ratios: list[float] = []
    for name in common:
        before, after = samples_a[name], samples_b[name]
        ratio = _ratio(before, after) if comparable else None
        if ratio is not None:
            ratios.append(ratio)
        kind = _kind(before, after, ratio, threshold)
        if kind is not None:
            times = (_time(before), _time(after))
            changes.append(Change(name, kind, _word(before), _word(after), *times, ratio))
    only_a = [name for name in samples_a if name not in samples_b]
    only_b = [name for name in samples_b if name not in samples_a]
    changes += [Change(name, "gone", _word(samples_a[name]), "") for name in only_a]
    changes += [Change(name, "new", "", _word(samples_b[name])) for name in only_b]
    shares_a = [_share(samples_a[name]) for name in common]
    shares_b = [_share(samples_b[name]) for name in common]
    return Comparison(
        a=a.name,
        b=b.name,
        settings=settings,
        common=len(common),
        only_a=only_a,
        only_b=only_b,
        passed_a=sum(shares_a) / len(common) if common else None,
        passed_b=sum(shares_b) / len(common) if common else None,
        passed=_difference(shares_a, shares_b),
        time=geometric_mean(ratios),
        timed=len(ratios),
        changes=changes,
        lost=[
            change.task
            for change in changes
            if change.kind == "broken"
            or (change.kind == "gone" and _share(samples_a[change.task]) > 0)
        ],
    )


def to_json(found: Comparison) -> str:
    """All of it; an interval that was not taken is null."""
    return msgspec.json.format(msgspec.json.encode(found)).decode()


def _attempted(run: Run) -> dict[str, list[Attempt]]:
    return {name: made for name, made in grouped(run.tasks, run.attempts).items() if made}


def _differing(a: Run, b: Run) -> dict[str, tuple[Any, Any]]:
    old, new = msgspec.to_builtins(a.settings), msgspec.to_builtins(b.settings)
    differing = {name: (old[name], new[name]) for name in old if old[name] != new[name]}
    if None in differing.get("path", ()):  # a snapshot does not say where the checkout was
        del differing["path"]
    return differing


def _difference(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Of single samples as of pairs of successes, of several as a mean over tasks."""
    pairs = list(zip(a, b, strict=True))
    if all(share in (0.0, 1.0) for pair in pairs for share in pair):
        gained = sum(new > old for old, new in pairs)
        return paired_shares(gained, sum(new < old for old, new in pairs), len(pairs))
    return mean([new - old for old, new in pairs])


def _kind(
    before: Sequence[Attempt], after: Sequence[Attempt], ratio: float | None, threshold: float
) -> Kind | None:
    """Fixed and broken are about passing at all; between them, time is not looked at."""
    passed_before = any(attempt.passed for attempt in before)
    passed_after = any(attempt.passed for attempt in after)
    if passed_before != passed_after:
        return "fixed" if passed_after else "broken"
    if ratio is None:
        return None
    if ratio > 1 + threshold:
        return "slower"
    return "faster" if ratio < 1 / (1 + threshold) else None


def _ratio(before: Sequence[Attempt], after: Sequence[Attempt]) -> float | None:
    old, new = _time(before), _time(after)
    return None if not old or not new else new / old


def _time(samples: Sequence[Attempt]) -> float | None:
    found = best(samples)
    return None if found is None else found.verdict.time_us


def _share(samples: Sequence[Attempt]) -> float:
    return sum(attempt.passed for attempt in samples) / len(samples)


def _word(samples: Sequence[Attempt]) -> str:
    """What the task came to: the best sample's word, with the reason where there is one."""
    shown = best(samples) or samples[0]
    words = result(shown)
    return plain(f"{words}: {shown.reason}") if shown.reason and not shown.passed else words
