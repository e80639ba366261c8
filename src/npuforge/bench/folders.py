# SPDX-License-Identifier: Apache-2.0
"""Where runs lie when nobody says: `forge_bench`, `forge_bench_2`... beside you."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from npuforge.bench.store import FILE


def new(suite: str) -> Path:
    """The first name that is free."""
    return next(folder for folder in _names(suite) if not folder.exists())


def begun(suite: str, named: Path | None) -> Path | None:
    """The run in the folder `named`, or else the one started last here; None where none is."""
    folders = Path().glob(f"{suite}_bench*") if named is None else [named]
    runs = [folder for folder in folders if (folder / FILE).is_file()]
    return max(runs, key=lambda folder: (folder / FILE).stat().st_mtime, default=None)


def _names(suite: str) -> Iterator[Path]:
    yield Path(f"{suite}_bench")
    for number in count(2):
        yield Path(f"{suite}_bench_{number}")
