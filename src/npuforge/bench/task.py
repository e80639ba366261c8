# SPDX-License-Identifier: Apache-2.0
"""A task of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Task:
    """`name` is unique in the suite and what `--tasks` matches: `activation/relu`.

    `place` is the task's file or folder, in the user's checkout or in this package.
    """

    name: str
    category: str
    level: int | None
    place: Path
