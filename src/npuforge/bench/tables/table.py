# SPDX-License-Identifier: Apache-2.0
"""A task that is a table: one operator, many rows of shapes, types and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Row = dict[str, Any]  # plain JSON: what the adapter needs to know of a case
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Table:
    """`adapter` is the suite's Python file for the sandbox (see the package), `place` the task's
    file or folder, handed to it; `readable` are more folders that it may look into."""

    name: str
    adapter: Path
    place: Path
    rows: Sequence[Row]
    readable: tuple[Path, ...] = ()


def spread(items: Sequence[_T], wanted: int | None) -> list[_T]:
    """`wanted` items from the first to the last, evenly; all of them where there are no more."""
    if wanted is None or wanted >= len(items):
        return list(items)
    step = (len(items) - 1) / max(1, wanted - 1)
    return [items[round(i * step)] for i in range(wanted)]
