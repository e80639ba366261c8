# SPDX-License-Identifier: Apache-2.0
"""The language's reference and its worked examples, as text for whoever learns it.

They are written for people, in `docs` and `examples`; a built package carries copies.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_PROJECT = _HERE.parents[2]


@cache
def reference() -> str:
    """The page on the language."""
    return _first(_HERE / "_texts" / "tile.md", _PROJECT / "docs" / "tile.md").read_text("utf-8")


@cache
def examples() -> dict[str, str]:
    """Worked programs by name."""
    folder = _first(_HERE / "_texts" / "examples", _PROJECT / "examples" / "tile")
    return {file.stem: file.read_text("utf-8") for file in sorted(folder.glob("*.py"))}


def _first(*places: Path) -> Path:
    return next(place for place in places if place.exists())
