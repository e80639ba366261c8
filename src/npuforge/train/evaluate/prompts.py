# SPDX-License-Identifier: Apache-2.0
"""The questions of an evaluation, so that answers can be sampled wherever there is a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from npuforge.errors import NpuforgeError
from npuforge.generate.lm.task import canonical, question
from npuforge.train.evaluate.problems import Problem
from npuforge.train.records import Message, as_messages
from npuforge.train.structure import structure


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked for a task; `problem` says why it cannot be asked."""

    suite: str
    name: str
    level: int | None
    structure: str = ""
    prompt: list[Message] = []
    problem: str = ""


def prompts(asked: Iterable[Problem]) -> Iterator[Prompt]:
    """Every problem is captured in its sandbox."""
    for problem in asked:
        yield _prompt(problem)


def _prompt(problem: Problem) -> Prompt:
    task = problem.task
    try:
        with problem.opened() as module:
            graph, _ = canonical(module.graph)
            return Prompt(
                suite=problem.suite,
                name=task.name,
                level=task.level,
                structure=structure(graph),
                prompt=as_messages(question(graph)),
            )
    except NpuforgeError as error:
        said = (str(error).splitlines() or ["no reason"])[0]
        return Prompt(suite=problem.suite, name=task.name, level=task.level, problem=said)
