# SPDX-License-Identifier: Apache-2.0
"""Transfers: plain copies of whole blocks, padded ones otherwise, rows and planes by pitch."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import HOST, function

MOVED = """
t = tl.alloc_ub({shape}, dtype=tl.float32)
with tl.copyin():
    tl.load(x{source}, t{view}{strides})
with tl.copyout():
    tl.store(y{source}, t{view}{strides}{atomic})
"""


def moves(
    shape: str, view: str, strides: str = "", source: str = "", atomic: str = ""
) -> tuple[list[str], list[str]]:
    """The statements of the load and of the store."""
    stride = f", stride={strides}" if strides else ""
    combined = f', atomic="{atomic}"' if atomic else ""
    body = MOVED.format(shape=shape, view=view, strides=stride, source=source, atomic=combined)
    load, store = (function(name, body, "") for name in ("CopyIn", "CopyOut"))
    return load[1:-1], store[1:-1]


@pytest.mark.parametrize(
    ("view", "source", "load", "store"),
    [
        ("", "", "DataCopy(tLocal, xGm, 64);", "DataCopy(yGm, tLocal, 64);"),
        ("[:24]", "", "DataCopy(tLocal, xGm, 24);", "DataCopy(yGm, tLocal, 24);"),
        ("[:20]", "", "LoadTile(tLocal, xGm, 20);", "StoreTile(yGm, tLocal, 20);"),
        ("[:n]", "", "LoadTile(tLocal, xGm, n);", "StoreTile(yGm, tLocal, n);"),
        ("[: n * 8]", "", "DataCopy(tLocal, xGm, n * 8);", "DataCopy(yGm, tLocal, n * 8);"),
        ("[8:24]", "", "DataCopy(tLocal[8], xGm, 16);", "DataCopy(yGm, tLocal[8], 16);"),
        ("", " + n", "DataCopy(tLocal, xGm[n], 64);", "DataCopy(yGm[n], tLocal, 64);"),
    ],
    ids=["whole", "whole blocks", "part of a block", "unknown length", "blocks by the facts",
         "from inside", "at an offset"],
)  # fmt: skip
def test_only_whole_blocks_are_copied_plainly(
    view: str, source: str, load: str, store: str
) -> None:
    assert moves("64", view, source=source) == ([load], [store])


def test_a_block_has_as_many_elements_as_its_type_allows() -> None:
    body = MOVED.format(shape="64", view="[:24]", strides="", source="", atomic="")
    host = HOST.replace("tl.float32", "tl.float16")
    half = body.replace("float32", "float16")
    assert function("CopyIn", half, "", host)[1] == "LoadTile(tLocal, xGm, 24);"


@pytest.mark.parametrize(
    ("shape", "view", "stride", "load"),
    [
        ("(4, 24)", "", "24", "DataCopy(tLocal, xGm, 96);"),
        ("(4, 24)", "[:n, :]", "24", "DataCopy(tLocal, xGm, n * 24);"),
        ("(4, 24)", "", "n", "LoadRows(tLocal, xGm, 4, 24, n, 24);"),
        ("(4, 24)", "[:, :16]", "16", "LoadRows(tLocal, xGm, 4, 16, 16, 24);"),
        ("(4, 20)", "", "20", "LoadRows(tLocal, xGm, 4, 20, 20, 24);"),
        ("(4, 24)", "[2:, 8:]", "16", "LoadRows(tLocal[56], xGm, 2, 16, 16, 24);"),
    ],
    ids=["no gaps", "rows without gaps", "gaps in memory", "part of rows", "pads", "a corner"],
)
def test_rows_without_gaps_on_both_sides_are_one_stretch(
    shape: str, view: str, stride: str, load: str
) -> None:
    loaded, stored = moves(shape, view, stride)
    assert loaded == [load]
    assert stored[0].startswith("DataCopy(" if load.startswith("DataCopy") else "StoreRows(")


def test_a_tile_of_three_dimensions_is_moved_plane_by_plane() -> None:
    loaded, stored = moves("(2, 4, 20)", "[:, :3, :]", "(400, 20)", " + n")
    assert loaded == [
        "for (int64_t planeIndex = 0; planeIndex < 2; ++planeIndex) {",
        "    LoadRows(tLocal[planeIndex * 96], xGm[n + planeIndex * 400], 3, 20, 20, 24);",
        "}",
    ]
    assert stored[1].strip() == (
        "StoreRows(yGm[n + planeIndex * 400], tLocal[planeIndex * 96], 3, 20, 20, 24);"
    )


@pytest.mark.parametrize("kind", ["add", "max", "min"])
def test_an_atomic_store_stands_between_its_modes(kind: str) -> None:
    assert moves("64", "", atomic=kind)[1] == [
        f"SetAtomic{kind.capitalize()}<float>();",
        "DataCopy(yGm, tLocal, 64);",
        "SetAtomicNone();",
    ]
    assert moves("64", "")[1] == ["DataCopy(yGm, tLocal, 64);"]
