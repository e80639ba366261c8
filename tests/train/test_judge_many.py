# SPDX-License-Identifier: Apache-2.0
"""Many answers to a module: judged as each alone, at less expense."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.generate.lm.written import program_for

from npuforge.train.evaluate.problems import problems
from npuforge.train.judge import Bench
from npuforge.train.judge_many import judge_many


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    (problem,) = (one for one in problems("forge") if one.name == "activation/squared_relu")
    with problem.opened() as module:
        yield Bench(module)


@pytest.fixture(scope="module")
def right(bench: Bench) -> str:
    return program_for(bench.canonical)


def test_judgements_are_those_of_each_alone(bench: Bench, right: str) -> None:
    wrong = right.replace("tl.mul(", "tl.add(", 1)
    programs = [right, wrong, right.replace("tl.load(", "tl.fetch("), "no program"]
    found = judge_many(bench, [*programs, right])
    assert set(found) == set(programs)
    for program in programs:
        assert found[program] == bench.judge_program(program)
    assert [found[one].correct for one in programs] == [True, False, False, False]
    assert [found[one].compiled for one in programs] == [True, True, False, False]


def test_what_is_wrong_is_not_run_further(bench: Bench, right: str) -> None:
    wrong = right.replace("tl.mul(", "tl.add(", 1)
    found = judge_many(bench, [right, wrong])
    proofs = [found[one].proof for one in (right, wrong)]
    assert [len(proof.cases) for proof in proofs if proof is not None] == [len(bench.cases), 1]


def test_programs_that_launch_the_same_kernel_alike_are_run_once(bench: Bench, right: str) -> None:
    renamed = right.replace("k1_", "own_")
    assert renamed != right
    found = judge_many(bench, [right, renamed])
    assert found[renamed].correct
    assert found[renamed].program == renamed
    assert found[renamed].proof is found[right].proof


def test_the_same_kernel_launched_otherwise_is_run_again(bench: Bench, right: str) -> None:
    fewer = right.replace("op[k1_cores](", "op[1](")
    assert fewer != right
    found = judge_many(bench, [right, fewer])
    assert found[right].correct
    assert found[fewer].compiled
    assert not found[fewer].correct


def test_nothing_is_built_where_nothing_is_accepted(bench: Bench) -> None:
    assert judge_many(bench, []) == {}
    assert not judge_many(bench, ["nothing"])["nothing"].parsed
