# SPDX-License-Identifier: Apache-2.0
"""The figures of a set of tasks.

Shares are over all tasks attempted, whatever became of them: a task that could not be planned, or
whose attempt crashed, counts as not passed. With several samples a task counts with the share of
its samples that succeed, which is compile@1, pass@1 and so on; `at` has other k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from npuforge.bench.attempt import Attempt, State
from npuforge.bench.metrics import estimators
from npuforge.bench.metrics.estimators import Estimate
from npuforge.bench.task import Task

FAST_X = (0.2, 0.8, 1.0)  # AscendCraft's: at least x times as fast
FAST_P = (0.0, 1.0, 1.5, 2.0)  # KernelBench's: more than p times as fast
_KS = (1, 5, 10, 100)  # of compile@k and pass@k, as far as there are samples

Samples = Sequence[Attempt]
Test = Callable[[Attempt], bool]


@dataclass(frozen=True, slots=True)
class Figures:
    """What a set of tasks came to. Counts are of tasks where they do not say attempts.

    `weak` are tasks that the suite's own check lets pass and ours does not. `untimed` are passed
    tasks without a speed-up, which no Fast_x counts. A task's speed-up is that of its fastest
    sample that passed.
    """

    tasks: int
    attempted: int
    attempts: int
    compiled: Estimate
    published: Estimate
    strict: Estimate
    passed: Estimate
    passed_tasks: int
    fast: dict[float, Estimate]
    fast_p: dict[float, Estimate]
    compile_at: dict[int, float]
    pass_at: dict[int, float]
    speedup_mean: Estimate
    speedup_median: Estimate
    timed: int
    untimed: int
    unplanned: int
    weak: int
    cheats: dict[str, int]
    states: dict[State, int]
    violations: int
    races: int
    baselines: dict[str, int]
    seconds: Estimate
    tokens: Estimate


def figures(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> Figures:
    """The figures of these tasks; attempts at others are left out."""
    sets = [samples for samples in grouped(tasks, attempts).values() if samples]
    own = [attempt for samples in sets for attempt in samples]
    passed = [samples for samples in sets if any(attempt.passed for attempt in samples)]
    speedups = [speedup for samples in passed if (speedup := best_speedup(samples)) is not None]
    return Figures(
        tasks=len(tasks),
        attempted=len(sets),
        attempts=len(own),
        compiled=share(sets, _compiled),
        published=_known_share(sets, lambda attempt: attempt.published),
        strict=_known_share(sets, lambda attempt: attempt.strict),
        passed=share(sets, _passed),
        passed_tasks=len(passed),
        fast={x: _fast(sets, speedups, passed, at_least(x)) for x in FAST_X},
        fast_p={p: _fast(sets, speedups, passed, more_than(p)) for p in FAST_P},
        compile_at=at(sets, _compiled),
        pass_at=at(sets, _passed),
        speedup_mean=estimators.geometric_mean(speedups),
        speedup_median=estimators.median(speedups),
        timed=len(speedups),
        untimed=len(passed) - len(speedups),
        unplanned=sum(all(attempt.state == "unplanned" for attempt in s) for s in sets),
        weak=sum(map(is_weak, sets)),
        cheats=_cheats(own),
        states=_states(own),
        violations=sum(map(_errors, own)),
        races=sum(len(attempt.verdict.races) for attempt in own),
        baselines=_baselines(passed),
        seconds=estimators.mean(_per_task(sets, lambda attempt: attempt.verdict.seconds)),
        tokens=estimators.mean(_per_task(sets, lambda attempt: attempt.tokens)),
    )


def grouped(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> dict[str, list[Attempt]]:
    """The samples of every task, in the order of the tasks; none where none was made."""
    found: dict[str, list[Attempt]] = {task.name: [] for task in tasks}
    for attempt in attempts:
        if attempt.task in found:
            found[attempt.task].append(attempt)
    return found


def share(sets: Sequence[Samples], test: Test) -> Estimate:
    """Success at one sample. Tasks that succeed always or never are trials; others make a mean.

    A bootstrap of tasks that all failed would be certain of 0 %, however few they are.
    """
    shares = [sum(map(test, samples)) / len(samples) for samples in sets]
    if all(value in (0.0, 1.0) for value in shares):
        return estimators.wilson(round(sum(shares)), len(sets))
    return estimators.mean(shares)


def at(sets: Sequence[Samples], test: Test) -> dict[int, float]:
    """Success at k samples, the mean over tasks, for every k that all tasks have samples for."""
    fewest = min(map(len, sets), default=0)
    return {
        k: sum(estimators.at_k(len(s), sum(map(test, s)), k) for s in sets) / len(sets)
        for k in _KS
        if k <= fewest
    }


def at_least(x: float) -> Test:
    """AscendCraft's Fast_x."""
    return lambda attempt: (
        attempt.passed and attempt.verdict.speedup is not None and attempt.verdict.speedup >= x
    )


