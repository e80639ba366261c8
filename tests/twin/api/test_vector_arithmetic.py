# SPDX-License-Identifier: Apache-2.0
"""Arithmetic instructions against NumPy: every operation, type and form, random layouts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .vector_records import (
    BITS,
    BYTES,
    COUNT,
    COUNTER,
    DTYPES,
    LANES,
    REGISTER,
    REGISTER_COUNTER,
    Array,
    Function,
    Layout,
    Record,
    expected,
    layouts,
    run_records,
)

FLOATS, NUMBERS = ("float32", "float16"), ("float32", "float16", "int32", "int16")
SCALAR = 3  # exact in every type
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 6e-8, -6e-8, 65504.0, 1e-40, 3e38, -3e38]


def wide(function: Callable[..., Array]) -> Function:
    """16 bit floats compute in float32 and round once; integers wrap."""

    def narrow(*operands: Array) -> Array:
        kind = operands[0].dtype
        if kind.kind != "f":
            return np.asarray(function(*operands).astype(kind))
        return np.asarray(function(*(x.astype(np.float32) for x in operands)).astype(kind))

    return narrow


def relu(x: Array) -> Array:
    return np.where(
        np.isnan(x) if x.dtype.kind == "f" else False, x, np.maximum(x, x.dtype.type(0))
    )


def fma(x: Array, y: Array, z: Array) -> Array:
    """One rounding: float64 holds the product of two float32 exactly."""
    return (x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)).astype(np.float32)


def leaky(x: Array, slope: float) -> Array:
    return np.where(x >= 0, x, x * x.dtype.type(slope))


@dataclass(frozen=True)
class Op:
    number: int
    name: str
    dtypes: tuple[str, ...]
    function: Callable[..., Array]
    ulps: int = 0


def s(x: Array) -> Any:
    return x.dtype.type(SCALAR)


OPS = [
    Op(0, "Add", NUMBERS, lambda a, b, _d: a + b),
    Op(1, "Sub", NUMBERS, lambda a, b, _d: a - b),
    Op(2, "Mul", NUMBERS, lambda a, b, _d: a * b),
    Op(3, "Max", NUMBERS, lambda a, b, _d: np.maximum(a, b)),
    Op(4, "Min", NUMBERS, lambda a, b, _d: np.minimum(a, b)),
    Op(5, "Adds", NUMBERS, lambda a, _b, _d: a + s(a)),
    Op(6, "Muls", NUMBERS, lambda a, _b, _d: a * s(a)),
    Op(7, "Maxs", NUMBERS, lambda a, _b, _d: np.maximum(a, s(a))),
    Op(8, "Mins", NUMBERS, lambda a, _b, _d: np.minimum(a, s(a))),
    Op(9, "AddRelu", ("float32", "float16", "int16"), lambda a, b, _d: relu(a + b)),
    Op(10, "SubRelu", ("float32", "float16", "int16"), lambda a, b, _d: relu(a - b)),
    Op(11, "Relu", ("float32", "float16", "int32"), lambda a, _b, _d: relu(a)),
    Op(20, "Div", FLOATS, lambda a, b, _d: a / b),
    Op(21, "FusedMulAdd", FLOATS, lambda a, b, d: fma(a, d, b), 1),
    Op(22, "FusedMulAddRelu", FLOATS, lambda a, b, d: relu(fma(a, d, b)), 1),
    Op(23, "MulAddRelu", FLOATS, lambda a, b, d: relu(fma(a, d, b)), 1),
    Op(24, "MulAddDst", FLOATS, fma, 1),
    Op(25, "Axpy", FLOATS, lambda a, _b, d: fma(a, np.full_like(a, SCALAR), d), 1),
    Op(26, "LeakyRelu", FLOATS, lambda a, _b, _d: leaky(a, SCALAR)),
    Op(27, "Exp", FLOATS, lambda a, _b, _d: np.exp(a.astype(np.float64)), 1),
    Op(28, "Ln", FLOATS, lambda a, _b, _d: np.log(a.astype(np.float64)), 1),
    Op(29, "Abs", FLOATS, lambda a, _b, _d: np.abs(a)),
    Op(30, "Reciprocal", FLOATS, lambda a, _b, _d: a.dtype.type(1) / a),
    Op(31, "Sqrt", FLOATS, lambda a, _b, _d: np.sqrt(a)),
    Op(32, "Rsqrt", FLOATS, lambda a, _b, _d: 1 / np.sqrt(a.astype(np.float64)), 1),
    Op(40, "ShiftLeft", ("int32", "int16", "uint32", "uint16"), lambda a, _b, _d: shift_left(a)),
    Op(41, "ShiftRight", ("int32", "int16", "uint32", "uint16"), lambda a, _b, _d: a >> s(a)),
    Op(50, "And", ("int16", "uint16"), lambda a, b, _d: a & b),
    Op(51, "Or", ("int16", "uint16"), lambda a, b, _d: a | b),
    Op(52, "Not", ("int16", "uint16"), lambda a, _b, _d: ~a),
]


def shift_left(x: Array) -> Array:
    """A signed number keeps its sign bit."""
    moved = x << s(x)
    if x.dtype.kind == "u":
        return np.asarray(moved)
    sign = x.dtype.type(np.iinfo(x.dtype).min)
    return np.asarray((moved & ~sign) | (x & sign))


def operand(dtype: str, seed: int) -> Array:
    """Numbers over the whole range of the type, and the special ones."""
    rng = np.random.default_rng(seed)
    n = BYTES // np.dtype(dtype).itemsize
    if not dtype.startswith("float"):
        info = np.iinfo(dtype)
        return np.asarray(rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True))
    exponent = rng.uniform(-10, 10, n) * rng.choice([1.0, 1.0, 0.1], n)
    values = (rng.choice([-1.0, 1.0], n) * 2.0**exponent).astype(np.float32)
    with np.errstate(over="ignore"):
        values[rng.choice(n, 2 * len(SPECIAL))] = SPECIAL * 2
        return np.asarray(values.astype(dtype))


def ordered(x: Array) -> Array:
    """Integers that count the floats upwards."""
    bits = x.view(f"int{8 * x.dtype.itemsize}").astype(np.int64)
    magnitude = bits & (2 ** (8 * x.dtype.itemsize - 1) - 1)
    return np.asarray(np.where(bits < 0, -magnitude, magnitude))


def same(actual: Array, wanted: Array, ulps: int) -> Array:
    """Equal, or both NaN, or that many steps apart; zeros of either sign are equal."""
    if actual.dtype.kind != "f":
        return np.asarray(actual == wanted)
    close = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
    if ulps:
        order = [ordered(x) for x in (actual, wanted)]
        steps = np.abs(order[0] - order[1])
        close |= (steps <= ulps) & ~np.isnan(actual) & ~np.isnan(wanted)
    return np.asarray(close)


def check(cases: list[tuple[Op, Layout]], dtype: str, seed: int = 1) -> None:
    """All cases of a type in one launch."""
    a, b, d = (operand(dtype, seed + i) for i in range(3))
    records = [Record(op.number, DTYPES[dtype], y, SCALAR, float(SCALAR)) for op, y in cases]
    for (op, layout), row in zip(cases, run_records(records, a, b, d), strict=True):
        wanted = expected(layout, wide(op.function), a, b, d)
        actual = row.view(dtype)
        bad = np.flatnonzero(~same(actual, wanted, op.ulps))
        assert bad.size == 0, (
            f"{op.name} {dtype} {layout}: element {bad[0]} is {actual[bad[0]]}, "
            f"not {wanted[bad[0]]}"
        )


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_every_operation_in_every_form(dtype: str) -> None:
    """The whole buffer, an odd count, then a strided call in each form."""
    full = 256 // np.dtype(dtype).itemsize
    drawn = [Layout(COUNT, 32 * full), Layout(COUNT, 77)]
    for form in (LANES, BITS, COUNTER, REGISTER, REGISTER_COUNTER):
        count = 3 * full - 5 if form in (COUNTER, REGISTER_COUNTER) else full - 3
        drawn.append(Layout(form, count, 3, (0xF0F1, 7), (2, 16), (1, 0), (0, 1)))
    check([(op, y) for op in OPS if dtype in op.dtypes for y in drawn], dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_layouts(dtype: str, data: st.DataObject) -> None:
    """Random masks, repeats and strides of one binary, one unary, one accumulating instruction."""
    size = np.dtype(dtype).itemsize
    drawn = data.draw(st.lists(layouts((size, size, size)), min_size=8, max_size=8))
    chosen = [op for op in OPS if op.name in ("Add", "Abs", "MulAddDst")]
    check([(op, layout) for op in chosen for layout in drawn], dtype, seed=7)


MIXED: list[tuple[int, str, str, Function]] = [
    (60, "float32", "float16", fma),
    (61, "float32", "float16", lambda a, _b, d: fma(a, np.full_like(a, SCALAR), d)),
    (62, "int8", "float16", lambda a, b, _d: to_byte(relu(a + b), "int8")),
    (63, "int8", "int16", lambda a, b, _d: to_byte(a.astype(np.int32) + b, "int8", low=0)),
    (64, "float16", "float32", lambda a, b, _d: relu(a + b).astype(np.float16)),
    (65, "int8", "float16", lambda a, b, _d: to_byte(relu(a - b), "int8")),
    (66, "int8", "int16", lambda a, b, _d: to_byte(a.astype(np.int32) - b, "int8", low=0)),
    (67, "float16", "float32", lambda a, b, _d: relu(a - b).astype(np.float16)),
    (68, "int8", "float16", lambda a, b, _d: to_byte(a * b, "int8")),
    (69, "uint8", "float16", lambda a, b, _d: to_byte(a * b, "uint8")),
    (70, "float16", "int32", lambda a, b, _d: dequantised(a + b)),
]


def to_byte(x: Array, dtype: str, low: int | None = None) -> Array:
    info = np.iinfo(dtype)
    whole = np.rint(x.astype(np.float64))
    floor = info.min if low is None else low
    finite = np.nan_to_num(whole, nan=0.0, posinf=1e9, neginf=-1e9)
    return np.asarray(np.clip(finite, floor, info.max).astype(dtype))


def dequantised(x: Array) -> Array:
    scaled = x.astype(np.float32) * np.float32(SCALAR)
    return np.asarray(np.maximum(scaled, np.float32(0)).astype(np.float16))


@pytest.mark.parametrize(("number", "dst", "src", "function"), MIXED)
def test_mixed_types(number: int, dst: str, src: str, function: Function) -> None:
    a, b, d = operand(src, 1), operand(src, 2), operand(dst, 3)
    widest = max(a.dtype.itemsize, d.dtype.itemsize)
    per_repeat = 256 // widest
    blocks = [per_repeat * x.dtype.itemsize // 32 for x in (d, a)]
    tight = [(1, n) for n in blocks]
    loose = [(2, 2 * n + 1) for n in blocks]
    drawn = [
        Layout(COUNT, BYTES // widest - 9),
        Layout(LANES, per_repeat, 5, (0, 0), tight[0], tight[1], tight[1]),
        *(
            Layout(
                form,
                per_repeat + 9 if form in (3, 5) else 33,
                3,
                (2**63 + 5, 3),
                loose[0],
                loose[1],
                tight[1],
            )
            for form in range(1, 6)
        ),
    ]
    records = [Record(number, 9, y, SCALAR, float(SCALAR)) for y in drawn]
    for layout, row in zip(drawn, run_records(records, a, b, d), strict=True):
        wanted = expected(layout, function, a, b, d, widest)
        ok = same(row.view(dst)[: wanted.size], wanted, 1 if number in (60, 61) else 0)
        assert ok.all(), (number, layout, np.flatnonzero(~ok)[:5])


def test_shift_right_rounds() -> None:
    for dtype in ("int32", "int16", "uint32", "uint16"):
        a = operand(dtype, 5)
        full = 256 // a.dtype.itemsize
        records = [
            Record(42, DTYPES[dtype], Layout(LANES, full, 4), integer=i)
            for i in (0, 1, 3, 8 * a.dtype.itemsize)
        ]
        for record, row in zip(records, run_records(records, a, a, a), strict=True):
            wide_a = a[: 4 * full].astype(np.int64)
            last = (wide_a >> (record.integer - 1)) & 1 if record.integer else 0
            wanted = ((wide_a >> record.integer) + last).astype(dtype)
            assert np.array_equal(row.view(dtype)[: 4 * full], wanted), (dtype, record.integer)


def test_exp_and_ln_are_accurate_everywhere() -> None:
    """Ulps over the whole range of float, subnormal results included."""
    x = np.concatenate([np.linspace(-110, 95, 1024), [np.inf, -np.inf, np.nan, 0.0]]).astype(
        np.float32
    )
    positive = np.exp2(np.linspace(-149, 127.99, 1020)).astype(np.float32)
    near_one = 1 + np.linspace(-0.3, 0.42, 1020)
    for number, values, reference in (
        (27, x, np.exp),
        (28, positive, np.log),
        (28, near_one.astype(np.float32), np.log),
    ):
        row = run_records([Record(number, 0, Layout(COUNT, values.size))], values, values, values)[
            0
        ]
        with np.errstate(all="ignore"):
            wanted = reference(values.astype(np.float64)).astype(np.float32)
        assert same(row.view(np.float32)[: values.size], wanted, 1).all(), reference
