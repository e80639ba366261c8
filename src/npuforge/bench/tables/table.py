# SPDX-License-Identifier: Apache-2.0
"""A task that is a table: one operator, many rows of shapes, types and attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Row = dict[str, Any]  # plain JSON: what the adapter needs to know of a case
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class StandIn:
    """Smaller versions of a large row, by their numbers in the table; the first that works is
    taken. Our judgement is of it, broken rules and races included; the row itself is computed and
    held to the suite's check alone. With `instead` it stands for the row altogether; only the time
    is the row's.
    """

    options: tuple[int, ...]
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`adapter` is the suite's Python file for the sandbox (see the package), `place` the task's
    file or folder, handed to it; `readable` are more folders that it may look into. Rows that are
    options of a stand-in have no result of their own: they come after all others. `text` is the
    reference, for those who read it."""

    name: str
    adapter: Path
    place: Path
    rows: Sequence[Row]
    readable: tuple[Path, ...] = ()
    stand_ins: Mapping[int, StandIn] = field(default_factory=dict)
    text: str = ""


def spread(items: Sequence[_T], wanted: int | None) -> list[_T]:
    """`wanted` items from the first to the last, evenly; all of them where there are no more."""
    if wanted is None or wanted >= len(items):
        return list(items)
    step = (len(items) - 1) / max(1, wanted - 1)
    return [items[round(i * step)] for i in range(wanted)]
