# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions of the high-level API against torch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from .library_kernel import CPP, FLOATS, TOLERANCE, LibraryKernel, rules_of, values_of

Function = Callable[[torch.Tensor], torch.Tensor]
UNARY: dict[str, tuple[Function, float, float]] = {
    "Tanh": (torch.tanh, -5, 5),
    "Sigmoid": (torch.sigmoid, -9, 9),
    "Log2": (torch.log2, 0.1, 100),
    "Sin": (torch.sin, -20, 20),
    "Cos": (torch.cos, -20, 20),
    "Tan": (torch.tan, -1.4, 1.4),
    "Asin": (torch.asin, -1, 1),
    "Acos": (torch.acos, -1, 1),
    "Atan": (torch.atan, -30, 30),
    "Sinh": (torch.sinh, -5, 5),
    "Cosh": (torch.cosh, -5, 5),
    "Asinh": (torch.asinh, -50, 50),
    "Acosh": (torch.acosh, 1, 50),
    "Atanh": (torch.atanh, -0.9, 0.9),
    "Erf": (torch.erf, -4, 4),
    "Erfc": (torch.erfc, -3, 3),
    "Floor": (torch.floor, -50, 50),
    "Ceil": (torch.ceil, -50, 50),
    "Trunc": (torch.trunc, -50, 50),
    "Round": (torch.round, -50, 50),
    "Frac": (torch.frac, -50, 50),
    "Sign": (torch.sign, -2, 2),
    "Digamma": (torch.digamma, 0.5, 20),
    "Lgamma": (torch.lgamma, 0.5, 20),
    "Gelu": (lambda x: torch.nn.functional.gelu(x, approximate="tanh"), -5, 5),
    "FasterGelu": (lambda x: x * torch.sigmoid(1.702 * x), -5, 5),
}


