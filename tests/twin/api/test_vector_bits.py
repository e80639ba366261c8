# SPDX-License-Identifier: Apache-2.0
"""Compare, Select, Duplicate, CreateVecIndex, Copy, Brcb, CastDequant, operators: against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .vector_records import (
    BITS,
    BYTES,
    COUNT,
    COUNTER,
    DTYPES,
    LANES,
    Array,
    Layout,
    Record,
    expected,
    run_records,
)

FLOATS = ("float32", "float16")
COMPARISONS: list[Callable[[Array, Array], Array]] = [
    np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal
]  # fmt: skip


def numbers(dtype: str, seed: int) -> Array:
    """Small integers, so that values repeat, with NaN and infinities."""
    values = np.random.default_rng(seed).integers(-4, 5, BYTES // np.dtype(dtype).itemsize)
    result = values.astype(dtype)
    result[[3, 17, 70]] = [np.nan, np.inf, -np.inf]
    return result


def packed(flags: Array) -> Array:
    return np.packbits(flags, bitorder="little")


@pytest.mark.parametrize("dtype", FLOATS)
def test_compare(dtype: str) -> None:
    a, b = numbers(dtype, 1), numbers(dtype, 2)
    full = 256 // a.dtype.itemsize
    strided = Layout(LANES, full, 3, (0, 0), (1, 8), (2, 16), (1, 0))
    drawn = [Layout(COUNT, 6 * full), strided]
    cases = [(op, m, y) for op in (80, 81) for m in range(6) for y in drawn]
    records = [Record(op, DTYPES[dtype], y, number=2.0, mode=m) for op, m, y in cases]
    for (op, mode, layout), row in zip(cases, run_records(records, a, b, b), strict=True):
        x = a[layout.indices(layout.a, a.dtype.itemsize, a.dtype.itemsize)]
        y = b[layout.indices(layout.b, a.dtype.itemsize, a.dtype.itemsize)]
        wanted = packed(COMPARISONS[mode](x, y if op == 80 else a.dtype.type(2)))
        assert np.array_equal(row[: wanted.size], wanted), (op, mode, layout)
        assert np.array_equal(row[wanted.size :], b.view(np.uint8)[wanted.size :]), "wrote too much"


@pytest.mark.parametrize("dtype", FLOATS)
def test_compare_into_the_register(dtype: str) -> None:
    a, b = numbers(dtype, 1), numbers(dtype, 2)
    full = 256 // a.dtype.itemsize
    every = (2**64 - 1, 2**64 - 1)
    records = [Record(82, DTYPES[dtype], Layout(BITS, 0, 1, every), mode=m) for m in range(6)]
    for record, row in zip(records, run_records(records, a, b, b), strict=True):
        wanted = packed(COMPARISONS[record.mode](a[:full], b[:full]))
        assert np.array_equal(row[: full // 8], wanted)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [83, 84, 85, 86])
def test_select(dtype: str, op: int) -> None:
    size = np.dtype(dtype).itemsize
    full = 256 // size
    a, d = numbers(dtype, 1), numbers(dtype, 3)
    b = numbers(dtype, 2)
    b.view(np.uint8)[BYTES // 2 :] = np.random.default_rng(9).integers(0, 256, BYTES // 2)
    bits = np.unpackbits(b.view(np.uint8)[BYTES // 2 :], bitorder="little").astype(bool)
    mask = (0xFFFF0000FFFF1234, 0x123456789)
    drawn = [Layout(BITS, 0, 3, mask, (1, 8), (2, 16), (1, 8))]
    if op in (83, 84):
        drawn += [
            Layout(COUNT, 5 * full - 7),
            Layout(LANES, full - 9, 3),
            Layout(COUNTER, 3 * full - 11, 1),
        ]
    modes = {83: (0, 2), 84: (1,), 85: (0,), 86: (2,)}[op]
    cases = [(m, y) for m in modes for y in drawn]
    records = [Record(op, DTYPES[dtype], y, number=7.5, mode=m) for m, y in cases]
    for (mode, layout), row in zip(cases, run_records(records, a, b, d), strict=True):
        lanes = layout.lanes(size)
        choice = bits[lanes % full if mode == 0 else lanes]

        def chosen(x: Array, y: Array, _d: Array, choice: Array = choice) -> Array:
            return np.where(choice, x, x.dtype.type(7.5) if op == 84 else y)

        wanted = expected(layout, chosen, a, b, d)
        keep = slice(0, BYTES - 32)  # op 86 keeps an address at the end
        assert np.array_equal(row[keep], wanted.view(np.uint8)[keep]), (mode, layout)


@pytest.mark.parametrize("dtype", FLOATS)
def test_fill_and_copy(dtype: str) -> None:
    a, d = numbers(dtype, 1), numbers(dtype, 3)
    full = 256 // a.dtype.itemsize
    forms = [
        Layout(COUNT, 300),
        Layout(LANES, full - 5, 3, (0, 0), (2, 17), (1, 9)),
        Layout(BITS, 0, 3, (0xF0F0F0F0F0F0F0F0, 5), (1, 8), (2, 16)),
    ]
    cases = [(op, y) for op in (87, 88, 89) for y in forms if (op, y.form) != (89, COUNT)]
    records = [Record(op, DTYPES[dtype], y, number=3.0) for op, y in cases]
    for (op, layout), row in zip(cases, run_records(records, a, a, d), strict=True):
        lanes = layout.lanes(a.dtype.itemsize)

        def filled(x: Array, _b: Array, _d: Array, op: int = op, lanes: Array = lanes) -> Array:
            if op == 89:
                return x
            return (lanes + 3.0).astype(dtype) if op == 88 else np.full_like(x, 3)

        assert np.array_equal(row, expected(layout, filled, a, a, d).view(np.uint8)), (op, layout)


@pytest.mark.parametrize("dtype", FLOATS)
def test_copy_in_counter_mode_counts_per_repeat(dtype: str) -> None:
    a, d = numbers(dtype, 1), numbers(dtype, 3)
    per_block = 32 // a.dtype.itemsize
    n = 2 * per_block + 3
    record = Record(89, DTYPES[dtype], Layout(COUNTER, n, 3, (0, 0), (2, 10), (1, 4)))
    wanted = d.copy()
    for repeat in range(3):
        for i in range(n):
            to = (repeat * 10 + i // per_block * 2) * per_block + i % per_block
            wanted[to] = a[(repeat * 4 + i // per_block) * per_block + i % per_block]
    assert np.array_equal(run_records([record], a, a, d)[0], wanted.view(np.uint8))


@pytest.mark.parametrize("dtype", FLOATS)
def test_brcb(dtype: str) -> None:
    a, d = numbers(dtype, 1), numbers(dtype, 3)
    per_block = 32 // a.dtype.itemsize
    record = Record(90, DTYPES[dtype], Layout(LANES, 0, 4, (0, 0), (2, 17)))
    wanted = d.copy()
    for i in range(32):
        start = (i // 8 * 17 + i % 8 * 2) * per_block
        wanted[start : start + per_block] = a[i]
    assert np.array_equal(run_records([record], a, a, d)[0], wanted.view(np.uint8))


def test_cast_dequant_fills_half_blocks() -> None:
    a = np.random.default_rng(4).integers(-2000, 2000, BYTES // 2).astype(np.int16)
    d = np.full(BYTES, 99, np.uint8)
    n, blocks = 160, 10
    number = Record(91, 0, Layout(COUNT, n), integer=-5, number=0.0625, mode=0)
    upper = Record(91, 0, Layout(COUNT, n), integer=-5, number=0.0625, mode=1)
    table = Record(92, 0, Layout(COUNT, n))
    rows = run_records([number, upper, table], a, a, d)
    scalar = np.clip(np.rint(a[:n] * 0.0625) - 5, -128, 127).astype(np.int8).view(np.uint8)
    lane = np.arange(n) % 16
    vector = np.clip(np.rint(a[:n] * 0.125 * (lane + 1)) + lane - 8, 0, 255).astype(np.uint8)
    for row, values, half in ((rows[0], scalar, 0), (rows[1], scalar, 16), (rows[2], vector, 0)):
        wanted = d.copy().reshape(-1, 32)
        wanted[:blocks, half : half + 16] = values.reshape(blocks, 16)
        assert np.array_equal(row, wanted.ravel())


@pytest.mark.parametrize("dtype", FLOATS)
def test_operators_work_on_whole_tensors(dtype: str) -> None:
    a, b = numbers(dtype, 1), numbers(dtype, 2)
    records = [Record(op, DTYPES[dtype], Layout(COUNT)) for op in (93, 94, 95, 96, 97)]
    added, divided, le, ne, either = run_records(records, a, b, a)
    with np.errstate(all="ignore"):
        assert np.array_equal(added.view(dtype), a + b, equal_nan=True)
        assert np.array_equal(divided.view(dtype), a / b, equal_nan=True)
    assert np.array_equal(le[: a.size // 8], packed(a <= b))
    assert np.array_equal(ne[: a.size // 8], packed(a != b))
    assert np.array_equal(either.view(np.int16), a.view(np.int16) | b.view(np.int16))
