# SPDX-License-Identifier: Apache-2.0
"""Tables of cases, typed as a data frame types them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from npuforge.bench.suites.npukernelbench.case_table import rows
from npuforge.bench.suites.npukernelbench.smaller import fresh, scaled, smaller
from npuforge.bench.tables import spread
from npuforge.errors import UsageError


def table(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "test_cases.csv"
    file.write_text(text)
    return file


def test_columns_are_typed(tmp_path: Path) -> None:
    first, second = rows(
        table(
            tmp_path, "case_id;shape;eps;on;bias;n\n0;[2, 3];1e-5;true;None;1.0\n1;[4];2;False;x;3"
        )
    )
    assert first["shape"] == "[2, 3]"
    assert (first["eps"], second["eps"]) == (1e-5, 2.0)
    assert (first["on"], second["on"]) == (1, 0)
    assert math.isnan(first["bias"])
    assert second["bias"] == "x"
    assert [type(row["n"]) for row in (first, second)] == [int, int]


def test_numbers_alone_have_one_type(tmp_path: Path) -> None:
    (row,) = rows(table(tmp_path, "case_id;m;eps\n0;4;0.5\n"))
    assert row == {"case_id": 0.0, "m": 4.0, "eps": 0.5}
    assert type(row["m"]) is float


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "empty"), ("case_id;m\n", "empty"), ("m\n1\n", "case_id"), ("case_id\n1;2\n", "more")],
)
def test_broken_tables(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rows(table(tmp_path, text))


def test_large_rows_are_made_smaller() -> None:
    row = {"case_id": 4, "x_shape": "[128, 2048, 2048]", "w_shape": "[2048]", "n": 2048}
    assert smaller({**row, "x_shape": "[8, 2048, 2048]"}) is None
    found = smaller(row)
    assert found == {**row, "x_shape": "[128, 128, 128]", "w_shape": "[128]"}
    assert scaled(row) == {**row, "x_shape": "[64, 64, 64]", "w_shape": "[64]"}


@pytest.mark.parametrize(
    ("shape", "other"),
    [("[4, 64]", "[4, 128]"), ("[1000, 3]", "[992, 3]"), ("[7]", "[6]"), ("[4096]", "[2048]")],
)
def test_fresh_sizes_keep_their_alignment(shape: str, other: str) -> None:
    assert fresh({"case_id": 0, "shape": shape, "n": 64}) == {
        "case_id": 0,
        "shape": other,
        "n": 64,
    }
    assert fresh({"case_id": 0, "shape": "[1, 1]"}) is None


def test_spread() -> None:
    assert spread(range(10), 4) == [0, 3, 6, 9]
    assert spread(range(3), None) == spread(range(3), 5) == [0, 1, 2]
    assert spread(range(3), 1) == [0]
