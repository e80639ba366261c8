# SPDX-License-Identifier: Apache-2.0
"""The rows of every table: parts of a run, each beside what others published on the same part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics import Figures, figures
from npuforge.bench.report.published import Result, System, systems
from npuforge.bench.task import Task

Kind = Literal["category", "level", "scope", "all"]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a run. `scope` parts are those that only a published result makes."""

    kind: Kind
    title: str
    figures: Figures
    beside: list[tuple[System, Result]] = field(default_factory=list)


def blocks(suite: str, tasks: Sequence[Task], attempts: Sequence[Attempt]) -> list[Block]:
    """Categories, levels, the scopes of published results, and all, in this order."""
    parts = [*_parts(tasks)]
    beside: dict[frozenset[str], list[tuple[System, Result]]] = {}
    known = {_names(part) for _, _, part in parts}
    for system in systems(suite):
        for result in system.result:
            scope = result.scope(tasks)
            if not scope:
                continue
            names = _names(scope)
            beside.setdefault(names, []).append((system, result))
            if names not in known:
                known.add(names)
                parts.insert(-1, ("scope", _title(result), scope))
    return [
        Block(kind, title, figures(part, attempts), beside.get(_names(part), []))
        for kind, title, part in parts
    ]


def _parts(tasks: Sequence[Task]) -> Iterator[tuple[Kind, str, list[Task]]]:
    """Categories and levels where there are several; levels only where they divide otherwise."""
    categories = [
        (name, [task for task in tasks if task.category == name])
        for name in dict.fromkeys(task.category for task in tasks)
    ]
    levels = [
        (level, [task for task in tasks if task.level == level])
        for level in sorted({task.level for task in tasks if task.level is not None})
    ]
    divided = {_names(part) for _, part in categories}
    if len(categories) > 1:
        yield from (("category", name, part) for name, part in categories)
    if len(levels) > 1 and {_names(part) for _, part in levels} != divided:
        yield from (("level", f"level {level}", part) for level, part in levels)
    yield "all", "all", list(tasks)


def _names(tasks: Sequence[Task]) -> frozenset[str]:
    return frozenset(task.name for task in tasks)


def _title(result: Result) -> str:
    parts, noun = (
        (result.categories, "categories")
        if result.categories
        else (
            [str(level) for level in result.levels],
            "levels",
        )
    )
    return f"{len(parts)} {noun}" if len(parts) > 3 else ", ".join(parts)