def all_unary(dtype: str) -> LibraryKernel:
    """Every function in one kernel, chosen by a number: one build instead of thirty."""
    cases = "\n".join(
        f"case {number}: {name}<{CPP[dtype]}>(y, x, tmp, count); break;"
        for number, name in enumerate(UNARY)
    )
    return LibraryKernel(
        f"switch (which) {{ {cases} }}", {"x": dtype}, {"y": dtype}, ("which", "count")
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_agree_with_torch(name: str, dtype: str) -> None:
    function, low, high = UNARY[name]
    x = np.random.default_rng(7).uniform(low, high, 512).astype(dtype)
    numbers = {"which": list(UNARY).index(name), "count": 512}
    result = all_unary(dtype).run({"x": x}, {"y": 512}, numbers)
    expected = function(torch.from_numpy(x).float()).numpy()
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(values_of(result, "y"), expected, rtol=tolerance, atol=tolerance)
    assert rules_of(result) == set()


@settings(max_examples=8, deadline=None)
@given(blocks=st.integers(1, 40))
def test_a_count_stops_where_it_says(blocks: int) -> None:
    x = np.linspace(-3, 3, 8 * blocks, dtype=np.float32)
    kernel = LibraryKernel(
        "Duplicate(y, 9.0f, y_size); PipeBarrier<PIPE_V>(); Sigmoid(y, x, tmp, count);",
        {"x": "float32"},
        {"y": "float32"},
        ("count",),
    )
    count = 8 * blocks - 5
    y = values_of(kernel.run({"x": x}, {"y": x.size}, {"count": count}), "y")
    np.testing.assert_allclose(y[:count], 1 / (1 + np.exp(-x[:count])), rtol=1e-5)
    assert (y[count:] == 9).all()


def test_fast_gelu_of_the_second_kind_is_its_parabola() -> None:
    x = np.linspace(-6, 6, 256, dtype=np.float32)
    kernel = LibraryKernel("FasterGeluV2(y, x, tmp, 256);", {"x": "float32"}, {"y": "float32"})
    y = values_of(kernel.run({"x": x}, {"y": 256}), "y")
    np.testing.assert_allclose(y, torch.nn.functional.gelu(torch.from_numpy(x)), atol=0.05)
    np.testing.assert_allclose(y[x > 3], x[x > 3], rtol=1e-5)


def test_paired_functions_agree_with_numpy() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.uniform(0.5, 4, 256).astype(np.float32) for _ in range(2))
    body = (
        "Power(p, a, b, tmp, 256); Fmod(m, a, b, tmp, 256); GeGLU(g, a, b, tmp, 256);"
        "SwiGLU(s, a, b, f_beta, tmp, 256); ReGlu(r, a, b, tmp, 256); Silu(u, a, 256);"
        "Swish(w, a, 256, f_beta); ClampMax(c, a, tmp, 1.5f, 256); ClampMin(d, a, tmp, 1.5f, 256);"
    )
    names = "pmgsruwcd"
    kernel = LibraryKernel(
        body, {"a": "float32", "b": "float32"}, dict.fromkeys(names, "float32"), ("f_beta",)
    )
    result = kernel.run({"a": a, "b": b}, dict.fromkeys(names, 256), {"f_beta": 1.25})
    gelu = torch.nn.functional.gelu(torch.from_numpy(b), approximate="tanh").numpy()
    expected = {
        "p": a**b,
        "m": np.fmod(a, b),
        "g": a * gelu,
        "s": a * b / (1 + np.exp(-1.25 * b)),
        "r": a * np.maximum(b, 0),
        "u": a / (1 + np.exp(-a)),
        "w": a / (1 + np.exp(-1.25 * a)),
        "c": np.minimum(a, 1.5),
        "d": np.maximum(a, 1.5),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(values_of(result, name), value, rtol=2e-5, atol=1e-5)
    assert rules_of(result) == set()


def test_integers_are_raised_and_xored() -> None:
    rng = np.random.default_rng(5)
    base, exponent = rng.integers(-5, 6, 64), rng.integers(0, 6, 64)
    a, b = (rng.integers(-30000, 30000, 128).astype(np.int16) for _ in range(2))
    kernel = LibraryKernel(
        "Power(p, base, exponent, tmp, 64); Power(q, base, int32_t(2), tmp, 64);"
        "Xor(x, a, b, tmp, 128);",
        {"base": "int32", "exponent": "int32", "a": "int16", "b": "int16"},
        {"p": "int32", "q": "int32", "x": "int16"},
    )
    inputs = {"base": base.astype(np.int32), "exponent": exponent.astype(np.int32), "a": a, "b": b}
    result = kernel.run(inputs, {"p": 64, "q": 64, "x": 128})
    assert (values_of(result, "p") == base**exponent).all()
    assert (values_of(result, "q") == base**2).all()
    assert (values_of(result, "x") == (a ^ b)).all()


@pytest.mark.parametrize("axis", [0, 1])
@settings(max_examples=6, deadline=None)
@given(outer=st.integers(1, 20), blocks=st.integers(1, 6))
def test_running_sums(axis: int, outer: int, blocks: int) -> None:
    x = np.random.default_rng(outer).uniform(-1, 1, (outer, 8 * blocks)).astype(np.float32)
    head = f"constexpr CumSumConfig kConfig = {{{'true' if axis else 'false'}, false, true}};"
    kernel = LibraryKernel(
        "CumSum<float, kConfig>(y, last, x, tmp, {outer, inner});",
        {"x": "float32"},
        {"y": "float32", "last": "float32"},
        ("outer", "inner"),
        head,
    )
    numbers = {"outer": outer, "inner": 8 * blocks}
    result = kernel.run({"x": x.ravel()}, {"y": x.size, "last": 8 * blocks}, numbers)
    expected = np.cumsum(x, axis=axis)
    np.testing.assert_allclose(values_of(result, "y").reshape(x.shape), expected, atol=1e-4)
    np.testing.assert_allclose(values_of(result, "last"), expected[-1], atol=1e-4)


def test_too_little_temporary_space_is_reported() -> None:
    kernel = LibraryKernel(
        "Erf(y, x, tmp, 256);", {"x": "float32"}, {"y": "float32"}, tmp_bytes=256
    )
    result = kernel.run({"x": np.zeros(256, np.float32)}, {"y": 256})
    assert rules_of(result) == {"QUE-15"}


def test_a_destination_that_is_the_source_is_reported_where_the_reference_forbids_it() -> None:
    x = np.ones(256, np.float32)
    forbidden = LibraryKernel(
        "Tanh(x, x, tmp, 256); DataCopy(y, x, 256);", {"x": "float32"}, {"y": "float32"}
    )
    allowed = LibraryKernel(
        "Gelu(x, x, tmp, 256); DataCopy(y, x, 256);", {"x": "float32"}, {"y": "float32"}
    )
    assert "ADV-03" in rules_of(forbidden.run({"x": x}, {"y": 256}))
    assert rules_of(allowed.run({"x": x}, {"y": 256})) == set()


def test_a_library_call_costs_more_than_one_instruction() -> None:
    x = np.ones(4096, np.float32)
    micros = {}
    for name in ("Silu", "Log"):
        kernel = LibraryKernel(f"{name}(y, x, 4096);", {"x": "float32"}, {"y": "float32"})
        timing = kernel.run({"x": x}, {"y": 4096}, mode="time").timing
        assert timing is not None
        micros[name] = timing.time_us
    assert micros["Silu"] > micros["Log"]
