# SPDX-License-Identifier: Apache-2.0
"""Reductions against NumPy: sums as the tree the hardware adds in, indices as raw bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .basic_probe import Array, call, rules

CASES = """
        case 0: WholeReduceSum(y, x, a[0], a[1], a[2], a[3], a[4]); break;
        case 1: WholeReduceMax(y, x, a[0], a[1], a[2], a[3], a[4], (ReduceOrder)a[5]); break;
        case 2: WholeReduceMin(y, x, a[0], a[1], a[2], a[3], a[4], (ReduceOrder)a[5]); break;
        case 3: BlockReduceSum(y, x, a[1], bits, a[2], a[3], a[4]); break;
        case 4: BlockReduceMax(y, x, a[1], bits, a[2], a[3], a[4]); break;
        case 5: PairReduceSum(y, x, a[1], a[0], a[2], a[3], a[4]); break;
        case 6: ReduceSum(y, x, t, a[0]); break;
        case 7: ReduceMax(y, x, t, a[0], (bool)a[5]); break;
        case 8: ReduceMin(y, x, t, a[0], (bool)a[5]); break;
        case 9: ReduceSum(y, x, t, a[0], a[1], a[4]); break;
        case 10: ReduceMax(y, x, t, a[0], a[1], a[4], true); break;
        case 11: {
            ReduceSum(y, x, t, a[0]);
            y.SetValue(1, GetAccVal<T>());
            break;
        }
        case 12: ReduceMax(y, x, t[a[1]], a[0], true); break;
