# SPDX-License-Identifier: Apache-2.0
"""Copies between GM and the unified buffer, and inside it, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .basic_probe import Array, call, rules

CASES = """
        case 0: {
            DataCopy(y, xGm, {(uint16_t)a[0], (uint16_t)a[1], (uint16_t)a[2], (uint16_t)a[3]});
            break;
        }
        case 1: {
            const DataCopyExtParams rows = Rows(a);
            DataCopyPadExtParams<T> pad{(bool)a[4], (uint8_t)a[5], (uint8_t)a[6], (T)(float)a[7]};
            if (a[8]) SetPadValue((T)(float)a[7]);
            DataCopyPad(y, xGm, rows, pad);
            break;
        }
        case 2: {
            DataCopyPad(yGm, x, Rows(a));
            PipeBarrier<PIPE_ALL>();
            DataCopyPad(y, yGm, {1, (uint32_t)p[3], 0, 0, 0}, DataCopyPadExtParams<T>());
            break;
        }
        case 3: {
            DataCopy(y, x, {(uint16_t)a[0], (uint16_t)a[1], (uint16_t)a[2], (uint16_t)a[3]});
            break;
        }
        case 4: DataCopy(y, x, (uint32_t)a[0]); break;
        case 5: {
            Nd2NzParams how(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
            DataCopy(y, xGm, how);
            break;
        }
        case 7: {
            SliceInfo from[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}};
            SliceInfo to[] = {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}};
            DataCopy(y, xGm, to, from, 2);
            break;
        }
        case 9: DataCopy(y, xGm, (uint32_t)a[0]); break;
