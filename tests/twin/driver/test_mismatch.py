# SPDX-License-Identifier: Apache-2.0
"""Results spoilt in a known way are described that way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.dtypes import AnyArray
from npuforge.twin.mismatch import describe


def wanted(rows: int, columns: int, seed: int = 0) -> AnyArray:
    return np.random.default_rng(seed).normal(1.5, 1.0, (rows, columns)).astype(np.float32)


def said(got: AnyArray, want: AnyArray) -> str:
    off = ~np.isclose(got, want, rtol=1e-4, atol=1e-6)
    return describe(got, want, off) or ""


def test_right_results_have_no_mark() -> None:
    want = wanted(3, 5)
    assert describe(want, want, np.zeros_like(want, bool)) is None


@given(st.integers(3, 40), st.integers(20, 70), st.integers(1, 9))
def test_the_tail_of_every_row(rows: int, columns: int, tail: int) -> None:
    want = wanted(rows, columns)
    got = want.copy()
    got[:, -tail:] = 0
    found = said(got, want)
    assert f"the last {tail} of {columns} columns of every row" in found
    assert "all zero" in found


@given(st.integers(12, 40), st.integers(8, 40), st.integers(2, 5))
def test_one_row_in_several(rows: int, columns: int, step: int) -> None:
    want = wanted(rows, columns)
    got = want.copy()
    got[1::step] *= 2
    found = said(got, want)
    if len(range(1, rows, step)) >= 3:
        assert f"one row in {step}, from row 1 on" in found
    assert "2 times what is wanted" in found


@given(st.integers(6, 40), st.integers(8, 40), st.integers(1, 4))
def test_the_last_rows(rows: int, columns: int, count: int) -> None:
    want = wanted(rows, columns)
    got = want.copy()
    got[-count:] = np.nan
    found = said(got, want)
    assert "not-a-number" in found
    assert f"from {rows - count} of {rows} on" in found or f"{count} of" in found


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda x: -x, "signs are turned"),
        (lambda x: x * 0.125, "0.125 times"),
        (lambda x: x + 3, "off by the constant 3"),
        (lambda x: np.roll(x.reshape(-1), -8).reshape(x.shape), "8 places later"),
        (lambda x: np.roll(x.reshape(-1), 5).reshape(x.shape), "5 places earlier"),
        (lambda x: x.T.reshape(x.shape), "rows and columns are exchanged"),
        (lambda x: x.astype(np.float16).astype(np.float32), "half precision"),
        (lambda x: np.full_like(x, x[0, 0] + 7), "one value is spread"),
        (np.zeros_like, "all zero"),
        (lambda x: np.full_like(x, np.inf), "overflows"),
        (lambda x: np.random.default_rng(9).normal(0, 1, x.shape), "every element is wrong"),
    ],
)
def test_every_element(spoil: object, words: str) -> None:
    want = wanted(24, 33)
    assert callable(spoil)
    assert words in said(spoil(want), want)


def test_one_dimension() -> None:
    want = wanted(1, 1000).reshape(-1)
    got = want.copy()
    got[768:] = 0
    assert "all from element 768 of 1000 on" in said(got, want)
    got = want.copy()
    got[3::64] += 1
    assert "one element in 64, from element 3 on" in said(got, want)
    got = want.copy()
    got[[5, 700]] = 9
    assert "all wrong ones are at (5,), (700,)" in said(got, want)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 100))
def test_nothing_makes_it_stumble(rows: int, columns: int, seed: int) -> None:
    """Tiny tensors, infinities, whole numbers: a line comes out, whatever is wrong."""
    dice = np.random.default_rng(seed)
    want = dice.choice(np.array([0, 1, -1, np.inf, np.nan, 1e30]), (rows, columns))
    got = dice.choice(np.array([0, 1, -np.inf, np.nan, 2]), (rows, columns))
    with np.errstate(all="ignore"):
        off = ~((got == want) | (np.isnan(got) & np.isnan(want)))
    found = describe(got, want, off)
    assert found is None or off.any()
    assert "\n" not in (found or "")
