# SPDX-License-Identifier: Apache-2.0
"""Where runs lie when nobody says: `forge_bench`, `forge_bench_2`... beside you."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from npuforge.bench.store import FILE
from npuforge.errors import UsageError


def new(suite: str) -> Path:
    """The first name that is free."""
    return next(folder for folder in _names(suite) if not folder.exists())


def last(suite: str) -> Path:
    """The run that was started last."""
    runs = [folder for folder in Path().glob(f"{suite}_bench*") if (folder / FILE).is_file()]
    if not runs:
        raise UsageError(f"no run of {suite} here; --out names one elsewhere")
    return max(runs, key=lambda folder: (folder / FILE).stat().st_mtime)


def _names(suite: str) -> Iterator[Path]:
    yield Path(f"{suite}_bench")
    for number in count(2):
        yield Path(f"{suite}_bench_{number}")
