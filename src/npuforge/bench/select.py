# SPDX-License-Identifier: Apache-2.0
"""Which tasks of a suite are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from npuforge.bench.task import Task
from npuforge.errors import UsageError


def selected(
    tasks: Sequence[Task],
    pattern: str | None = None,
    categories: str | None = None,
    levels: str | None = None,
) -> list[Task]:
    """Tasks that match all that is given; `UsageError` where nothing does."""
    if categories is not None:
        _known("category", _listed(categories), {task.category for task in tasks})
    if levels is not None:
        numbers = {str(task.level) for task in tasks if task.level is not None}
        _known("level", _listed(levels), numbers)
    kept = matching(tasks, pattern, categories, levels)
    if not kept:
        raise UsageError("no task of the suite matches")
    return kept


def matching(
    tasks: Sequence[Task], pattern: str | None, categories: str | None, levels: str | None
) -> list[Task]:
    """Tasks that match all that is given, which may be none."""
    kept = list(tasks)
    if categories is not None:
        wanted = _listed(categories)
        kept = [task for task in kept if task.category in wanted]
    if levels is not None:
        numbers = _listed(levels)
        kept = [task for task in kept if str(task.level) in numbers]
    if pattern is not None:
        kept = [task for task in kept if _matches(task.name, pattern)]
    return kept


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _known(what: str, wanted: Sequence[str], there: set[str]) -> None:
    for name in wanted:
        if name not in there:
            raise UsageError(f"no {what} {name!r}; there are: {', '.join(sorted(there))}")


def _matches(name: str, pattern: str) -> bool:
    """The whole name, or its last part where the pattern has no `/`."""
    last = name.rpartition("/")[2]
    return fnmatchcase(name, pattern) or ("/" not in pattern and fnmatchcase(last, pattern))
