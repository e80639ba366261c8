# SPDX-License-Identifier: Apache-2.0
"""Transposes against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from .basic_probe import Array, call, rules

CASES = """
        case 0: if constexpr (sizeof(T) == 2) Transpose(y, x); break;
        case 1: {
            const TransposeType type = a[4] ? TransposeType::TRANSPOSE_NCHW2NHWC
                                            : TransposeType::TRANSPOSE_NHWC2NCHW;
            TransposeParamsExt shape(a[0], a[1], a[2], a[3], type);
            LocalTensor<uint8_t> shared = t.template ReinterpretCast<uint8_t>();
            Transpose(y, x, shared, shape);
            break;
        }
        case 2: {
            uint64_t dst[16], src[16];
            for (int i = 0; i < 16; ++i) {
                src[i] = (uint64_t)(x[i * a[0]].GetPhyAddr());
                dst[i] = (uint64_t)(y[i * a[1]].GetPhyAddr());
            }
            TransDataTo5HDParams how((bool)a[5], (bool)a[6], a[2], a[3], a[4]);
            TransDataTo5HD<T>(dst, src, how);
            break;
        }
"""


def numbers(dtype: str, count: int) -> Array:
    return (np.arange(count) % 251).astype(dtype)


def test_sixteen_by_sixteen() -> None:
    x = numbers("float16", 256)
    got, result = call(CASES, 0, x, np.zeros_like(x))
    np.testing.assert_array_equal(got.reshape(16, 16), x.reshape(16, 16).T)
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
@pytest.mark.parametrize("shape", [(1, 3, 4, 8), (2, 5, 8, 8)])
def test_layouts(dtype: str, shape: tuple[int, int, int, int]) -> None:
    n, c, h, w = shape
    x = numbers(dtype, n * c * h * w)
    got, result = call(CASES, 1, x, np.zeros_like(x), arguments=[n, c, h, w, 1])
    np.testing.assert_array_equal(
        got.reshape(n, h, w, c), x.reshape(n, c, h, w).transpose(0, 2, 3, 1)
    )
    back, _ = call(CASES, 1, got, np.zeros_like(x), arguments=[n, c, h, w, 0])
    np.testing.assert_array_equal(back, x)
    assert rules(result) == set()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_blocks(dtype: str) -> None:
    per_block = 32 // np.dtype(dtype).itemsize
    x = numbers(dtype, 16 * per_block)
    arguments = [per_block, per_block, 1, 0, 0, 0, 0]
    got, result = call(CASES, 2, x, np.zeros_like(x), arguments=arguments)
    np.testing.assert_array_equal(got.reshape(per_block, 16), x.reshape(16, per_block).T)
    assert rules(result) == set()


def test_blocks_over_repeats() -> None:
    plane = 64  # 16 channels of 64 elements become 64 groups of 16 channels
    x = numbers("float16", 16 * plane)
    got, _ = call(CASES, 2, x, np.zeros_like(x), arguments=[plane, 16, plane // 16, 16, 1, 0, 0])
    np.testing.assert_array_equal(got.reshape(plane, 16), x.reshape(16, plane).T)


@pytest.mark.parametrize("high", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_bytes_move_by_halves(high: tuple[int, int]) -> None:
    x = numbers("uint8", 16 * 32)
    got, _ = call(CASES, 2, x, np.zeros_like(x), arguments=[32, 32, 1, 0, 0, *high])
    to, source = high[0] * 16, high[1] * 16
    want = np.zeros((16, 32), np.uint8)
    want[:, to : to + 16] = x.reshape(16, 32)[:, source : source + 16].T
    np.testing.assert_array_equal(got.reshape(16, 32), want)


def test_layout_limits() -> None:
    x = numbers("float32", 3 * 7)
    _, result = call(CASES, 1, x, np.zeros_like(x), arguments=[1, 3, 1, 7, 1])
    assert "VEC-16" in rules(result)
