# SPDX-License-Identifier: Apache-2.0
"""What is asked one after the other: questions, then the parts of those that were given up.

Answers to parts lie beside those to questions, under names that follow from what was asked, so that
a part that several questions have is asked once, and an interrupted run goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from npuforge.generate.lm.checked import is_right
from npuforge.generate.lm.form.answer import program_in
from npuforge.generate.lm.parts.pieces import Piece, Written, wanted
from npuforge.generate.lm.question.task import question, task_text
from npuforge.spec.graph import Graph
from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.evaluate.sample import Answers
from npuforge.train.pool import pool
from npuforge.train.records import as_messages

PARTS = "parts"  # the suite of all parts of questions

Found = Mapping[tuple[str, str], Answers]
Right = Callable[[str, Graph], bool]  # whether a program is right for a graph, as far as is known


def part_name(asked: str) -> str:
    """What the answers to a part are called."""
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def next_round(prompts: Sequence[Prompt], found: Found, right: Right | None) -> list[Prompt]:
    """What must be asked now that so much is answered: prompts first, then parts of what was given
    up or is not `right`."""
    known = [one for one in prompts if not one.problem]
    new = [one for one in known if (one.suite, one.name) not in found]
    if new:
        return new
    parts: dict[str, Prompt] = {}
    for prompt in known:
        if prompt.graph is not None:
            so_far = written(prompt.graph, found[prompt.suite, prompt.name], found, right)
            for graph in wanted(prompt.graph, prompt.pieces, so_far):
                part = _part(graph)
                parts[part.name] = part
    return list(parts.values())


def _part(graph: Graph) -> Prompt:
    asked = question(graph)
    name = part_name(asked[-1]["content"])
    return Prompt(suite=PARTS, name=name, level=None, prompt=as_messages(asked), graph=graph)


def written(graph: Graph, own: Answers, found: Found, right: Right | None) -> Written:
    """Programs by what was asked: those to a question, and those to any part that was answered."""
    asked = task_text(graph)

    def programs(one: Graph) -> list[str | None] | None:
        text = task_text(one)
        given = own if text == asked else found.get((PARTS, part_name(text)))
        if given is None:
            return None
        texts = ended(given)
        return texts if right is None else [t if t and right(t, one) else None for t in texts]

    return programs


def ended(given: Answers) -> list[str | None]:
    """The programs of answers that came to their end; those that nobody guided all did somehow."""
    known = given.ended or [True] * len(given.answers)
    return [
        program_in(answer) if whole else None
        for answer, whole in zip(given.answers, known, strict=True)
    ]


class Checks:
    """What the interpreter says of programs, each asked about once, many at a time."""

    def __init__(self, prompts: Iterable[Prompt], jobs: int) -> None:
        self._jobs = jobs
        self._said: dict[tuple[str, str], bool] = {}
        self._graphs: dict[tuple[str, str], Graph] = {}
        for prompt in prompts:
            if prompt.graph is not None:
                self._graphs[prompt.suite, prompt.name] = prompt.graph
                self._graphs |= {(PARTS, part_name(task_text(g))): g for g in _every(prompt.pieces)}

    def look(self, answers: Iterable[Answers]) -> None:
        """Ask about all that is new."""
        new = {
            (program, task_text(graph)): graph
            for given in answers
            if (graph := self._graphs.get((given.suite, given.name))) is not None
            for program in ended(given)
            if program is not None and (program, task_text(graph)) not in self._said
        }
        with pool(self._jobs) as processes:
            programs = (program for program, _ in new)
            self._said |= zip(new, processes.map(is_right, programs, new.values()), strict=True)

    def __call__(self, program: str, graph: Graph) -> bool:
        return self._said[program, task_text(graph)]


def _every(parts: Iterable[Piece]) -> Iterable[Graph]:
    for part in parts:
        yield part.graph
        yield from _every(part.pieces)
