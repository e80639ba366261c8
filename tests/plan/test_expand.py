# SPDX-License-Identifier: Apache-2.0
"""Expansions that are approximations: how far they are off."""

from __future__ import annotations

import numpy as np
import torch

from npuforge.plan.expand.pointwise import GELU_RANGE, GELU_SLOPE


def test_gelu_by_the_logistic_function_is_as_good_as_float32() -> None:
    x = np.linspace(-9, 9, 400001).astype(np.float32)
    square = np.minimum(x * x, np.float32(GELU_RANGE))
    slope = np.full_like(square, GELU_SLOPE[-1])
    for coefficient in reversed(GELU_SLOPE[:-1]):
        slope = slope * square + np.float32(coefficient)
    with np.errstate(over="ignore"):
        found = x / (1 + np.exp(-(x * slope)))
    exact = torch.nn.functional.gelu(torch.from_numpy(x.astype(np.float64))).numpy()
    apart = np.abs(found - exact)
    assert apart.max() < 6e-7
    near = (np.abs(x) < 4) & (x != 0)
    assert (apart[near] / np.abs(exact[near])).max() < 2e-3
