# SPDX-License-Identifier: Apache-2.0
"""The less common members of the normalisation family against torch and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from .library_kernel import CPP, FLOATS, LibraryKernel, rules_of, values_of

EPSILON = 1e-5


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("area", [32, 21])
def test_group_norm_over_channels_that_start_at_blocks(dtype: str, area: int) -> None:
    images, groups, per_group = 2, 2, 3
    channels = groups * per_group
    block = 32 // np.dtype(dtype).itemsize
    padded = (area + block - 1) // block * block
    rng = np.random.default_rng(area)
    x = np.zeros((images, channels, padded), dtype)
    x[:, :, :area] = rng.uniform(-2, 2, (images, channels, area))
    gamma, beta = (np.zeros(16, dtype) for _ in range(2))
    gamma[:channels], beta[:channels] = rng.uniform(-1, 1, (2, channels))
    element = CPP[dtype]
    kernel = LibraryKernel(
        f"""GroupNormTiling tiling; tiling.n = {images}; tiling.c = {channels};
        tiling.hw = area; tiling.g = {groups}; tiling.d = {per_group};
        tiling.hwAlignSize = padded; tiling.dhwAlignSize = {per_group} * padded;
        Duplicate(mean, {element}(0), 16); Duplicate(variance, {element}(0), 16);
        Duplicate(y, {element}(0), y_size); PipeBarrier<PIPE_V>();
        GroupNorm<{element}>(y, mean, variance, x, gamma, beta, tmp, {element}(1e-5f), tiling);""",
        {"x": dtype, "gamma": dtype, "beta": dtype},
        {"y": dtype, "mean": dtype, "variance": dtype},
        ("area", "padded"),
    )
    result = kernel.run(
        {"x": x.ravel(), "gamma": gamma, "beta": beta},
        {"y": x.size, "mean": 16, "variance": 16},
        {"area": area, "padded": padded},
    )
    data = torch.from_numpy(x[:, :, :area].astype(np.float32))
    weight, bias = (torch.from_numpy(v[:channels].astype(np.float32)) for v in (gamma, beta))
    expected = torch.nn.functional.group_norm(data, groups, weight, bias, EPSILON)
    found = values_of(result, "y").reshape(x.shape)[:, :, :area]
    loose = 2e-5 if dtype == "float32" else 4e-3
    np.testing.assert_allclose(found, expected, rtol=loose, atol=loose)
    grouped = data.reshape(images * groups, -1)
    moments = (("mean", grouped.mean(-1)), ("variance", grouped.var(-1, unbiased=False)))
    for name, moment in moments:
        np.testing.assert_allclose(
            values_of(result, name)[: images * groups], moment, rtol=loose, atol=loose
        )


@settings(max_examples=4, deadline=None)
@given(batch=st.integers(2, 9), blocks=st.integers(1, 6))
def test_batch_norm_normalises_every_feature(batch: int, blocks: int) -> None:
    features = 8 * blocks
    rng = np.random.default_rng(blocks)
    x = rng.uniform(-2, 2, (batch, features)).astype(np.float32)
    gamma, beta = (np.zeros(16, np.float32) for _ in range(2))
    gamma[:batch], beta[:batch] = rng.uniform(-1, 1, (2, batch))
    kernel = LibraryKernel(
        """BatchNormTiling tiling; tiling.originalBLength = batch; tiling.meanVarSize = features;
        BatchNorm<float>(y, mean, variance, x, gamma, beta, tmp, 1e-5f, tiling);""",
        {"x": "float32", "gamma": "float32", "beta": "float32"},
        dict.fromkeys(("y", "mean", "variance"), "float32"),
        ("batch", "features"),
    )
    result = kernel.run(
        {"x": x.ravel(), "gamma": gamma, "beta": beta},
        {"y": x.size, "mean": features, "variance": features},
        {"batch": batch, "features": features},
    )
    rows = (x - x.mean(0)) / np.sqrt(x.var(0) + EPSILON)
    # Scale and shift belong to the batch's members, not to the features.
    expected = rows * gamma[:batch, None] + beta[:batch, None]
    np.testing.assert_allclose(
        values_of(result, "y").reshape(x.shape), expected, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(values_of(result, "mean"), x.mean(0), atol=1e-6)
    np.testing.assert_allclose(values_of(result, "variance"), x.var(0), rtol=1e-5, atol=1e-6)
    assert rules_of(result) == set()


def test_deep_norm_adds_a_share_of_the_residual_and_gives_the_variance() -> None:
    rows, columns = 6, 64
    rng = np.random.default_rng(4)
    x, gx = (rng.uniform(-3, 3, (rows, columns)).astype(np.float32) for _ in range(2))
    gamma, beta = (rng.uniform(-1, 1, columns).astype(np.float32) for _ in range(2))
    kernel = LibraryKernel(
        """DeepNormTiling tiling; tiling.bLength = 2; tiling.sLength = 3;
        tiling.hLength = tiling.originalHLength = 64;
        Duplicate(mean, 0.0f, 8); Duplicate(spread, 0.0f, 8); PipeBarrier<PIPE_V>();
        DeepNorm<float>(y, mean, spread, x, gx, beta, gamma, tmp, 0.3f, 1e-5f, tiling);""",
        dict.fromkeys(("x", "gx", "gamma", "beta"), "float32"),
        dict.fromkeys(("y", "mean", "spread"), "float32"),
    )
    result = kernel.run(
        {"x": x.ravel(), "gx": gx.ravel(), "gamma": gamma, "beta": beta},
        {"y": x.size, "mean": 8, "spread": 8},
    )
    data = torch.from_numpy(np.float32(0.3) * x + gx)
    expected = torch.nn.functional.layer_norm(
        data, (columns,), torch.from_numpy(gamma), torch.from_numpy(beta), EPSILON
    )
    np.testing.assert_allclose(
        values_of(result, "y").reshape(x.shape), expected, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(values_of(result, "mean")[:rows], data.mean(-1), atol=1e-6)
    variance = data.var(-1, unbiased=False)
    np.testing.assert_allclose(values_of(result, "spread")[:rows], variance, rtol=1e-5)
    assert rules_of(result) == set()


def test_normalize_takes_moments_it_is_given() -> None:
    rows, columns = 8, 40
    rng = np.random.default_rng(5)
    x = rng.uniform(-3, 3, (rows, columns)).astype(np.float32)
    gamma, beta = (rng.uniform(-1, 1, columns).astype(np.float32) for _ in range(2))
    mean, variance = rng.uniform(0.5, 2, (2, rows)).astype(np.float32)
    kernel = LibraryKernel(
        """NormalizePara para = {8, 40, 40};
        Normalize<float, float>(y, rstd, mean, variance, x, gamma, beta, tmp, 1e-5f, para);""",
        dict.fromkeys(("x", "gamma", "beta", "mean", "variance"), "float32"),
        dict.fromkeys(("y", "rstd"), "float32"),
    )
    result = kernel.run(
        {"x": x.ravel(), "gamma": gamma, "beta": beta, "mean": mean, "variance": variance},
        {"y": x.size, "rstd": rows},
    )
    rstd = 1 / np.sqrt(variance + EPSILON)
    expected = (x - mean[:, None]) * rstd[:, None] * gamma + beta
    np.testing.assert_allclose(values_of(result, "rstd"), rstd, rtol=1e-6)
    np.testing.assert_allclose(
        values_of(result, "y").reshape(x.shape), expected, rtol=1e-5, atol=1e-6
    )
    assert rules_of(result) == set()


@settings(max_examples=4, deadline=None)
@given(rounds=st.integers(1, 5), blocks=st.integers(1, 8))
def test_welford_rounds_give_the_moments_of_all_samples(rounds: int, blocks: int) -> None:
    lanes = 8 * blocks
    x = np.random.default_rng(lanes).uniform(-2, 2, (rounds, lanes)).astype(np.float32)
    kernel = LibraryKernel(
        """Duplicate(m, 0.0f, lanes); Duplicate(v, 0.0f, lanes); PipeBarrier<PIPE_V>();
        for (uint32_t i = 0; i < rounds; ++i) {
            WelfordUpdateParam step = {1, lanes, lanes, 1.0f / (i + 1)};
            WelfordUpdate<float, float>(m, v, m, v, x[i * lanes], tmp, step);
            PipeBarrier<PIPE_V>();
        }
        Duplicate(mean, 0.0f, 8); Duplicate(variance, 0.0f, 8); PipeBarrier<PIPE_V>();
        WelfordFinalizePara all = {rounds, lanes, rounds, lanes, 0, 0, 1.0f / lanes,
                                   1.0f / (lanes * rounds)};
        WelfordFinalize(mean, variance, m, v, tmp, all);""",
        {"x": "float32"},
        dict.fromkeys(("m", "v", "mean", "variance"), "float32"),
        ("rounds", "lanes"),
    )
    result = kernel.run(
        {"x": x.ravel()},
        {"m": lanes, "v": lanes, "mean": 8, "variance": 8},
        {"rounds": rounds, "lanes": lanes},
    )
    np.testing.assert_allclose(values_of(result, "m"), x.mean(0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(values_of(result, "mean")[0], x.mean(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(values_of(result, "variance")[0], x.var(), rtol=1e-4, atol=1e-6)
