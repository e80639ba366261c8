# SPDX-License-Identifier: Apache-2.0
"""The meaning of every operation, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from npuforge.dtypes import HostTensor, encode, find
from npuforge.tile import ops
from npuforge.tile.interpret.operations import MEANINGS
from npuforge.tile.source import TileError

from .one_op import Array, run_ops

RANDOM = np.random.default_rng(3)


def floats(*shape: int, dtype: str = "float32", low: float = -3, high: float = 3) -> Array:
    return RANDOM.uniform(low, high, shape).astype(dtype)


def test_every_operation_has_a_meaning() -> None:
    assert set(MEANINGS) == set(ops.table())


UNARY: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp, "log": np.log, "abs": np.abs, "sqrt": np.sqrt, "neg": np.negative,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, 0), "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": np.vectorize(math.erf, otypes=[float]), "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "log1p": np.log1p, "expm1": np.expm1, "log2": np.log2, "log10": np.log10, "exp2": np.exp2,
    "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "sign": np.sign,
}  # fmt: skip
POSITIVE = {"log", "sqrt", "rsqrt", "reciprocal", "log2", "log10"}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    low, high = (0.1, 3) if name in POSITIVE else (-0.9, 0.9)
    for dtype in ops.table()[name].dtypes:
        if find(dtype).kind != "float":
            continue
        x = floats(33, dtype=dtype, low=low, high=high)
        found = run_ops([f"tl.{name}(y, x)"], {"x": x}, {"y": (dtype, (33,))})["y"]
        wanted = np.asarray(UNARY[name](x.astype(np.float64))).astype(dtype)
        np.testing.assert_allclose(found, wanted, rtol=2e-3 if dtype == "float16" else 2e-7)


BINARY: dict[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["float16", "float32", "int16", "int32"])
def test_binary(name: str, dtype: str) -> None:
    if dtype not in ops.table()[name].dtypes:
        assert name == "div"
        return
    if find(dtype).kind == "float":
        x, y = floats(5, 7, dtype=dtype), floats(5, 7, dtype=dtype, low=0.5)
    else:
        limits = np.iinfo(dtype)
        x = RANDOM.integers(limits.min, limits.max, (5, 7), dtype=dtype, endpoint=True)
        y = RANDOM.integers(limits.min, limits.max, (5, 7), dtype=dtype, endpoint=True)
    for text, other in (
        ("y", y),
        ("y[2, :]", y[2]),
        ("y[:, 0:1]", y[:, :1]),
        ("2", np.asarray(2, dtype)),
    ):
        got = run_ops([f"tl.{name}(z, x, {text})"], {"x": x, "y": y}, {"z": (dtype, (5, 7))})["z"]
        np.testing.assert_array_equal(got, BINARY[name](x, other), err_msg=text)


def test_a_scalar_may_stand_first() -> None:
    x = floats(9)
    found = run_ops(["tl.sub(y, 1.0, x)"], {"x": x}, {"y": ("float32", (9,))})["y"]
    np.testing.assert_array_equal(found, np.float32(1) - x)


def test_a_column_of_a_vector() -> None:
    x, v = floats(5, 7), floats(5)
    found = run_ops(["tl.mul(y, x, v[:, None])"], {"x": x, "v": v}, {"y": ("float32", (5, 7))})["y"]
    np.testing.assert_array_equal(found, x * v[:, None])


def test_three_dimensions() -> None:
    x, v = floats(2, 3, 8), floats(8)
    got = run_ops(["tl.add(y, x, v)"], {"x": x, "v": v}, {"y": ("float32", (2, 3, 8))})["y"]
    np.testing.assert_array_equal(got, x + v)


@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_bits(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x, y = (RANDOM.integers(limits.min, limits.max, 40, dtype=dtype) for _ in range(2))
    for name, wanted in (("bit_and", x & y), ("bit_or", x | y)):
        got = run_ops([f"tl.{name}(z, x, y)"], {"x": x, "y": y}, {"z": (dtype, (40,))})["z"]
        np.testing.assert_array_equal(got, wanted)
    got = run_ops(["tl.bit_not(z, x)"], {"x": x}, {"z": (dtype, (40,))})["z"]
    np.testing.assert_array_equal(got, ~x)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32"])
def test_shifts(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = RANDOM.integers(limits.min, limits.max, 40, dtype=dtype)
    for bits in (0, 3, limits.bits - 1):
        out = {"l": (dtype, (40,)), "r": (dtype, (40,))}
        got = run_ops(
            [f"tl.shift_left(l, x, {bits})", f"tl.shift_right(r, x, {bits})"], {"x": x}, out
        )
        np.testing.assert_array_equal(got["r"], x >> bits)
        keep = limits.max  # the sign bit stays where it is
        np.testing.assert_array_equal(got["l"] & keep, (x.astype(np.int64) << bits) & keep)
        np.testing.assert_array_equal(got["l"] < 0, x < 0)


def test_scaled_and_accumulated() -> None:
    x, y, z = floats(17), floats(17), floats(17)
    out = {"r": ("float32", (17,))}
    lines = ["tl.leaky_relu(r, x, 0.25)"]
    np.testing.assert_array_equal(run_ops(lines, {"x": x}, out)["r"], np.where(x >= 0, x, x * 0.25))
    lines = ["tl.copy(r, z)", "tl.axpy(r, x, 0.5)", "tl.mul_add(r, x, y)"]
    np.testing.assert_allclose(
        run_ops(lines, {"x": x, "y": y, "z": z}, out)["r"], z + 0.5 * x + x * y, rtol=1e-5
    )


def test_pow_and_floor_mod() -> None:
    x, y = floats(17, low=0.1), floats(17)
    out = {"p": ("float32", (17,)), "m": ("float32", (17,))}
    got = run_ops(["tl.pow(p, x, y)", "tl.floor_mod(m, y, x)"], {"x": x, "y": y}, out)
    np.testing.assert_allclose(got["p"], x.astype(float) ** y, rtol=1e-6)
    np.testing.assert_allclose(got["m"], np.mod(y.astype(float), x), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int16", "uint32"])
def test_fill(dtype: str) -> None:
    got = run_ops(["tl.fill(y, 3)"], {}, {"y": (dtype, (3, 9))})["y"]
    np.testing.assert_array_equal(got, encode(np.full((3, 9), 3.0), dtype).data)


def test_iota_insert_reverse_broadcast() -> None:
    lines = [
        "tl.iota(i, 5, -2)", "tl.iota(f, 0.5, 0.25)", "tl.insert_scalar(i, 3, 77)",
        "tl.reverse(r, f)", "tl.broadcast(t, r)",
    ]  # fmt: skip
    out = {
        "i": ("int32", (9,)), "f": ("float32", (9,)), "r": ("float32", (9,)),
        "t": ("float32", (4, 9)),
    }  # fmt: skip
    got = run_ops(lines, {}, out)
    wanted = 5 - 2 * np.arange(9)
    wanted[3] = 77
    np.testing.assert_array_equal(got["i"], wanted)
    np.testing.assert_array_equal(got["f"], 0.5 + 0.25 * np.arange(9))
    np.testing.assert_array_equal(got["r"], got["f"][::-1])
    np.testing.assert_array_equal(got["t"], np.tile(got["r"], (4, 1)))


def test_gather_and_transpose() -> None:
    x, m = floats(20), floats(5, 9)
    index = RANDOM.integers(0, 20, 11, dtype=np.int32)
    out = {"g": ("float32", (11,)), "t": ("float32", (9, 5))}
    lines = ["tl.gather(g, x, i)", "tl.transpose(t, m)"]
    got = run_ops(lines, {"x": x, "i": index, "m": m}, out)
    np.testing.assert_array_equal(got["g"], x[index])
    np.testing.assert_array_equal(got["t"], m.T)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_scatter(dtype: str) -> None:
    old, new = RANDOM.integers(1, 9, 12).astype(dtype), RANDOM.integers(1, 9, 6).astype(dtype)
    index = np.array([3, 0, 3, 11, 3, 0], np.int32)
    functions = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for name, function in functions.items():
        wanted = old.copy()
        function.at(wanted, index, new)
        lines = ["tl.copy(d, x)", f"tl.scatter_{name}(d, i, y)"]
        got = run_ops(lines, {"x": old, "i": index, "y": new}, {"d": (dtype, (12,))})
        np.testing.assert_array_equal(got["d"], wanted)
    lines = ["tl.copy(d, x)", "tl.scatter(d, i, y)"]
    got = run_ops(lines, {"x": old, "i": index, "y": new}, {"d": (dtype, (12,))})
    wanted = old.copy()
    wanted[[3, 0, 11]] = new[[4, 5, 3]]  # the last of equal indices
    np.testing.assert_array_equal(got["d"], wanted)


def test_compact() -> None:
    x = floats(50)
    lines = ['tl.compare(m, x, 0.0, "gt")', "tl.compact(d, c, x, m)"]
    out = {"d": ("float32", (50,)), "c": ("int32", (1,))}
    got = run_ops(lines, {"x": x}, out, {"m": 50})
    kept = x[x > 0]
    np.testing.assert_array_equal(got["c"], [kept.size])
    np.testing.assert_array_equal(got["d"][: kept.size], kept)


@pytest.mark.parametrize("wrong", [-1, 20])
def test_gather_outside_is_an_error(wrong: int) -> None:
    index = np.array([0, wrong], np.int32)
    with pytest.raises(TileError, match=r"TL-16.*index"):
        run_ops(["tl.gather(g, x, i)"], {"x": floats(20), "i": index}, {"g": ("float32", (2,))})


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_compare_and_select(dtype: str) -> None:
    x, y = (RANDOM.integers(-3, 4, 50).astype(dtype) for _ in range(2))
    tests = {"lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y, "eq": x == y, "ne": x != y}
    for name, wanted in tests.items():
        lines = [
            f'tl.compare(m, x, y, "{name}")', "tl.bool_from_mask(b, m)", "tl.select(s, m, x, y)",
            "tl.mask_not(k, m)", "tl.select(q, k, x, 1)",
        ]  # fmt: skip
        out = {"b": ("bool", (50,)), "s": (dtype, (50,)), "q": (dtype, (50,))}
        got = run_ops(lines, {"x": x, "y": y}, out, {"m": 50, "k": 50})
        np.testing.assert_array_equal(got["b"], wanted)
        np.testing.assert_array_equal(got["s"], np.where(wanted, x, y))
        np.testing.assert_array_equal(got["q"], np.where(~wanted, x, 1))


def test_masks() -> None:
    x = np.array([1, np.nan, np.inf, -np.inf, 0, 5], np.float32)
    b = np.array([1, 0, 1, 0, 1, 0], np.uint8)
    lines = [
        "tl.is_nan(m, x)", "tl.is_inf(k, x)", "tl.mask_or(m, m, k)", "tl.mask_from_bool(k, b)",
        "tl.mask_and(m, m, k)", "tl.bool_from_mask(r, m)",
    ]  # fmt: skip
    got = run_ops(lines, {"x": x, "b": b}, {"r": ("uint8", (6,))}, {"m": 6, "k": 6})
    np.testing.assert_array_equal(got["r"], [0, 0, 1, 0, 0, 0])


REDUCTIONS: dict[str, Callable[..., Array]] = {
    "reduce_sum": np.sum,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    x = floats(6, 9, low=0.5, high=1.5)
    function = REDUCTIONS[name]
    lines = [f"tl.{name}(r, x, axis=1)", f"tl.{name}(c, x, axis=0)", f"tl.{name}(a[:1], x)"]
    out = {"r": ("float32", (6,)), "c": ("float32", (9,)), "a": ("float32", (1,))}
    got = run_ops(lines, {"x": x}, out)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(got["r"], function(wide, axis=1), rtol=1e-6)
    np.testing.assert_allclose(got["c"], function(wide, axis=0), rtol=1e-6)
    np.testing.assert_allclose(got["a"], [function(wide)], rtol=1e-6)


def test_positions_of_extremes() -> None:
    x = np.array([[1, 3, 3, 0], [-2, -2, -5, -5]], np.float32)
    lines = ["tl.argmax(v, p, x)", "tl.argmin(w, q, x)"]
    out = {
        "v": ("float32", (2,)), "p": ("int32", (2,)), "w": ("float32", (2,)), "q": ("int32", (2,)),
    }  # fmt: skip
    got = run_ops(lines, {"x": x}, out)
    assert [list(got[name]) for name in "vpwq"] == [[3, -2], [1, 0], [0, -5], [3, 2]]


@pytest.mark.parametrize(("dtype", "lanes"), [("float32", 8), ("float16", 16)])
def test_blocks_and_pairs(dtype: str, lanes: int) -> None:
    x = RANDOM.integers(-8, 8, 3 * lanes).astype(dtype)
    lines = [
        "tl.block_reduce_sum(s, x)", "tl.block_reduce_max(h, x)", "tl.block_reduce_min(l, x)",
        "tl.pair_reduce_sum(p, x)",
    ]  # fmt: skip
    out = dict.fromkeys("shl", (dtype, (3,))) | {"p": (dtype, (3 * lanes // 2,))}
    got = run_ops(lines, {"x": x}, out)
    blocks = x.reshape(3, lanes)
    np.testing.assert_array_equal(got["s"], blocks.sum(1))
    np.testing.assert_array_equal(got["h"], blocks.max(1))
    np.testing.assert_array_equal(got["l"], blocks.min(1))
    np.testing.assert_array_equal(got["p"], x.reshape(-1, 2).sum(1))


@pytest.mark.parametrize("axis", [0, 1])
def test_scans(axis: int) -> None:
    x = floats(5, 9, low=-1.5, high=1.5)
    functions = {
        "cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum,
    }  # fmt: skip
    for name, function in functions.items():
        got = run_ops([f"tl.{name}(y, x, axis={axis})"], {"x": x}, {"y": ("float32", (5, 9))})["y"]
        np.testing.assert_allclose(got, function.accumulate(x.astype(float), axis), rtol=1e-6)


def test_sort_keeps_the_order_of_equals() -> None:
    x = np.array([2, 1, 3, 1, 2, -1, 3], np.float32)
    out = {
        "v": ("float32", (7,)),
        "p": ("int32", (7,)),
        "w": ("float32", (3,)),
        "q": ("int32", (3,)),
    }
    got = run_ops(["tl.sort(v, p, x)", "tl.topk(w, q, x)"], {"x": x}, out)
    assert list(got["p"]) == [5, 1, 3, 0, 4, 2, 6]
    assert list(got["v"]) == [-1, 1, 1, 2, 2, 3, 3]
    assert list(got["q"]) == [2, 6, 0]
    assert list(got["w"]) == [3, 3, 2]
    down = run_ops(
        ["tl.sort(v, p, x, descending=True)", "tl.topk(w, q, x, descending=False)"], {"x": x}, out
    )
    assert list(down["p"]) == [2, 6, 0, 4, 1, 3, 5]
    assert list(down["q"]) == [5, 1, 3]


def test_half_is_rounded_for_each_operation() -> None:
    x = np.array([2048], np.float16)
    lines = ["tl.add(y, x, 1.0)", "tl.add(y, y, 1.0)"]
    assert run_ops(lines, {"x": x}, {"y": ("float16", (1,))})["y"][0] == 2048


# ---- casts --------------------------------------------------------------------------------------
def cast(values: Array | HostTensor, dtype: str, mode: str = "none") -> Array:
    tensor = HostTensor.of(values)
    out = {"y": (dtype, tensor.shape)}
    return run_ops([f'tl.cast(y, x, round="{mode}")'], {"x": tensor}, out)["y"]


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("rint", [-2, -2, 0, 0, 2, 2, 3]),
        ("floor", [-3, -2, -1, 0, 1, 2, 2]),
        ("ceil", [-2, -1, 0, 1, 2, 3, 3]),
        ("round", [-3, -2, -1, 1, 2, 3, 3]),
        ("trunc", [-2, -1, 0, 0, 1, 2, 2]),
        ("none", [-2, -1, 0, 0, 1, 2, 2]),
    ],
)
def test_float_to_whole(mode: str, wanted: list[int]) -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.75], np.float32)
    for dtype in ("int16", "int32", "int64"):
        assert list(cast(x, dtype, mode)) == wanted
    assert list(cast(x.astype(np.float16), "int8", mode)) == wanted


def test_whole_numbers_are_clipped() -> None:
    x = np.array([1e20, -1e20, np.inf, -np.inf, np.nan, 40000], np.float32)
    assert list(cast(x, "int16", "rint")) == [32767, -32768, 32767, -32768, 0, 32767]
    limits = np.iinfo(np.int32)
    assert list(cast(x, "int32", "rint")) == [
        limits.max, limits.min, limits.max, limits.min, 0, 40000,
    ]  # fmt: skip
    assert list(cast(np.array([70000, -70000, 5], np.int32), "int16")) == [32767, -32768, 5]
    assert list(cast(np.array([300, -3], np.float16), "uint8", "rint")) == [255, 0]


@pytest.mark.parametrize("mode", ["none", "rint", "floor", "ceil", "round", "trunc", "odd"])
def test_float_to_half_by_neighbours(mode: str) -> None:
    bits = RANDOM.integers(0, 2**32, 4000, dtype=np.uint64).astype(np.uint32)
    x = bits.view(np.float32)
    x = x[np.isfinite(x) & (np.abs(x) < 60000)]
    x = np.concatenate(
        [x, floats(2000), np.array([1 + 2**-11, 1 + 3 * 2**-11, 2**-25], np.float32)]
    )
    found = cast(x, "float16", mode)
    nearest = x.astype(np.float16)
    wide = nearest.astype(np.float64)
    down = np.where(wide > x, np.nextafter(nearest, np.float16(-np.inf)), nearest)
    up = np.where(wide < x, np.nextafter(nearest, np.float16(np.inf)), nearest)
    tie = (x - down.astype(np.float64)) == (up.astype(np.float64) - x)
    wanted = {
        "none": nearest, "rint": nearest, "floor": down, "ceil": up,
        "trunc": np.where(x > 0, down, up),
        "round": np.where(tie, np.where(x > 0, up, down), nearest),
        "odd": np.where(wide == x, nearest, np.where(down.view(np.uint16) & 1, down, up)),
    }[mode]  # fmt: skip
    np.testing.assert_array_equal(found.astype(float), wanted.astype(float))


def test_half_overflow_follows_the_mode() -> None:
    x = np.array([65520, -65520, 1e9, -1e9, np.inf], np.float32)
    top = 65504.0
    assert list(cast(x, "float16", "rint")) == [np.inf, -np.inf, np.inf, -np.inf, np.inf]
    assert list(cast(x, "float16", "trunc")) == [top, -top, top, -top, np.inf]
    assert list(cast(x, "float16", "floor")) == [top, -np.inf, top, -np.inf, np.inf]
    assert np.isnan(cast(np.array([np.nan], np.float32), "float16", "ceil")).all()


def test_bfloat16_and_back() -> None:
    x = floats(100)
    held = HostTensor(cast(x, "bfloat16", "rint"), find("bfloat16"))
    np.testing.assert_array_equal(held.data, encode(x, "bfloat16").data)
    np.testing.assert_array_equal(cast(held, "float32"), held.values())
    low = HostTensor(cast(x, "bfloat16", "floor"), find("bfloat16")).values()
    assert (low <= x).all()
    assert (x - low < np.abs(x) * 2**-7).all()


@pytest.mark.parametrize("mode", ["rint", "floor", "ceil", "trunc", "round"])
def test_large_whole_numbers_to_float(mode: str) -> None:
    x = np.array([2**24 + 1, -(2**24) - 1, 2**53 + 1, -(2**62) + 1, 2**63 - 1, 7, 0], np.int64)
    found = cast(x, "float32", mode).astype(np.longdouble)
    exact = x.astype(np.longdouble)
    if mode == "floor":
        assert (found <= exact).all()
    if mode == "ceil":
        assert (found >= exact).all()
    if mode == "trunc":
        assert (np.abs(found) <= np.abs(exact)).all()
    assert (np.abs(found - exact) <= np.abs(exact) * 2.0**-23).all()


def test_a_float_is_rounded_to_a_whole_float() -> None:
    x = np.array([0.5, 1.5, -2.5, 3.2], np.float32)
    assert list(cast(x, "float32", "rint")) == [0, 2, -2, 3]
    assert list(cast(x, "float32", "round")) == [1, 2, -3, 3]
    assert list(cast(x, "float32")) == list(x)
