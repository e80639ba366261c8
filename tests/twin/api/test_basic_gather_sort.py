# SPDX-License-Identifier: Apache-2.0
"""Gathers and sorts against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .basic_probe import Array, call, rules

CASES = """
        case 0: Gather(y, x, z, (uint32_t)a[0], (uint32_t)a[1]); break;
        case 1: Gather(y, x, z, 0u, (uint64_t)a[0], (uint8_t)a[1], (uint16_t)a[2]); break;
        case 2: {
            uint64_t kept = 0;
            GatherMaskParams how(1, (uint16_t)a[3], (uint16_t)a[4], 0);
            GatherMask(y, x, (uint8_t)a[0], (bool)a[1], (uint32_t)a[2], how, kept);
            y.SetValue(a[5], (T)(float)(int32_t)kept);
            break;
        }
        case 3: {
            uint64_t kept = 0;
            GatherMaskParams how(1, (uint16_t)a[3], (uint16_t)a[4], (uint8_t)a[6]);
            if constexpr (sizeof(T) == 4) {
                GatherMask(y, x, z, (bool)a[1], (uint32_t)a[2], how, kept);
            } else {
                LocalTensor<uint16_t> pattern = z.template ReinterpretCast<uint16_t>();
                GatherMask(y, x, pattern, (bool)a[1], (uint32_t)a[2], how, kept);
            }
            y.SetValue(a[5], (T)(float)(int32_t)kept);
            break;
        }
        case 4: Sort32(y, x, z, a[0]); break;
        case 5: {
            uint16_t lengths[4];
            uint32_t at[4] = {};
            for (int i = 0; i < 4; ++i) {
                lengths[i] = (uint16_t)a[i];
                for (int j = 0; j < i; ++j) at[i] += (8 / sizeof(T)) * a[j];
            }
            MrgSortSrcList<T> lists(x[at[0]], x[at[1]], x[at[2]], x[at[3]]);
            MrgSort(y, lists, MrgSort4Info(lengths, (bool)a[5], (uint16_t)a[4], 1));
            uint16_t n1, n2, n3, n4;
            GetMrgSortResult(n1, n2, n3, n4);
            LocalTensor<uint16_t> words = y.template ReinterpretCast<uint16_t>();
            if (a[6] > 0) words.SetValue(a[6], (uint16_t)(n1 + n2 + n3 + n4));
            break;
        }
        case 6: {
            Sort<T, true>(t, x, z, y, a[0]);
            PipeBarrier<PIPE_V>();
            Extract(y, y[a[0] * 32].template ReinterpretCast<uint32_t>(), t, a[0]);
            break;
        }
"""
GATHERB = """
        case 0: Gatherb(y, x, z, (uint8_t)a[0], {(uint8_t)a[1], (uint8_t)a[2]}); break;
