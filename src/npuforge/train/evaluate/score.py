# SPDX-License-Identifier: Apache-2.0
"""Answers judged on the twin, and what they come to: CR and ER at k, by level.

CR counts what compiles, ER what is also right on every case without breaking a rule. Answers of
several models are judged together: a task is opened once for all of them, and equal answers are
judged once.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Literal

import msgspec

from npuforge.bench.metrics import estimators
from npuforge.bench.metrics.estimators import Estimate
from npuforge.errors import NpuforgeError
from npuforge.generate.lm.answer import program_in
from npuforge.train.evaluate.answers import Answers
from npuforge.train.evaluate.problems import Problem
from npuforge.train.judge import Bench, Judged
from npuforge.train.judge_many import judge_many
from npuforge.train.pool import pool

Kind = Literal["parsed", "compiled", "correct"]


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """How many answers to a task parsed, compiled and were correct; `problems` are the first causes
    of failure, each with how many it stopped."""

    by: str  # whose answers they are
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


def score(problem: Problem, given: Mapping[str, Answers]) -> list[Scored]:
    """The twin's counts of everybody's answers to one task."""
    try:
        with problem.opened() as module:
            programs = {by: list(map(program_in, one.answers)) for by, one in given.items()}
            found = judge_many(Bench(module), [one for own in programs.values() for one in own])
    except NpuforgeError as error:
        return [_none(problem, by, len(one.answers), str(error)) for by, one in given.items()]
    return [
        _counted(problem, by, [found[program] for program in own]) for by, own in programs.items()
    ]


def _counted(problem: Problem, by: str, judged: Sequence[Judged]) -> Scored:
    problems: dict[str, int] = {}
    for one in judged:
        if one.problem:
            problems[one.problem] = problems.get(one.problem, 0) + 1
    return Scored(
        by=by,
        suite=problem.suite,
        name=problem.name,
        level=problem.task.level,
        samples=len(judged),
        parsed=sum(one.parsed for one in judged),
        compiled=sum(one.compiled for one in judged),
        correct=sum(one.correct for one in judged),
        distinct=len({one.program for one in judged}),
        problems=problems,
    )


def score_all(
    asked: Sequence[tuple[Problem, Mapping[str, Answers]]], jobs: int
) -> Generator[Scored, None, None]:
    """The counts of many tasks, as they come in; each task in a process that serves several."""
    with pool(jobs) as judges:
        waiting = {judges.submit(score, *one): one for one in asked}
        try:
            for done in as_completed(waiting):
                try:
                    yield from done.result()
                except BrokenProcessPool:
                    raise
                except Exception as error:  # one task's failure is that task's result
                    problem, given = waiting[done]
                    why = f"{type(error).__name__}: {error}"
                    yield from (_none(problem, by, 0, why) for by in given)
        finally:
            judges.shutdown(cancel_futures=True)


def _none(problem: Problem, by: str, samples: int, why: str) -> Scored:
    task = problem.task
    first = (why.splitlines() or ["no reason"])[0]
    return Scored(
        by=by,
        suite=problem.suite,
        name=task.name,
        level=task.level,
        samples=samples,
        failure=first,
    )


def at_k(scored: Iterable[Scored], k: int, kind: Kind) -> Estimate:
    """The mean over tasks of the chance that one of k answers compiles or is correct."""
    return estimators.mean(
        [estimators.at_k(one.samples, getattr(one, kind), k) for one in scored if one.samples >= k]
    )


def gain(before: Iterable[Scored], after: Iterable[Scored], k: int, kind: Kind) -> Estimate:
    """How much likelier one of k answers is good than it was, task by task: what two models share,
    the difficulty of the tasks, is not part of the interval."""
    known = {one.name: one for one in before if one.samples >= k}
    return estimators.mean(
        [
            estimators.at_k(one.samples, getattr(one, kind), k)
            - estimators.at_k(was.samples, getattr(was, kind), k)
            for one in after
            if one.samples >= k and (was := known.get(one.name)) is not None
        ]
    )


def by_level(scored: Sequence[Scored]) -> dict[int | None, list[Scored]]:
    """Tasks by their level, levels in order."""
    found: dict[int | None, list[Scored]] = {}
    for one in sorted(scored, key=lambda one: one.level or 0):
        found.setdefault(one.level, []).append(one)
    return found
