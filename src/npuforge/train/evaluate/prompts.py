# SPDX-License-Identifier: Apache-2.0
"""The questions of an evaluation, so that answers can be sampled wherever there is a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from npuforge.errors import NpuforgeError
from npuforge.generate.lm.prompt.canonical import canonical, conversation
from npuforge.generate.written.signature import signature_of
from npuforge.spec.graph import Graph
from npuforge.train.dataset.record import JudgedBy
from npuforge.train.evaluate.problems import Problem
from npuforge.train.records import Message, as_messages, read_lines
from npuforge.train.structure import structure

TASKS = "tasks"  # the suite of a dataset's own tasks


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """The prompt for a task; `problem` says why there is none."""

    suite: str
    name: str
    level: int | None
    structure: str = ""
    prompt: list[Message] = []
    graph: Graph | None = None
    problem: str = ""


class _Line(Prompt, frozen=True, kw_only=True):
    """A prompt, or a task of a dataset, which has a module in the place of a name."""

    suite: str = TASKS
    name: str = ""
    level: int | None = None
    task: JudgedBy | None = None


def read_prompts(paths: Sequence[Path]) -> list[Prompt]:
    """The prompts of files that `npuforge evaluate prompts` wrote, or of the tasks of datasets."""
    return [
        replace(line, name=line.task.name) if line.task is not None else line
        for line in read_lines(paths, _Line, "prompt", _named)
    ]


def _named(line: _Line) -> None:
    if not line.name and line.task is None:
        raise ValueError("it has neither a name nor a task")


def prompts(asked: Iterable[Problem]) -> Iterator[Prompt]:
    """Every problem is captured in its sandbox."""
    for problem in asked:
        yield _prompt(problem)


def _prompt(problem: Problem) -> Prompt:
    task = problem.task
    try:
        with problem.opened() as module:
            graph, _ = canonical(module.graph)
            signature_of(graph)  # refuses element types that kernels lack
            return Prompt(
                suite=problem.suite,
                name=task.name,
                level=task.level,
                structure=structure(graph),
                prompt=as_messages(conversation(graph)),
                graph=graph,
            )
    except NpuforgeError as error:
        said = (str(error).splitlines() or ["no reason"])[0]
        return Prompt(suite=problem.suite, name=task.name, level=task.level, problem=said)