"""
DTYPES = ["float32", "float16"]


def random(dtype: str, count: int, seed: int) -> Array:
    return np.round(np.random.default_rng(seed).normal(size=count) * 30).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@given(count=st.integers(1, 300), seed=st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_gather_of_a_count(dtype: str, count: int, seed: int) -> None:
    x = random(dtype, 400, seed)
    at = np.random.default_rng(seed).integers(0, 390, count)
    z = (at * x.itemsize).astype(np.uint32)
    y = np.full(320, 7, dtype)
    got, result = call(CASES, 0, x, y, z=z, arguments=[2 * x.itemsize, count])
    want = y.copy()
    want[:count] = x[at + 2]
    np.testing.assert_array_equal(got, want)
    assert rules(result) == set()


def test_gather_of_repeats() -> None:
    x = np.arange(200, dtype=np.float32)
    at = np.random.default_rng(0).integers(0, 200, 128)
    y = np.full(192, 7, np.float32)
    got, _ = call(CASES, 1, x, y, z=(at * 4).astype(np.uint32), arguments=[50, 2, 10])
    want = y.copy()
    want[:50] = x[at[:50]]
    want[80:130] = x[at[64:114]]
    np.testing.assert_array_equal(got, want)


def test_gather_reports_offsets() -> None:
    x = np.arange(64, dtype=np.float32)
    y = np.zeros(8, np.float32)
    z = np.array([2, 0, 0, 0, 0, 0, 0, 0], np.uint32)
    assert "GTH-01" in rules(call(CASES, 0, x, y, z=z, arguments=[0, 8])[1])
    z[0] = 1 << 20
    assert "GTH-01" in rules(call(CASES, 0, x, y, z=z, arguments=[0, 8])[1])


def test_gatherb() -> None:
    x = np.arange(16 * 40, dtype=np.uint16)
    blocks = np.random.default_rng(1).integers(0, 40, 16)
    y = np.zeros(16 * 32, np.uint16)
    got, result = call(GATHERB, 0, x, y, z=(blocks * 32).astype(np.uint32), arguments=[2, 2, 16])
    want = y.copy().reshape(32, 16)
    for i, block in enumerate(blocks):
        want[i // 8 * 16 + i % 8 * 2] = x.reshape(40, 16)[block]
    np.testing.assert_array_equal(got, want.reshape(-1))
    assert rules(result) == set()


FIXED = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pattern", FIXED)
def test_gather_mask_fixed(dtype: str, pattern: int) -> None:
    lanes = 256 // np.dtype(dtype).itemsize
    x = random(dtype, lanes * 3, pattern)
    step, first = FIXED[pattern]
    y = np.full(3 * lanes + 32, 7, dtype)
    spot = 3 * lanes + 16
    got, result = call(CASES, 2, x, y, arguments=[pattern, 0, 0, 3, 8, spot])
    kept = x[first::step]
    np.testing.assert_array_equal(got[: len(kept)], kept)
    assert (got[len(kept) : spot] == 7).all()
    assert got[spot] == len(kept)
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@given(mask=st.integers(1, 60), repeat=st.integers(1, 4), seed=st.integers(0, 9))
@settings(max_examples=8, deadline=None)
def test_gather_mask_counts_per_repeat(dtype: str, mask: int, repeat: int, seed: int) -> None:
    size = np.dtype(dtype).itemsize
    x = random(dtype, 1024 // size * 4, seed)
    words = np.random.default_rng(seed).integers(0, 2**32, 64, dtype=np.uint32)
    y = np.full(512, 7, dtype)
    got, result = call(CASES, 3, x, y, z=words, arguments=[0, 1, mask, repeat, 9, 500, 1])
    kept: list[float] = []
    for r in range(repeat):
        bits = np.unpackbits(words[r * 8 :].view(np.uint8), bitorder="little")[:mask]
        kept += list(x[r * 9 * 32 // size :][:mask][bits == 1])
    np.testing.assert_array_equal(got[: len(kept)], np.array(kept, dtype))
    assert got[500] == len(kept)
    assert rules(result) == set()


def records(values: Array, index: Array) -> Array:
    out = np.zeros((len(values), 8), np.uint8)
    out[:, : values.itemsize] = values.view(np.uint8).reshape(len(values), -1)
    out[:, 4:] = index.astype(np.uint32).view(np.uint8).reshape(len(values), 4)
    return out.reshape(-1).view(values.dtype)


def descending(values: Array) -> Array:
    return np.argsort(-values.astype(np.float64), kind="stable")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("repeat", [1, 4])
def test_sort32(dtype: str, repeat: int) -> None:
    x = random(dtype, 32 * repeat, repeat)
    index = np.random.default_rng(3).integers(0, 2**31, 32 * repeat).astype(np.uint32)
    y = np.zeros(32 * repeat * 8 // x.itemsize, dtype)
    got, result = call(CASES, 4, x, y, z=index, arguments=[repeat])
    want = []
    for r in range(repeat):
        part = slice(32 * r, 32 * r + 32)
        order = descending(x[part])
        want.append(records(x[part][order], index[part][order]))
    assert got.tobytes() == np.concatenate(want).tobytes()
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", DTYPES)
@given(lengths=st.lists(st.integers(1, 40), min_size=2, max_size=4), seed=st.integers(0, 50))
@settings(max_examples=8, deadline=None)
def test_merge_sort(dtype: str, lengths: list[int], seed: int) -> None:
    total = sum(lengths)
    values = random(dtype, total, seed)
    at = 0
    for length in lengths:
        values[at : at + length] = np.sort(values[at : at + length])[::-1]
        at += length
    index = np.arange(total)
    padded = [*lengths, 0, 0][:4]
    valid = {2: 3, 3: 7, 4: 15}[len(lengths)]
    x = records(values, index)
    got, result = call(CASES, 5, x, np.zeros_like(x), arguments=[*padded, valid, 0, 0])
    order = descending(values)
    assert got.tobytes() == records(values[order], index[order]).tobytes()
    assert rules(result) == set()


def test_merge_stops_when_a_list_is_used_up() -> None:
    values = np.array([9, 8, 7, 6, 5, 4, 3, 2], np.float32)  # the first list holds 9 and 8
    x = records(values, np.arange(8))
    y = np.full(32, 7, np.float32)
    got, _ = call(CASES, 5, x, y, arguments=[2, 6, 0, 0, 3, 1, 60])
    assert got[0] == 9
    assert got[2] == 8
    assert (got[4:30] == 7).all()
    assert got.view(np.uint16)[60] == 2


def test_merge_of_one_list_is_refused() -> None:
    x = records(np.array([3, 2, 1, 0], np.float32), np.arange(4))
    _, result = call(CASES, 5, x, np.zeros(16, np.float32), arguments=[2, 2, 0, 0, 1, 0, 0])
    assert "SRT-02" in rules(result)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 3, 8, 21])
def test_full_sort_and_extract(dtype: str, groups: int) -> None:
    count = 32 * groups
    x = random(dtype, count, groups)
    index = np.arange(count, dtype=np.uint32)
    # y holds the values, then the indices; the sort needs as much again as room to merge into
    y = np.zeros(count * 8 // x.itemsize, dtype)
    got, _ = call(CASES, 6, x, y, z=index, arguments=[groups])
    order = descending(x)
    np.testing.assert_array_equal(got[:count], x[order])
    np.testing.assert_array_equal(got[count:].view(np.uint32)[:count], index[order])
