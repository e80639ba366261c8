# SPDX-License-Identifier: Apache-2.0
"""A task of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from npuforge.untrusted.names import checked_task


@dataclass(frozen=True, slots=True)
class Task:
    """`name` is unique in the suite and what `--tasks` matches: `activation/relu`. It
    is a path below a run's folder, too.

    `place` is the task's file or folder, in the user's checkout or in this package.
    """

    name: str
    category: str
    level: int | None
    place: Path

    def __post_init__(self) -> None:
        checked_task(self.name)
