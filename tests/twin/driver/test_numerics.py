# SPDX-License-Identifier: Apache-2.0
"""Comparison with a reference, and the pattern it names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.dtypes import AnyArray, HostTensor
from npuforge.twin.numerics import Tolerance, compare, tolerance_for

_WANT = np.linspace(1, 2, 64, dtype=np.float32).reshape(8, 8)


def _wrong(change: str) -> AnyArray:
    got = _WANT.copy()
    if change == "zero":
        got[:] = 0
    elif change == "nan":
        got[3] = np.nan
    elif change == "scale":
        got *= 3
    elif change == "tail":
        got.reshape(-1)[60:] += 1
    elif change == "rows":
        got[1::2] += _WANT[1::2] ** 2
    elif change == "columns":
        got[:, 6:] += 1
    elif change == "strided":
        got.reshape(-1)[np.arange(5, 64, 9)] += 1
    return got


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("zero", "64 of 64 elements differ; first at [0, 0]: 0 instead of 1; every element is"),
        ("nan", "row 3 of 8; they are all not-a-number"),
        ("scale", "3 times what is wanted"),
        ("tail", "all from element 60 of 64 on"),
        ("rows", "one row in 2, from row 1 on"),
        ("columns", "the last 2 of 8 columns of every row"),
        ("strided", "one element in 9, from element 5 on"),
    ],
)
def test_pattern_is_named(change: str, text: str) -> None:
    result = compare(HostTensor.of(_wrong(change)), HostTensor.of(_WANT))
    assert not result.correct
    assert text in result.summary


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8))
def test_integers_are_exact(values: list[int]) -> None:
    want = HostTensor.of(np.array(values, np.int64))
    assert compare(want, want).correct
    other = np.array(values, np.int64)
    other[0] ^= 1
    assert not compare(HostTensor.of(other), want).correct


def test_infinity_needs_infinity() -> None:
    want = HostTensor.of(np.array([np.inf, np.nan, 1], np.float32))
    assert compare(want, want).correct
    got = HostTensor.of(np.array([1, np.nan, 1], np.float32))
    result = compare(got, want)
    assert not result.correct
    assert result.mismatches == 1
    assert result.max_abs is None


def test_share_of_mismatches_may_be_allowed() -> None:
    got = HostTensor.of(_wrong("tail"))
    allowed = Tolerance(rtol=1e-4, atol=0, mismatches=0.1)
    assert compare(got, HostTensor.of(_WANT), tolerance=allowed).correct


def test_tolerance_follows_the_type() -> None:
    assert tolerance_for("int32") == Tolerance(0.0, 0.0)
    assert tolerance_for("bf16").rtol > tolerance_for("float16").rtol > tolerance_for("float").rtol


def test_unwritten_bool_is_wrong() -> None:
    want = HostTensor.of(np.ones(4, bool))
    result = compare(want, want, unwritten=2)
    assert not result.correct
    assert "2 elements were never written" in result.summary
