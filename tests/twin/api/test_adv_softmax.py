# SPDX-License-Identifier: Apache-2.0
"""The softmax family against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from .library_kernel import CPP, FLOATS, TOLERANCE, LibraryKernel, rules_of, values_of

SHAPE = "SoftMaxShapeInfo shape{m, stride, m, k}; SoftMaxTiling tiling;"
NUMBERS = ("m", "stride", "k")


def padded(rng: np.random.Generator, m: int, k: int, dtype: str) -> tuple[np.ndarray, int]:
    block = 32 // np.dtype(dtype).itemsize
    stride = (k + block - 1) // block * block
    x = np.zeros((m, stride), dtype)
    x[:, :k] = rng.uniform(-4, 4, (m, k)).astype(dtype)
    return x, stride


@pytest.mark.parametrize("dtype", FLOATS)
@settings(max_examples=6, deadline=None)
@given(m=st.integers(1, 9), k=st.integers(2, 70))
def test_rows_and_row_values(dtype: str, m: int, k: int) -> None:
    x, stride = padded(np.random.default_rng(k), m, k, dtype)
    block = 32 // x.itemsize
    kernel = LibraryKernel(
        f"{SHAPE} SoftMax<{CPP[dtype]}>(y, sum, max, x, tmp, tiling, shape);",
        {"x": dtype},
        {"y": dtype, "sum": dtype, "max": dtype},
        NUMBERS,
    )
    sizes = {"y": x.size, "sum": m * block, "max": m * block}
    result = kernel.run({"x": x.ravel()}, sizes, {"m": m, "stride": stride, "k": k})
    data = torch.from_numpy(x[:, :k].astype(np.float32))
    top = data.max(dim=-1).values.numpy()
    total = (data - data.max(dim=-1, keepdim=True).values).exp().sum(dim=-1).numpy()
    tolerance = TOLERANCE[dtype]
    y = values_of(result, "y").reshape(m, stride)[:, :k]
    np.testing.assert_allclose(y, torch.softmax(data, -1), rtol=tolerance, atol=tolerance)
    for name, value in (("max", top), ("sum", total)):
        row_values = values_of(result, name).reshape(m, block)
        np.testing.assert_allclose(row_values, np.tile(value[:, None], block), rtol=tolerance)
    assert rules_of(result) == set() or k != stride


@settings(max_examples=6, deadline=None)
@given(m=st.integers(1, 6), blocks=st.integers(1, 6), parts=st.integers(2, 4))
def test_flash_blocks_make_one_softmax(m: int, blocks: int, parts: int) -> None:
    """Blocks of a long row, updated one after the other, give the softmax of the whole row."""
    k = 8 * blocks
    x = np.random.default_rng(m * parts).uniform(-5, 5, (parts, m, k)).astype(np.float32)
    body = f"""{SHAPE}
    const uint32_t all = m * stride;
    SoftmaxFlashV2<float, false>(y, sum, max, x, factor, sum, max, tmp, tiling, shape);
    for (uint32_t p = 1; p < parts; ++p) {{
        PipeBarrier<PIPE_V>();
        SoftmaxFlashV2<float, true>(y[p * all], sum, max, x[p * all], factor[p * m * 8], sum, max,
                                    tmp, tiling, shape);
    }}"""
    outputs = dict.fromkeys(("y", "sum", "max", "factor"), "float32")
    kernel = LibraryKernel(body, {"x": "float32"}, outputs, (*NUMBERS, "parts"))
    sizes = {"y": x.size, "sum": m * 8, "max": m * 8, "factor": parts * m * 8}
    result = kernel.run(
        {"x": x.ravel()}, sizes, {"m": m, "stride": k, "k": k, "parts": parts}, mode="run"
    )
    y = values_of(result, "y").reshape(parts, m, k).astype(np.float64)
    factor = values_of(result, "factor").reshape(parts, m, 8)[:, :, :1]
    for p in range(1, parts):
        y[:p] *= factor[p]
    whole = np.concatenate(list(y), axis=-1) / values_of(result, "sum").reshape(m, 8)[:, :1]
    expected = torch.softmax(torch.from_numpy(np.concatenate(list(x), axis=-1)), -1).numpy()
    np.testing.assert_allclose(whole, expected, rtol=1e-4, atol=1e-6)


def test_the_other_members_agree_with_torch() -> None:
    m, k = 4, 32
    rng = np.random.default_rng(1)
    x, g = (rng.uniform(-3, 3, (m, k)).astype(np.float32) for _ in range(2))
    body = f"""{SHAPE} LogSoftMaxTiling logTiling;
    SoftMax<float>(p, sum, max, x, tmp, tiling, shape);
    PipeBarrier<PIPE_V>();
    SimpleSoftMax<float>(simple, sum, max, x, tmp, tiling, shape);
    SoftmaxGrad<float>(grad, g, p, tmp, tiling, false, shape);
    SoftmaxGradFront<float>(front, g, p, tmp, tiling, shape);
    LogSoftMax<float>(log, sum, max, x, tmp, logTiling, shape);"""
    outputs = dict.fromkeys(("p", "sum", "max", "simple", "grad", "front", "log"), "float32")
    kernel = LibraryKernel(body, {"x": "float32", "g": "float32"}, outputs, NUMBERS)
    sizes = dict.fromkeys(outputs, m * k) | dict.fromkeys(("sum", "max", "front"), m * 8)
    result = kernel.run({"x": x.ravel(), "g": g.ravel()}, sizes, {"m": m, "stride": k, "k": k})
    p = torch.softmax(torch.from_numpy(x), -1).numpy()
    dot = (g * p).sum(-1, keepdims=True)
    for name, expected in (("p", p), ("simple", p), ("grad", (g - dot) * p), ("log", np.log10(p))):
        np.testing.assert_allclose(
            values_of(result, name).reshape(m, k), expected, rtol=1e-4, atol=1e-5
        )
    np.testing.assert_allclose(
        values_of(result, "front").reshape(m, 8), np.tile(dot, 8), rtol=1e-4, atol=1e-5
    )
    assert rules_of(result) == set()


def test_a_call_without_any_shape_is_reported() -> None:
    kernel = LibraryKernel(
        "SoftMaxTiling tiling; tiling.srcM = 2; tiling.srcK = 16;"
        "SoftMax<float>(y, x, tmp, tiling);",
        {"x": "float32"},
        {"y": "float32"},
    )
    assert "ADV-02" in rules_of(kernel.run({"x": np.ones(32, np.float32)}, {"y": 32}))


def test_the_kernel_tiling_splits_rows_as_the_space_allows() -> None:
    kernel = LibraryKernel(
        """constexpr SoftMaxTiling t = SoftMaxFlashV2TilingFunc({64, 128, 64, 128}, 4, 4, 4608);
        const uint32_t seen[8] = {t.splitM, t.rangeM, t.tailM, t.reduceSize};
        for (int i = 0; i < 8; ++i) y.SetValue(i, seen[i]);""",
        {},
        {"y": "int32"},
    )
    assert values_of(kernel.run({}, {"y": 8}), "y")[:4].tolist() == [16, 4, 0, 128]
