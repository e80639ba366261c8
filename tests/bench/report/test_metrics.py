# SPDX-License-Identifier: Apache-2.0
"""Metrics: known answers, and what holds for any."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.bench.report.runs import bad, ended, good, task

from npuforge.bench.attempt import Attempt, Cheat
from npuforge.bench.metrics import figures, summary
from npuforge.bench.metrics.estimators import (
    at_k,
    geometric_mean,
    mean,
    median,
    paired_shares,
    wilson,
)
from npuforge.verdict import Race, Side, Violation


@given(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))
)
def test_at_k_is_the_share_of_draws_with_a_success(drawn: tuple[int, int, int]) -> None:
    n, c, k = drawn
    samples = [True] * c + [False] * (n - c)
    draws = [any(chosen) for chosen in itertools.combinations(samples, k)]
    assert at_k(n, c, k) == pytest.approx(sum(draws) / len(draws))


def test_at_k_refuses_what_cannot_be_drawn() -> None:
    for n, c, k in ((3, 4, 1), (3, 1, 4), (3, 1, 0)):
        with pytest.raises(ValueError, match="samples"):
            at_k(n, c, k)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(counts: tuple[int, int]) -> None:
    successes, trials = counts
    found = wilson(successes, trials)
    known = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


@settings(max_examples=20)
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40))
def test_bootstraps_hold_their_value_and_repeat(values: list[float]) -> None:
    for estimator, plain in (
        (mean, statistics.fmean),
        (median, statistics.median),
        (geometric_mean, statistics.geometric_mean),
    ):
        found = estimator(values)
        assert found == estimator(values)
        assert found.value == pytest.approx(plain(values))
        assert found.value is not None
        if len(values) == 1:
            assert found.low is None
        else:
            assert found.low is not None
            assert found.high is not None
            assert min(values) * (1 - 1e-9) <= found.low <= found.value * (1 + 1e-12)
            assert found.value <= found.high <= max(values) * (1 + 1e-9)


def test_the_bootstrap_is_about_the_normal_interval() -> None:
    values = [float(k) for k in range(200)]
    found = mean(values)
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    assert found.low == pytest.approx(99.5 - half, rel=0.03)
    assert found.high == pytest.approx(99.5 + half, rel=0.03)


def test_no_change_in_few_pairs_is_not_certain() -> None:
    few, many = paired_shares(0, 0, 5), paired_shares(0, 0, 500)
    assert few.value == many.value == 0
    assert few.high is not None
    assert many.high is not None
    assert few.high > 0.1
    assert 0.01 > many.high > 0
    found = paired_shares(9, 1, 40)
    assert found.low is not None
    assert found.low > 0
    assert paired_shares(0, 0, 0).value is None


def test_shares_are_of_all_tasks() -> None:
    tasks = [task(f"a/{n}") for n in range(8)]
    attempts = [
        good("a/0", speedup=1.0),
        good("a/1", speedup=0.8),
        good("a/2", speedup=0.1),
        bad("a/3", published=True),
        ended("a/4", "unplanned"),
        ended("a/5", "missing"),
        ended("a/6", "crashed"),
        ended("a/7", "unusable"),
    ]
    found = figures(tasks, attempts)
    assert found.compiled.value == 4 / 8
    assert found.published.value == 4 / 8
    assert found.strict.value == found.passed.value == 3 / 8
    assert found.passed.low == pytest.approx(0.1368, abs=1e-4)
    assert {x: e.value for x, e in found.fast.items()} == {0.2: 2 / 8, 0.8: 2 / 8, 1.0: 1 / 8}
    # KernelBench asks for more than p
    assert {p: e.value for p, e in found.fast_p.items()} == {0.0: 3 / 8, 1.0: 0, 1.5: 0, 2.0: 0}
    assert found.speedup_median.value == 0.8
    assert found.speedup_mean.value == pytest.approx((1.0 * 0.8 * 0.1) ** (1 / 3))
    assert found.unplanned == found.weak == 1
    assert found.states == {
        "judged": 4, "unplanned": 1, "missing": 1, "crashed": 1, "timeout": 0, "unusable": 1,
    }  # fmt: skip
    assert found.seconds.value == pytest.approx((3 * 4 + 2 + 4 * 1) / 8)
    assert found.baselines == {"measured": 3}


def test_samples_of_a_task_count_together() -> None:
    tasks = [task("a/0"), task("a/1")]
    attempts = [good("a/0", 0), *(bad("a/0", n) for n in range(1, 5))]
    attempts += [bad("a/1", n) for n in range(5)]
    found = figures(tasks, attempts)
    assert found.passed.value == pytest.approx((1 / 5 + 0) / 2)
    assert found.pass_at == pytest.approx({1: 0.1, 5: 0.5})
    assert found.compile_at == pytest.approx({1: 1.0, 5: 1.0})
    assert found.passed_tasks == 1
    assert found.attempts == 10
    assert found.compiled.low is not None
    assert found.compiled.low < 0.5  # two tasks that always compile are not certainty
    fewer = figures(tasks, attempts[:-1])
    assert set(fewer.pass_at) == {1}  # one task has only four


def test_the_fastest_that_passed_is_a_tasks_speed() -> None:
    slow, fast = good("a/0", 0, speedup=1.5), good("a/0", 1, speedup=3.0)
    fast = replace(fast, verdict=replace(fast.verdict, time_us=5.0))
    wrong = bad("a/0", 2)
    wrong = replace(wrong, verdict=replace(wrong.verdict, time_us=1.0, speedup=50.0))
    assert figures([task("a/0")], [slow, fast, wrong]).speedup_median.value == 3.0


def test_what_was_not_taken_is_none() -> None:
    tasks = [task("a/0"), task("a/1")]
    assert figures(tasks, []).passed.value is None
    untimed = figures(tasks, [good("a/0", speedup=None), bad("a/1")])
    assert untimed.fast[1.0].value is None
    assert untimed.fast_p[0.0].value == 0.5  # no time is needed to be right
    assert untimed.speedup_median.value is None
    assert untimed.untimed == 1
    unjudged = replace(good("a/0"), published=None)
    assert figures(tasks[:1], [unjudged]).published.value is None
    nothing_passed = figures(tasks, [bad("a/0"), bad("a/1")])
    assert nothing_passed.fast[1.0].value == 0.0


def test_a_running_run_counts_what_was_attempted() -> None:
    found = figures([task("a/0"), task("a/1"), task("a/2")], [good("a/1"), good("b/7")])
    assert (found.attempted, found.tasks, found.passed.value) == (1, 3, 1.0)


def test_findings_are_counted() -> None:
    flaw = Violation("ALN-01", "error", "k.cpp", 1, "m")
    race = Race("SYNC-01", Side("k.cpp", 1, "V"), Side("k.cpp", 2, "MTE3"), "m")
    attempt = good("a/0", cheats=[Cheat("torch", "x"), Cheat("torch", "y"), Cheat("cache", "z")])
    verdict = replace(
        attempt.verdict, violations=[flaw, replace(flaw, severity="warning")], races=[race, race]
    )
    found = figures([task("a/0")], [replace(attempt, verdict=verdict, tokens=700)])
    assert (found.violations, found.races, found.cheats) == (1, 2, {"cache": 1, "torch": 1})
    assert found.passed.value == 0.0
    assert found.tokens.value == 700


def test_the_summary_is_the_contracts() -> None:
    tasks = [task("a/0", 1), task("b/1", 2)]
    found = summary(tasks, [good("a/0"), ended("b/1", "unplanned")])
    assert {name: found[name] for name in ("compile", "correct", "fast_0.2", "fast_0.8")} == {
        "compile": 0.5, "correct": 0.5, "fast_0.2": 0.5, "fast_0.8": 0.5,
    }  # fmt: skip
    assert found["fast_1.0"] == 0.5
    assert found["categories"]["a"]["correct"] == 1.0
    assert found["levels"]["2"]["correct"] == 0.0
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    low, high = found["intervals"]["correct"]
    assert 0 < low < 0.5 < high < 1


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.floats(0.01, 50)), max_size=30))
def test_shares_are_ordered(drawn: list[tuple[int, bool, float]]) -> None:
    """Fast is passed is compiled, for any run; k more samples are never worse."""
    attempts: list[Attempt] = []
    for number, (name, passes, speed) in enumerate(drawn):
        label = f"a/{name}"
        attempts.append(good(label, number, speedup=speed) if passes else bad(label, number))
    found = figures([task(f"a/{n}") for n in range(4)], attempts)
    if not attempts:
        assert found.passed.value is None
        return
    chain = [e.value for e in (found.compiled, found.passed, *found.fast.values())]
    known = [value for value in chain if value is not None]
    assert known == sorted(known, reverse=True)
    assert list(found.pass_at.values()) == sorted(found.pass_at.values())
