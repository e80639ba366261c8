# SPDX-License-Identifier: Apache-2.0
"""Cast against an independent reference: all half and bfloat16 patterns, boundaries of the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .vector_records import BYTES, COUNT, Array, Layout, Record, expected, layouts, run_records

NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
FIVE = (RINT, FLOOR, CEIL, ROUND, TRUNC)
INTEGERS = {"int8": 8, "uint8": 8, "int16": 16, "int32": 32, "int64": 64}


@dataclass(frozen=True)
class Pair:
    number: int
    src: str
    dst: str
    modes: tuple[int, ...]


PAIRS = [
    Pair(100, "float16", "float32", (NONE,)),
    Pair(101, "float32", "float16", (*FIVE, ODD, NONE)),
    Pair(102, "bfloat16", "float32", (NONE,)),
    Pair(103, "float32", "bfloat16", FIVE),
    Pair(104, "int32", "float32", (*FIVE, NONE)),
    Pair(105, "float32", "int32", FIVE),
    Pair(106, "int16", "float32", (NONE,)),
    Pair(107, "float32", "int16", FIVE),
    Pair(108, "float32", "float32", FIVE),
    Pair(109, "float32", "int64", FIVE),
    Pair(110, "int64", "float32", FIVE),
    Pair(111, "int64", "int32", (NONE,)),
    Pair(112, "int32", "int64", (NONE,)),
    Pair(113, "int32", "int16", (NONE,)),
    Pair(115, "float16", "int32", FIVE),
    Pair(116, "float16", "int16", FIVE),
    Pair(117, "float16", "int8", (*FIVE, NONE)),
    Pair(118, "float16", "uint8", (*FIVE, NONE)),
    Pair(120, "int8", "float16", (NONE,)),
    Pair(121, "uint8", "float16", (NONE,)),
    Pair(122, "int16", "float16", (*FIVE, NONE)),
    Pair(123, "bfloat16", "int32", FIVE),
]


def storage(dtype: str) -> np.dtype[np.generic]:
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def as_float64(x: Array, dtype: str) -> Array:
    if dtype == "bfloat16":
        x = (x.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        return np.asarray(x.astype(np.float64))


def integral(x: Array, mode: int) -> Array:
    rounded: dict[int, Callable[[Array], Array]] = {
        FLOOR: np.floor,
        CEIL: np.ceil,
        TRUNC: np.trunc,
        ROUND: lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
    }
    return np.asarray(rounded.get(mode, np.rint)(x))


def to_integer(x: Array, dtype: str, mode: int) -> Array:
    """Clipped; NaN is 0. Python integers where float64 is too coarse to clip."""
    info = np.iinfo(dtype)
    whole = integral(np.nan_to_num(x, nan=0.0, posinf=1e30, neginf=-1e30), mode)
    if dtype != "int64":
        return np.clip(whole, info.min, info.max).astype(dtype)
    return np.array([min(max(int(v), info.min), info.max) for v in whole], dtype)


def grid(dtype: str) -> Array:
    """All finite non-negative values of a 16 bit float, and the first beyond, ascending."""
    top = 0x7C00 if dtype == "float16" else 0x7F80
    bits = np.arange(top, dtype=np.uint16)
    values = as_float64(bits.view(np.float16) if dtype == "float16" else bits, dtype)
    return np.append(values, 2.0 ** (16 if dtype == "float16" else 128))


def to_small_float(x: Array, dtype: str, mode: int) -> Array:
    """Round to a 16 bit float by search in the list of all its values."""
    values = grid(dtype)
    top = len(values) - 1
    magnitude, negative = np.abs(x), np.signbit(x)
    below = np.clip(np.searchsorted(values, magnitude, side="right") - 1, 0, top)
    above = np.minimum(below + 1, top)
    inexact = (values[below] != magnitude) & np.isfinite(x) & (magnitude < values[top])
    middle = (values[below] + values[above]) / 2
    odd = below % 2 == 1
    up = {
        FLOOR: negative,
        CEIL: ~negative,
        TRUNC: np.zeros_like(odd),
        ROUND: magnitude >= middle,
        ODD: ~odd,
    }.get(mode, (magnitude > middle) | ((magnitude == middle) & odd))
    bits = np.where(inexact & up, above, below)
    beyond = np.isfinite(x) & (magnitude >= values[top])
    inward = {FLOOR: ~negative, CEIL: negative}.get(mode, np.full_like(odd, mode in (TRUNC, ODD)))
    bits = np.where(beyond, np.where(inward, top - 1, top), bits)
    bits = np.where(np.isinf(x), top, bits)
    bits = np.where(np.isnan(x), top + 1, bits)  # some NaN
    return (bits + np.where(negative, 0x8000, 0)).astype(np.uint16)


def to_float32(value: int, mode: int) -> Any:
    """An integer to float by exact arithmetic."""
    near = np.float32(value)
    if mode in (NONE, RINT) or Fraction(float(near)) == value:
        return near
    other = np.nextafter(near, np.float32(np.inf if Fraction(float(near)) < value else -np.inf))
    low, high = sorted((near, other))
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    down = {FLOOR: True, CEIL: False, TRUNC: value > 0}.get(mode)
    if down is None:  # ties away from zero
        down = value < middle or (value == middle and value < 0)
    return low if down else high


def reference(x: Array, pair: Pair, mode: int) -> Array:
    if pair.dst in INTEGERS and pair.src in INTEGERS:
        info = np.iinfo(pair.dst)
        return np.array([min(max(int(v), info.min), info.max) for v in x], pair.dst)
    if pair.dst in INTEGERS:
        return to_integer(as_float64(x, pair.src), pair.dst, mode)
    if pair.dst in ("float16", "bfloat16"):
        return to_small_float(as_float64(x, pair.src), pair.dst, mode)
    if pair.src in INTEGERS:
        return np.array([to_float32(int(v), mode) for v in x], np.float32)
    if pair.src == pair.dst:
        return integral(x.astype(np.float64), mode).astype(np.float32)
    with np.errstate(invalid="ignore"):
        return np.asarray(as_float64(x, pair.src).astype(np.float32))


def boundaries(dtype: str) -> Array:
    """Values next to every limit a conversion may meet."""
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        near = [
            s * (2**k + d)
            for k in range(INTEGERS[dtype])
            for d in (-2, -1, 0, 1, 2, 3)
            for s in (1, -1)
        ]
        return np.array(
            [v for v in near if info.min <= v <= info.max] + [info.min, info.max], dtype
        )
    limits = [
        0.5,
        1.5,
        2.5,
        127.5,
        255.5,
        2.0**15,
        2.0**23,
        2.0**31,
        2.0**63,
        65504.0,
        65519.0,
        65520.0,
        65536.0,
        2.0**-14,
        2.0**-24,
        2.0**-25,
        2.0**-26,
        3.3895e38,
        1e-45,
        1.0,
        3.0,
        7.5,
        8.5,
        4194304.5,
        8388607.5,
    ]
    base = np.array(limits, np.float32)
    steps = [base, np.nextafter(base, np.float32(np.inf)), np.nextafter(base, np.float32(0))]
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**31, 700).astype(np.uint32).view(np.float32)
    values = np.concatenate(
        [*steps, bits, rng.uniform(0, 70000, 200).astype(np.float32), [0.0, np.inf, np.nan]]
    )
    return np.concatenate([values, -values]).astype(np.float32)


def inputs(pair: Pair) -> list[Array]:
    """Every case, in pieces that fit the buffers of the test program."""
    dtype = pair.src
    if dtype in ("float16", "bfloat16"):
        patterns = np.arange(65536, dtype=np.uint16)
        values = patterns.view(np.float16) if dtype == "float16" else patterns
    elif dtype in ("int8", "uint8"):
        values = np.arange(256).astype(dtype)
    else:
        values = boundaries(dtype)
    n = BYTES // max(storage(dtype).itemsize, storage(pair.dst).itemsize)
    return [values[i : i + n] for i in range(0, len(values), n)]


def equal(actual: Array, wanted: Array, dtype: str) -> Array:
    if dtype in ("float16", "bfloat16"):
        a, w = (as_float64(x.view(storage(dtype)), dtype) for x in (actual, wanted))
        return np.asarray(
            (actual.view(np.uint16) == wanted.view(np.uint16)) | (np.isnan(a) & np.isnan(w))
        )
    if dtype == "float32":
        return np.asarray(
            (actual.view(np.int32) == wanted.view(np.int32)) | (np.isnan(actual) & np.isnan(wanted))
        )
    return np.asarray(actual == wanted)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: f"{p.src}-{p.dst}")
def test_values(pair: Pair) -> None:
    for x in inputs(pair):
        empty = np.zeros(1, np.uint8)
        records = [Record(pair.number, 9, Layout(COUNT, len(x)), mode=m) for m in pair.modes]
        for record, row in zip(records, run_records(records, x, empty, empty), strict=True):
            actual = row.view(storage(pair.dst))[: len(x)]
            wanted = reference(x, pair, record.mode).view(storage(pair.dst))
            bad = np.flatnonzero(~equal(actual, wanted, pair.dst))
            assert bad.size == 0, (
                f"mode {record.mode}: {x[bad[0]]!r} became {actual[bad[0]]!r}, "
                f"not {wanted[bad[0]]!r}"
            )


def test_int32_to_half_uses_the_scale() -> None:
    x = boundaries("int32")
    for scale in (1.0, 0.125, 3.0):
        record = Record(114, 9, Layout(COUNT, len(x)), number=scale)
        row = run_records([record], x, x, x)[0].view(np.float16)[: len(x)]
        with np.errstate(over="ignore"):
            wanted = (x.astype(np.float32) * np.float32(scale)).astype(np.float16)
        assert np.array_equal(row, wanted)


@pytest.mark.parametrize("mode", [*FIVE, NONE])
def test_int4(mode: int) -> None:
    patterns = np.arange(65536, dtype=np.uint16).view(np.float16)
    for x in np.split(patterns, 16):
        row = run_records([Record(119, 9, Layout(COUNT, x.size), mode=mode)], x, x, x)[0]
        with np.errstate(invalid="ignore"):  # not all processors take every NaN in silence
            wide = x.astype(np.float64)
        nibbles = to_integer(
            np.clip(integral(np.nan_to_num(wide, nan=0.0), mode), -8, 7),
            "int8",
            RINT,
        )
        pairs = nibbles.reshape(-1, 2)
        wanted = (pairs[:, 0] & 15) | (pairs[:, 1].astype(np.uint8) << 4)
        assert np.array_equal(row[: x.size // 2], wanted.astype(np.uint8))


def test_int4_to_half() -> None:
    packed = np.arange(256).astype(np.uint8)
    row = run_records([Record(124, 9, Layout(COUNT, 512))], packed, packed, packed)[0]
    nibbles = np.stack([packed & 15, packed >> 4], axis=1).ravel().astype(np.int16)
    wanted = np.where(nibbles > 7, nibbles - 16, nibbles).astype(np.float16)
    assert np.array_equal(row.view(np.float16)[:512], wanted)


@pytest.mark.parametrize(
    ("number", "src", "dst"),
    [
        (100, "float16", "float32"),
        (101, "float32", "float16"),
        (111, "int64", "int32"),
        (117, "float16", "int8"),
    ],
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_layouts(number: int, src: str, dst: str, data: st.DataObject) -> None:
    sizes = (np.dtype(dst).itemsize, np.dtype(src).itemsize, np.dtype(src).itemsize)
    drawn = data.draw(st.lists(layouts(sizes), min_size=6, max_size=6))
    a = np.resize(np.arange(-100, 100), BYTES // sizes[1]).astype(src)
    d = np.zeros(BYTES // sizes[0], dst)
    rows = run_records([Record(number, 9, y, mode=NONE) for y in drawn], a, a, d)
    for layout, row in zip(drawn, rows, strict=True):
        wanted = expected(layout, lambda x, _b, _d: x.astype(dst), a, a, d)
        assert np.array_equal(row.view(dst), wanted), layout
