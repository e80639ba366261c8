# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.train.recipe import Grpo, load
from npuforge.train.rewards import Outcome, Pool, Question, parts, reward_functions, weights

_PROGRAM = (Path(__file__).parents[2] / "examples" / "tile" / "cumsum.py").read_text()
_TASK = {"baseline_us": 1.5}


@pytest.fixture(scope="module")
def pool(judges: str) -> Iterator[Pool]:
    with Pool(f"{judges}:ParseJudge", 2, limit_s=4.0) as found:
        yield found


def test_judges_outlive_crashes_errors_and_time_outs(pool: Pool) -> None:
    texts = [_PROGRAM, "crash", "def", "sleep", _PROGRAM, "raise", _PROGRAM + "\n"]
    found = pool.judge([Question(_TASK, text) for text in texts])
    right = Outcome(parsed=True, compiled=True, correct=True, time_us=1.0, baseline_us=1.5)
    assert found[0] == found[4] == found[6] == right
    assert found[2] == Outcome()
    assert found[1].failure == "the judge's process ended"
    assert found[3].failure == "no answer within 4 s"
    assert found[5].failure == "RuntimeError: no verdict"
    assert all(sum(parts(found[index]).values()) == 0 for index in (1, 2, 3, 5))


def test_a_part_of_the_reward_each_and_one_judgement_for_all(pool: Pool) -> None:
    logged: list[tuple[str, float]] = []
    completions = [[{"role": "assistant", "content": text}] for text in (_PROGRAM, "def")]
    task = ['{"baseline_us": 1.5}'] * 2
    found = {
        function.__name__: function(
            completions=completions,
            task=task,
            log_metric=lambda name, value: logged.append((name, value)),
        )
        for function in reward_functions(pool)
    }
    assert found == {
        "parsed": [1.0, 0.0],
        "compiled": [1.0, 0.0],
        "rules": [1.0, 0.0],
        "correct": [1.0, 0.0],
        "faster": [0.5, 0.0],
    }
    assert logged == [("judge_failures", 0)]


def test_a_judge_that_cannot_be_made_is_told_at_once(judges: str) -> None:
    with (
        pytest.raises(UsageError, match="does not start: judges:BrokenJudge: OSError: no compiler"),
        Pool(f"{judges}:BrokenJudge", 1, limit_s=2.0),
    ):
        pass


@given(
    st.builds(
        Outcome,
        time_us=st.none() | st.floats(0.1, 1e6),
        baseline_us=st.none() | st.floats(0.1, 1e6),
        violations=st.integers(0, 3),
    )
)
def test_each_part_needs_the_one_before(outcome: Outcome) -> None:
    found = parts(outcome)
    assert all(0 <= value <= 1 for value in found.values())
    assert found["compiled"] >= found["rules"] >= found["correct"] >= found["faster"]
    assert not (outcome.violations and found["correct"])


@given(st.builds(Outcome, isolated=st.just(False), failure=st.just("")))
def test_an_unisolated_verdict_is_no_reward(outcome: Outcome) -> None:
    assert set(parts(outcome).values()) == {0.0}


def test_weights_come_from_the_recipe() -> None:
    recipe = load(Grpo, "paper", ["reward_correct=3.0"])
    assert weights(recipe)["correct"] == 3.0
    assert list(weights(recipe)) == list(parts(Outcome()))
