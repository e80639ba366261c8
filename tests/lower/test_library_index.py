# SPDX-License-Identifier: Apache-2.0
"""The index of the device helpers: complete, closed, computable."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.lower import library
from npuforge.lower.scratch import scratch_size
from npuforge.tile.expr import Const


def test_every_file_is_listed_and_fills_its_placeholders() -> None:
    folder = Path(library.__file__).parent
    for name in library.names():
        source = library.helper(name).source
        assert f" {name}(" in source
        assert "@" not in source
    text = (folder / "index.toml").read_text()
    for file in folder.glob("*.h"):
        assert f'["{file.stem}"]' in text or f"[{file.stem}]" in text, file.name


def test_callees_come_first_and_once() -> None:
    sources = library.closure(["RowReduceSum", "ReduceAllSum", "RowReduceSum"])
    assert len(set(sources)) == len(sources)
    assert sources[-1] == library.helper("ReduceAllSum").source
    assert sources.index(library.helper("AddTile").source) < sources.index(
        library.helper("RowFoldAdd").source
    )


def test_scratch_is_never_negative() -> None:
    for name in library.names():
        for rows, cols in ((0, 0), (1, 1), (300, 64), (1, 16321)):
            sizes = {"rows": rows, "cols": cols, "pitch": cols, "n": cols, "k": 1, "size": 4}
            assert library.helper(name).scratch_bytes(**sizes) >= 0, name


def test_size_expressions() -> None:
    size = scratch_size("align(n, 8) * 4 + cdiv(n, 3) - max(1, n // 2)", {"n": Const(9)})
    assert size == Const(64 + 3 - 4)
    with pytest.raises(ValueError, match="not a size expression"):
        scratch_size("n ** 2 if n else 1", {"n": Const(1)})


def test_an_unknown_helper_is_named() -> None:
    with pytest.raises(UsageError, match="Frobnicate"):
        library.helper("Frobnicate")