"""
DTYPES = ["float32", "float16"]


def lanes_of(dtype: str) -> int:
    return 256 // np.dtype(dtype).itemsize


def tree(values: Array) -> Any:
    """Neighbours added pairwise in the element type until one is left."""
    count = 1
    while count < len(values):
        count *= 2
    row = np.zeros(count, values.dtype)
    row[: len(values)] = values
    with np.errstate(over="ignore", invalid="ignore"):
        while len(row) > 1:
            row = row[0::2] + row[1::2]
    return row[0]


def random(dtype: str, count: int, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=count).astype(dtype)


def index_bits(dtype: str, index: int) -> Any:
    word = np.uint16 if dtype == "float16" else np.uint32
    return np.array([index], word).view(dtype)[0]


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_whole_reduce_sum(dtype: str, data: st.DataObject) -> None:
    mask = data.draw(st.integers(1, lanes_of(dtype)))
    repeat = data.draw(st.integers(1, 6))
    stride = data.draw(st.integers(1, 9))
    apart = data.draw(st.integers(1, 3))
    x = random(dtype, 64 * 32 * 4 // np.dtype(dtype).itemsize, repeat)
    y = np.full(32, 7, dtype)
    got, result = call(CASES, 0, x, y, arguments=[mask, repeat, apart, 1, stride])
    want = y.copy()
    step = stride * 32 // x.itemsize
    for r in range(repeat):
        want[r * apart] = tree(x[r * step : r * step + mask])
    np.testing.assert_array_equal(got, want)
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("op", [1, 2])
def test_whole_reduce_best(dtype: str, order: int, op: int) -> None:
    lanes = lanes_of(dtype)
    x = np.round(random(dtype, lanes * 3, order) * 4).astype(dtype)  # ties: the lowest index counts
    y = np.full(32, 7, dtype)
    got, result = call(CASES, op, x, y, arguments=[lanes - 3, 3, 1, 1, 8, order])
    want = y.copy()
    for r in range(3):
        row = x[r * lanes : r * lanes + lanes - 3]
        at = int(np.argmax(row) if op == 1 else np.argmin(row))
        pair = [row[at], index_bits(dtype, at)]
        if order == 0:
            want[2 * r : 2 * r + 2] = pair
        elif order == 1:
            want[2 * r : 2 * r + 2] = pair[::-1]
        elif order == 2:
            want[r] = pair[0]
        else:
            want.view(np.uint32)[r] = at
    assert got.tobytes() == want.tobytes()
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@given(bits=st.integers(1, 2**128 - 1))
@settings(max_examples=8, deadline=None)
def test_block_reduce_skips_masked_blocks(dtype: str, bits: int) -> None:
    per_block = 32 // np.dtype(dtype).itemsize
    lanes = lanes_of(dtype)
    bits &= (1 << lanes) - 1
    x = random(dtype, lanes * 2, 5)
    y = np.full(16, 7, dtype)
    got, _ = call(CASES, 3, x, y, arguments=[0, 2, 1, 1, 8], bits=bits)
    want = y.copy()
    on = np.array([bits >> lane & 1 for lane in range(lanes)], bool)
    for r in range(2):
        row = np.where(on, x[r * lanes : (r + 1) * lanes], 0).astype(dtype)
        for b in range(8):
            block = slice(b * per_block, (b + 1) * per_block)
            if on[block].any():
                want[r * 8 + b] = tree(row[block])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_block_max_and_pairs(dtype: str) -> None:
    lanes = lanes_of(dtype)
    x = random(dtype, lanes, 9)
    got, _ = call(CASES, 4, x, np.zeros(8, dtype), arguments=[0, 1, 1, 1, 8], bits=2**128 - 1)
    np.testing.assert_array_equal(got, x.reshape(8, -1).max(axis=1))
    got, result = call(CASES, 5, x, np.zeros(lanes // 2, dtype), arguments=[lanes, 1, 1, 1, 8])
    np.testing.assert_array_equal(got, x[0::2] + x[1::2])
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@given(count=st.integers(1, 3000))
@settings(max_examples=10, deadline=None)
def test_reduce_sum_of_a_count(dtype: str, count: int) -> None:
    lanes = lanes_of(dtype)
    x = random(dtype, count, count)
    got, result = call(CASES, 11, x, np.zeros(16, dtype), arguments=[count])
    total = tree(x[:lanes])
    for at in range(lanes, count, lanes):
        total = x.dtype.type(total + tree(x[at : at + lanes]))
    assert got[0] == total
    assert got[1] == total
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@given(repeat=st.integers(1, 90), mask=st.integers(1, 64))
@settings(max_examples=8, deadline=None)
def test_reduce_sum_of_repeats_is_a_tree_of_trees(dtype: str, repeat: int, mask: int) -> None:
    lanes = lanes_of(dtype)
    x = random(dtype, repeat * lanes, 3)
    got, result = call(CASES, 9, x, np.zeros(16, dtype), arguments=[mask, repeat, 0, 0, 8])
    level = np.array([tree(x[r * lanes : r * lanes + mask]) for r in range(repeat)], dtype)
    while len(level) > 1:
        level = np.array([tree(level[i : i + lanes]) for i in range(0, len(level), lanes)], dtype)
    assert got[0] == level[0]
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@given(count=st.integers(1, 4000), least=st.booleans())
@settings(max_examples=10, deadline=None)
def test_reduce_best_of_a_count(dtype: str, count: int, least: bool) -> None:
    x = np.round(random(dtype, count, count) * 20).astype(dtype)
    got, result = call(
        CASES, 8 if least else 7, x, np.zeros(16, dtype), arguments=[count, 0, 0, 0, 0, 1]
    )
    at = int(np.argmin(x) if least else np.argmax(x))
    assert got[0] == x[at]
    assert got[1:2].tobytes() == index_bits(dtype, at).tobytes()
    assert rules(result) == set()


def test_index_of_repeats_counts_the_stride() -> None:
    x = np.zeros(64 * 4, np.float32)
    x[64 * 2 + 5] = 3
    got, _ = call(CASES, 10, x, np.zeros(16, np.float32), arguments=[64, 4, 0, 0, 8])
    assert got.view(np.uint32)[1] == 64 * 2 + 5


def test_nan_wins() -> None:
    x = np.arange(64, dtype=np.float32)
    x[7] = np.nan
    got, _ = call(CASES, 7, x, np.zeros(16, np.float32), arguments=[64, 0, 0, 0, 0, 0])
    assert np.isnan(got[0])


def test_small_temporary_buffer() -> None:
    x = np.arange(4096, dtype=np.float32)
    inside = 32 * 1024 // 4 - 8  # 32 B are left of the buffer
    _, result = call(CASES, 12, x, np.zeros(16, np.float32), arguments=[4096, inside])
    assert "RED-01" in rules(result)


def test_count_zero_writes_nothing() -> None:
    x = np.ones(64, np.float32)
    got, _ = call(CASES, 6, x, np.full(16, 7, np.float32), arguments=[0])
    np.testing.assert_array_equal(got, np.full(16, 7, np.float32))