def more_than(p: float) -> Test:
    """KernelBench's fast_p; every time is more than 0 times as fast, so fast_0 is correctness."""
    return lambda attempt: (
        attempt.passed
        and (p == 0 or (attempt.verdict.speedup is not None and attempt.verdict.speedup > p))
    )


def best(samples: Samples) -> Attempt | None:
    """The fastest sample that passed, or the first that did where none is timed."""
    passed = [attempt for attempt in samples if attempt.passed]
    timed = [attempt for attempt in passed if attempt.verdict.time_us is not None]
    return min(timed, key=lambda a: a.verdict.time_us or 0.0, default=next(iter(passed), None))


def best_speedup(samples: Samples) -> float | None:
    """The speed-up of the fastest sample that passed."""
    found = best(samples)
    speedup = found.verdict.speedup if found is not None else None
    return speedup if speedup is not None and speedup > 0 else None


def is_weak(samples: Samples) -> bool:
    """Whether the suite's own check passes a sample that ours does not."""
    return any(attempt.published is True and attempt.strict is False for attempt in samples)


def _compiled(attempt: Attempt) -> bool:
    return attempt.verdict.compiled is True


def _passed(attempt: Attempt) -> bool:
    return attempt.passed


def _errors(attempt: Attempt) -> int:
    return sum(violation.severity == "error" for violation in attempt.verdict.violations)


def _known_share(sets: Sequence[Samples], judged: Callable[[Attempt], bool | None]) -> Estimate:
    """Nothing where this judgement was made of nothing that runs: that is not 0 %."""
    runs = [attempt for samples in sets for attempt in samples if _compiled(attempt)]
    if runs and all(judged(attempt) is None for attempt in runs):
        return Estimate()
    return share(sets, lambda attempt: judged(attempt) is True)


def _fast(
    sets: Sequence[Samples], speedups: Sequence[float], passed: Sequence[Samples], test: Test
) -> Estimate:
    """Not taken where something passed and nothing of it was timed, unless time does not matter."""
    if passed and not speedups and not any(test(a) for samples in passed for a in samples):
        return Estimate()
    return share(sets, test)


def _cheats(attempts: Samples) -> dict[str, int]:
    """Attempts by kind of cheat, the most frequent first."""
    counts = Counter(kind for a in attempts for kind in {cheat.kind for cheat in a.cheats})
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _states(attempts: Samples) -> dict[State, int]:
    counts = Counter(attempt.state for attempt in attempts)
    states: tuple[State, ...] = get_args(State)
    return {state: counts[state] for state in states}


def _baselines(passed: Sequence[Samples]) -> dict[str, int]:
    """Where the baseline of the passed tasks comes from."""
    known = [found.verdict.baseline_source for s in passed if (found := best(s)) is not None]
    return dict(sorted(Counter(source for source in known if source is not None).items()))


def _per_task(
    sets: Sequence[Samples], taken: Callable[[Attempt], float | int | None]
) -> list[float]:
    """What each task took, all its samples together; tasks of which nothing is known left out."""
    sums = [[x for attempt in samples if (x := taken(attempt)) is not None] for samples in sets]
    return [float(sum(known)) for known in sums if known]
