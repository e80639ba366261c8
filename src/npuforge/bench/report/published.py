# SPDX-License-Identifier: Apache-2.0
"""Results that others have published on the same suites (`published.toml`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec

from npuforge.bench.task import Task


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of a published table; shares in percent. `accuracy` is of cases, not of tasks."""

    categories: list[str] = []
    within: str | None = None
    levels: list[int] = []
    tasks: int | None = None
    k: int = 1
    compile: float | None = None
    pass_: float | None = msgspec.field(name="pass", default=None)
    fast: dict[str, float] = {}
    speedup: float | None = None
    accuracy: float | None = None

    def scope(self, tasks: Sequence[Task]) -> list[Task]:
        """Those of our tasks that it is about; none where some of its own are missing."""
        if not set(self.categories) <= {task.category for task in tasks}:
            return []
        if not set(self.levels) <= {task.level for task in tasks}:
            return []
        found = [
            task
            for task in tasks
            if (not self.categories or task.category in self.categories)
            and (not self.levels or task.level in self.levels)
        ]
        return found if len(found) >= (self.tasks or 0) else []

    def share(self, name: str) -> float | None:
        """A share of 1: `compile`, `pass`, `0.8`..."""
        value = {"compile": self.compile, "pass": self.pass_}.get(name, self.fast.get(name))
        return None if value is None else value / 100


class System(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who published, where, and what is not the same as here."""

    name: str
    suite: str
    source: str
    caveat: str
    result: list[Result]


def title(system: System, result: Result) -> str:
    """The system, with what has no column of its own."""
    more = "" if result.k == 1 else f", best of {result.k}"
    if result.accuracy is not None:
        more += f", {result.accuracy:g} % of cases right"
    return system.name + more


class _File(msgspec.Struct, forbid_unknown_fields=True):
    within: dict[str, list[str]]
    system: list[System]


@cache
def systems(suite: str) -> tuple[System, ...]:
    """All that is known about a suite; named scopes are spelt out."""
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    known = msgspec.toml.decode(text, type=_File)
    return tuple(
        msgspec.structs.replace(
            system, result=[_spelt(result, known.within) for result in system.result]
        )
        for system in known.system
        if system.suite == suite
    )


def _spelt(result: Result, within: dict[str, list[str]]) -> Result:
    if result.within is None:
        return result
    return msgspec.structs.replace(result, within=None, categories=within[result.within])
