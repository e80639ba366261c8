# SPDX-License-Identifier: Apache-2.0
"""High-level reductions and normalisation against torch and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from .library_kernel import CPP, FLOATS, TOLERANCE, LibraryKernel, rules_of, values_of

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "Sum": np.sum,
    "Mean": np.mean,
    "Max": np.max,
    "Min": np.min,
    "Prod": np.prod,
}


@pytest.mark.parametrize("pattern", ["AR", "RA"])
@settings(max_examples=5, deadline=None)
@given(first=st.integers(1, 12), blocks=st.integers(1, 12))
def test_each_reduction_along_either_axis(pattern: str, first: int, blocks: int) -> None:
    x = np.random.default_rng(blocks).uniform(0.5, 1.5, (first, 8 * blocks)).astype(np.float32)
    calls = " ".join(
        f"Reduce{name}<float, Pattern::Reduce::{pattern}>({name}_y, x, tmp, shape, true);"
        for name in REDUCTIONS
    )
    kernel = LibraryKernel(
        f"uint32_t shape[] = {{first, last}}; {calls}",
        {"x": "float32"},
        {f"{name}_y": "float32" for name in REDUCTIONS},
        ("first", "last"),
    )
    outputs = first if pattern == "AR" else 8 * blocks
    room = (outputs + 7) // 8 * 8
    sizes = {f"{name}_y": room for name in REDUCTIONS}
    result = kernel.run({"x": x.ravel()}, sizes, {"first": first, "last": 8 * blocks}, mode="run")
    for name, function in REDUCTIONS.items():
        expected = function(x, axis=1 if pattern == "AR" else 0)
        np.testing.assert_allclose(values_of(result, f"{name}_y")[:outputs], expected, rtol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@settings(max_examples=5, deadline=None)
@given(rows=st.integers(1, 8), n=st.integers(1, 100))
def test_sum_and_mean_leave_padding_out(dtype: str, rows: int, n: int) -> None:
    block = 32 // np.dtype(dtype).itemsize
    inner = (n + block - 1) // block * block
    x = np.full((rows, inner), 1000, dtype)
    x[:, :n] = np.random.default_rng(n).uniform(-1, 1, (rows, n)).astype(dtype)
    element = CPP[dtype]
    kernel = LibraryKernel(
        f"""Duplicate(total, {element}(0), total_size); Duplicate(mean, {element}(0), mean_size);
        PipeBarrier<PIPE_V>();
        Sum(total, x, tmp, SumParams{{rows, inner, n}});
        Mean<{element}, float>(mean, x, tmp, MeanParams{{rows, inner, n}});""",
        {"x": dtype},
        {"total": dtype, "mean": dtype},
        ("rows", "inner", "n"),
    )
    numbers = {"rows": rows, "inner": inner, "n": n}
    result = kernel.run({"x": x.ravel()}, {"total": block, "mean": block}, numbers)
    data = x[:, :n].astype(np.float32)
    tolerance = 10 * TOLERANCE[dtype]
    for name, expected in (("total", data.sum(-1)), ("mean", data.mean(-1))):
        np.testing.assert_allclose(
            values_of(result, name)[:rows], expected, rtol=tolerance, atol=tolerance
        )
    assert rules_of(result) == set()


def test_layer_norm_gives_mean_and_variance() -> None:
    rows, columns = 6, 48
    rng = np.random.default_rng(2)
    x = rng.uniform(-3, 3, (rows, columns)).astype(np.float32)
    gamma, beta = (rng.uniform(-1, 1, columns).astype(np.float32) for _ in range(2))
    kernel = LibraryKernel(
        """LayerNormTiling tiling; tiling.bLength = 2; tiling.sLength = 3;
        tiling.hLength = tiling.originalHLength = 48;
        RmsNormTiling rms; rms.bLength = 2; rms.sLength = 3; rms.hLength = rms.originalHLength = 48;
        Duplicate(mean, 0.0f, 8); Duplicate(variance, 0.0f, 8); PipeBarrier<PIPE_V>();
        LayerNorm<float>(y, mean, variance, x, gamma, beta, tmp, 1e-5f, tiling);
        RmsNorm<float>(z, x, gamma, tmp, 1e-5f, rms);""",
        {"x": "float32", "gamma": "float32", "beta": "float32"},
        dict.fromkeys(("y", "z", "mean", "variance"), "float32"),
    )
    sizes = {"y": x.size, "z": x.size, "mean": 8, "variance": 8}
    result = kernel.run({"x": x.ravel(), "gamma": gamma, "beta": beta}, sizes)
    data = torch.from_numpy(x)
    expected = torch.nn.functional.layer_norm(
        data, (columns,), torch.from_numpy(gamma), torch.from_numpy(beta), 1e-5
    )
    np.testing.assert_allclose(
        values_of(result, "y").reshape(x.shape), expected, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(values_of(result, "mean")[:rows], x.mean(-1), atol=1e-5)
    np.testing.assert_allclose(values_of(result, "variance")[:rows], x.var(-1), rtol=1e-4)
    rms = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * gamma
    np.testing.assert_allclose(values_of(result, "z").reshape(x.shape), rms, rtol=1e-4, atol=1e-5)
    assert rules_of(result) == set()


def test_layer_norm_backward_matches_autograd() -> None:
    rows, columns = 4, 32
    rng = np.random.default_rng(4)
    x, dy = (rng.uniform(-2, 2, (rows, columns)).astype(np.float32) for _ in range(2))
    gamma = rng.uniform(0.5, 1.5, columns).astype(np.float32)
    mean, variance = (np.resize(v, 8).astype(np.float32) for v in (x.mean(-1), x.var(-1)))
    kernel = LibraryKernel(
        """LayerNormGradTiling tiling; tiling.bLength = 1; tiling.sLength = 4;
        tiling.hLength = tiling.originalHLength = 32;
        LayerNormGradBetaTiling beta; beta.bLength = 1; beta.sLength = 4;
        beta.hLength = beta.originalHLength = 32;
        LayerNormGrad<float>(dx, scaled, dy, x, variance, mean, gamma, tmp, 1e-5f, tiling);
        PipeBarrier<PIPE_V>();
        LayerNormGradBeta<float>(dgamma, dbeta, scaled, dy, tmp, beta);""",
        dict.fromkeys(("dy", "x", "variance", "mean", "gamma"), "float32"),
        dict.fromkeys(("dx", "scaled", "dgamma", "dbeta"), "float32"),
    )
    inputs = {"dy": dy.ravel(), "x": x.ravel(), "variance": variance, "mean": mean, "gamma": gamma}
    sizes = {"dx": x.size, "scaled": x.size, "dgamma": columns, "dbeta": columns}
    result = kernel.run(inputs, sizes)
    data, weight, bias = (
        torch.from_numpy(v).requires_grad_() for v in (x, gamma, np.zeros_like(gamma))
    )
    normed = torch.nn.functional.layer_norm(data, (columns,), weight, bias, 1e-5)
    gradients = torch.autograd.grad(normed, (data, weight, bias), torch.from_numpy(dy))
    for name, gradient in zip(("dx", "dgamma", "dbeta"), gradients, strict=True):
        expected = gradient.numpy().ravel()
        np.testing.assert_allclose(values_of(result, name), expected, rtol=1e-3, atol=1e-4)