"""
# What does not exist for every type of the others.
WIDE_CASES = """
        case 6: {
            Nz2NdParamsFull how(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
            DataCopy(yGm, x, how);
            PipeBarrier<PIPE_ALL>();
            DataCopyPad(y, yGm, {1, (uint32_t)p[3], 0, 0, 0}, DataCopyPadExtParams<T>());
            break;
        }
        case 8: {
            if (a[1] == 1) SetAtomicAdd<T>();
            if (a[1] == 2) SetAtomicMax<T>();
            if (a[1] == 3) SetAtomicMin<T>();
            DataCopy(yGm, x, (uint32_t)a[0]);
            SetAtomicNone();
            PipeBarrier<PIPE_ALL>();
            DataCopyPad(y, yGm, {1, (uint32_t)p[3], 0, 0, 0}, DataCopyPadExtParams<T>());
            break;
        }
"""
DTYPES = ["float32", "float16", "uint8"]


def numbers(dtype: str, count: int) -> Array:
    return (np.arange(count) % 199).astype(dtype)


@pytest.mark.parametrize("op", [0, 3])
@given(
    rows=st.integers(1, 9),
    length=st.integers(1, 5),
    gaps=st.tuples(st.integers(0, 4), st.integers(0, 4)),
)
@settings(max_examples=10, deadline=None)
def test_rows_of_blocks(op: int, rows: int, length: int, gaps: tuple[int, int]) -> None:
    x = numbers("float16", 16 * 9 * 9)
    y = np.full(16 * 9 * 9, 7, np.float16)
    got, result = call(CASES, op, x, y, arguments=[rows, length, *gaps])
    want = y.copy().reshape(-1, 16)
    for r in range(rows):
        source = x.reshape(-1, 16)[r * (length + gaps[0]) :][:length]
        want[r * (length + gaps[1]) :][:length] = source
    np.testing.assert_array_equal(got, want.reshape(-1))
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_rows_of_bytes_in(dtype: str, data: st.DataObject) -> None:
    size = np.dtype(dtype).itemsize
    per_block = 32 // size
    rows = data.draw(st.integers(1, 5))
    length = data.draw(st.integers(1, 70))
    left = data.draw(st.integers(0, per_block))
    right = data.draw(st.integers(0, per_block))
    gap = data.draw(st.integers(0, 5))
    apart = data.draw(st.integers(0, 2))
    x = numbers(dtype, rows * 80)
    row = -(-(left + length + right) // per_block) * per_block
    y = np.full(rows * (row + 2 * per_block), 7, dtype)
    arguments = [rows, length * size, gap * size, apart, 1, left, right, 3, 0]
    got, result = call(CASES, 1, x, y, arguments=arguments)
    want = y.copy()
    for r in range(rows):
        source = x[r * (length + gap) :][:length]
        at = r * (row + apart * per_block)
        # padding is filled up to the block; without padding the first element is repeated
        want[at : at + row] = 3 if left + right else source[0]
        want[at + left : at + left + length] = source
    np.testing.assert_array_equal(got, want)
    assert "CPY-07" not in rules(result)


def test_pad_value_register() -> None:
    x = numbers("float16", 20)
    got, _ = call(CASES, 1, x, np.zeros(32, np.float16), arguments=[1, 40, 0, 0, 0, 0, 12, 5, 1])
    np.testing.assert_array_equal(got[20:], np.full(12, 5, np.float16))


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    rows=st.integers(1, 5),
    length=st.integers(1, 70),
    gaps=st.tuples(st.integers(0, 2), st.integers(0, 9)),
)
@settings(max_examples=10, deadline=None)
def test_rows_of_bytes_out(dtype: str, rows: int, length: int, gaps: tuple[int, int]) -> None:
    size = np.dtype(dtype).itemsize
    per_block = 32 // size
    row = -(-length // per_block) * per_block + gaps[0] * per_block
    x = numbers(dtype, rows * row)
    y = np.full(rows * 80, 7, dtype)
    got, result = call(CASES, 2, x, y, arguments=[rows, length * size, gaps[0], gaps[1] * size])
    want = y.copy()
    for r in range(rows):
        want[r * (length + gaps[1]) :][:length] = x[r * row :][:length]
    np.testing.assert_array_equal(got, want)
    assert rules(result) == set()


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ([1, 5, 0, 0, 0, 0, 0, 0, 0], "CPY-06"),
        ([1, 8, 0, 0, 1, 0, 20, 0, 0], "CPY-07"),
        ([0, 8, 0, 0, 0, 0, 0, 0, 0], "CPY-03"),
        ([5000, 4, 0, 0, 0, 0, 0, 0, 0], "CPY-04"),
    ],
)
def test_pad_limits(arguments: list[int], rule: str) -> None:
    x = numbers("float32", 6000)
    _, result = call(CASES, 1, x, np.zeros(64, np.float32), arguments=arguments)
    assert rule in rules(result)


def test_a_count_that_is_no_multiple_of_a_block() -> None:
    x = numbers("float32", 64)
    y = np.full(64, 7, np.float32)
    got, result = call(CASES, 9, x, y, arguments=[13])
    want = y.copy()
    want[:8] = x[:8]
    np.testing.assert_array_equal(got, want)
    assert "CPY-01" in rules(result)


def test_copy_inside_the_buffer() -> None:
    x = numbers("float32", 128)
    got, result = call(CASES, 4, x, np.zeros(128, np.float32), arguments=[128])
    np.testing.assert_array_equal(got, x)
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_to_columns_of_blocks(dtype: str) -> None:
    per_block = 32 // np.dtype(dtype).itemsize
    matrices, n, d, pitch = 2, 5, per_block * 2 + 3, per_block * 4
    x = numbers(dtype, matrices * n * pitch)
    y = np.full(matrices * 3 * 6 * per_block, 7, dtype)
    arguments = [matrices, n, d, n * pitch, pitch, 6, 1, 18 * per_block]
    got, result = call(CASES, 5, x, y, arguments=arguments)
    want = y.copy().reshape(matrices, 3, 6, per_block)
    padded = np.zeros((matrices, n, 3 * per_block), dtype)
    padded[:, :, :d] = x.reshape(matrices, n, pitch)[:, :, :d]
    want[:, :, :n] = padded.reshape(matrices, n, 3, per_block).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(got, want.reshape(-1))
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_columns_of_blocks_to_rows(dtype: str) -> None:
    n, d = 32, 32
    x = numbers(dtype, n * d)
    got, result = call(WIDE_CASES, 6, x, np.zeros_like(x), arguments=[1, n, d, 1, n, d, 1])
    np.testing.assert_array_equal(
        got.reshape(n, d), x.reshape(d // 16, n, 16).transpose(1, 0, 2).reshape(n, d)
    )
    assert rules(result) == set()


def test_slices() -> None:
    x = numbers("float32", 3 * 87)
    got, _ = call(CASES, 7, x, np.zeros(96, np.float32))
    want = [x.reshape(3, 87)[row, at : at + 24] for row in (0, 2) for at in (16, 47)]
    np.testing.assert_array_equal(got, np.concatenate(want))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("operation", [1, 2, 3])
def test_accumulation_in_gm(dtype: str, operation: int) -> None:
    rng = np.random.default_rng(operation)
    x = rng.integers(-50, 50, 64).astype(dtype)
    y = rng.integers(-50, 50, 64).astype(dtype)
    got, _ = call(WIDE_CASES, 8, x, y, arguments=[64, operation])
    want = {1: x + y, 2: np.maximum(x, y), 3: np.minimum(x, y)}[operation]
    np.testing.assert_array_equal(got, want)
