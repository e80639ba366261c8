# SPDX-License-Identifier: Apache-2.0
"""Answers judged on the twin, and what they come to: CR and ER at k, by level.

CR counts what compiles, ER what is also right on every case without breaking a rule. Equal answers
are judged once.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Literal

import msgspec

from npuforge.bench.metrics import estimators
from npuforge.bench.metrics.estimators import Estimate
from npuforge.errors import NpuforgeError
from npuforge.generate.lm.answer import program_in
from npuforge.train.evaluate.problems import Problem
from npuforge.train.evaluate.sample import Answers
from npuforge.train.judge import Bench
from npuforge.train.judge_many import judge_many
from npuforge.train.pool import pool

Kind = Literal["parsed", "compiled", "correct"]


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """How many answers to a task parsed, compiled and were correct; `problems` are the first causes
    of failure, each with how many it stopped."""

    suite: str
    name: str
    level: int | None
    samples: int
    parsed: int = 0
    compiled: int = 0
    correct: int = 0
    distinct: int = 0
    problems: dict[str, int] = {}
    failure: str = ""  # why the task could not be asked or judged


def score(problem: Problem, answers: Answers) -> Scored:
    """The twin's count of the answers to one task."""
    programs = [program_in(text) for text in answers.answers]
    try:
        with problem.opened() as module:
            found = judge_many(Bench(module), programs)
    except NpuforgeError as error:
        return _none(problem, len(programs), str(error))
    judged = [found[program] for program in programs]
    problems: dict[str, int] = {}
    for one in judged:
        if one.problem:
            problems[one.problem] = problems.get(one.problem, 0) + 1
    return Scored(
        suite=problem.suite,
        name=problem.name,
        level=problem.task.level,
        samples=len(judged),
        parsed=sum(one.parsed for one in judged),
        compiled=sum(one.compiled for one in judged),
        correct=sum(one.correct for one in judged),
        distinct=len(found),
        problems=problems,
    )


def score_all(asked: Sequence[tuple[Problem, Answers]], jobs: int) -> Generator[Scored, None, None]:
    """The counts of many tasks, as they come in; each task in a process that serves several."""
    with pool(jobs) as judges:
        waiting = {judges.submit(score, problem, answers): problem for problem, answers in asked}
        try:
            for done in as_completed(waiting):
                try:
                    yield done.result()
                except BrokenProcessPool:
                    raise
                except Exception as error:  # one task's failure is that task's result
                    yield _none(waiting[done], 0, f"{type(error).__name__}: {error}")
        finally:
            judges.shutdown(cancel_futures=True)


def _none(problem: Problem, samples: int, why: str) -> Scored:
    task = problem.task
    first = (why.splitlines() or ["no reason"])[0]
    return Scored(
        suite=problem.suite, name=task.name, level=task.level, samples=samples, failure=first
    )


def at_k(scored: Iterable[Scored], k: int, kind: Kind) -> Estimate:
    """The mean over tasks of the chance that one of k answers compiles or is correct."""
    return estimators.mean(
        [estimators.at_k(one.samples, getattr(one, kind), k) for one in scored if one.samples >= k]
    )


def by_level(scored: Sequence[Scored]) -> dict[int | None, list[Scored]]:
    """Tasks by their level, levels in order."""
    found: dict[int | None, list[Scored]] = {}
    for one in sorted(scored, key=lambda one: one.level or 0):
        found.setdefault(one.level, []).append(one)
    return found
