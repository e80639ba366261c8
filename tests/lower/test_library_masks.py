# SPDX-License-Identifier: Apache-2.0
"""Comparisons, selections, conversions and positions of extremes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from npuforge.lower import library
from npuforge.lower.library import helper

from .library_probe import CPP, Array, Call, Probe, padded, pitch_of

SIZES = [1, 7, 8, 63, 64, 65, 129, 1000]
COMPARE: dict[str, Any] = {
    "LT": np.less,
    "GT": np.greater,
    "LE": np.less_equal,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}


def roomy(x: Array) -> Array:
    """A tile with room for whole chunks of 256 B; what lies beyond its last block is undefined."""
    return padded(x, pitch_of(x.size, x.dtype))


@cache
def compare_probe(dtype: str) -> Probe:
    t = CPP[dtype]
    integer = dtype == "int32"
    x, y = (f"{name}.ReinterpretCast<{t}>()" for name in "xy")
    out = f"o.ReinterpretCast<{t}>()"
    select = f"PipeBarrier<PIPE_V>(); SelectTiles({out}, q, {x}, {y}, a[0]);"
    cases, names = {}, ["SelectTiles"]
    for mode in COMPARE:
        name = f"CompareInt{mode}" if integer and mode != "EQ" else f"CompareTiles{mode}"
        work = ", work" if helper(name).scratch != "0" else ""
        names.append(name)
        cases[mode] = f"{name}(q, {x}, {y}, a[0]{work}); {select}"
    if not integer:
        names += [f"CompareScalar{mode}" for mode in COMPARE]
        names += ["SelectTileScalar", "SelectScalars", "IsNanMask"]
        for mode in COMPARE:
            cases[f"scalar {mode}"] = (
                f"CompareScalar{mode}(q, {x}, ({t})1, a[0]); PipeBarrier<PIPE_V>();"
                f"SelectTileScalar({out}, q, {x}, ({t})7, a[0]);"
            )
        cases["nan"] = (
            f"IsNanMask(q, {x}, a[0]); PipeBarrier<PIPE_V>();"
            f"SelectScalars({out}, q, ({t})5, ({t})6, a[0]);"
        )
    return Probe(names, cases)


def big(case: str, n: int, inputs: list[Array], size: int, work: int) -> Call:
    """A call whose inputs and mask have the capacity comparisons ask for."""
    room = -(-n * size // 256) * 256
    return Call(case, [stretched(x, room) for x in inputs], [n * size, -(-n // 8)], [n], work)


def stretched(x: Array, room: int) -> Array:
    return np.concatenate([x.view(np.uint8), np.zeros(room - x.nbytes, np.uint8)])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_comparisons_select(dtype: str) -> None:
    probe = compare_probe(dtype)
    rng = np.random.default_rng(11)
    size = np.dtype(dtype).itemsize
    calls: list[Call] = []
    wanted: list[tuple[str, Array, Array]] = []
    for case in probe.cases:
        for n in SIZES:
            x, y = (rng.integers(-3, 4, n).astype(dtype) for _ in range(2))
            if dtype == "int32":
                x, y = (v * np.int32(1 << 29) + rng.integers(0, 2, n).astype("i4") for v in (x, y))
            if case == "nan":
                x[::3] = np.nan
                bits = np.isnan(x)
                expected = np.where(bits, 5, 6)
            elif case.startswith("scalar"):
                bits = COMPARE[case[7:]](x, 1)
                expected = np.where(bits, x, 7)
            else:
                bits = COMPARE[case](x, y)
                expected = np.where(bits, x, y)
            room = -(-n * size // 256) * 256
            calls.append(big(case, n, [roomy(x), roomy(y)], size, room))
            wanted.append((f"{case} {n}", bits, expected))
    for (label, bits, expected), (out, mask) in zip(wanted, probe.run(calls), strict=True):
        got = np.unpackbits(mask, bitorder="little")[: bits.size]
        np.testing.assert_array_equal(got, bits, err_msg=label)
        np.testing.assert_array_equal(out.view(dtype), expected, err_msg=label)


def test_bytes_and_masks() -> None:
    first = "MaskFromBytes(q, x, a[0], work); PipeBarrier<PIPE_V>();"
    second = "MaskFromBytes(z, y, a[0], work); PipeBarrier<PIPE_V>();"
    last = "PipeBarrier<PIPE_V>(); BytesFromMask(o, q, a[0], work);"
    cases = {
        "and": f"{first} {second} MaskAnd(q, q, z, a[0]); {last}",
        "or": f"{first} {second} MaskOr(q, q, z, a[0]); {last}",
        "not": f"{first} MaskNot(q, q, a[0]); {last}",
    }
    helpers = ["MaskFromBytes", "BytesFromMask", "MaskAnd", "MaskOr", "MaskNot"]
    probe = Probe(helpers, cases)
    rng = np.random.default_rng(12)
    calls, wanted = [], []
    for n in SIZES:
        x, y = (rng.integers(0, 3, n).astype(np.uint8) for _ in range(2))
        room = -(-n // 128) * 16
        need = helper("MaskFromBytes").scratch_bytes(n=n)
        for case, expected in (
            ("and", (x > 0) & (y > 0)),
            ("or", (x > 0) | (y > 0)),
            ("not", x == 0),
        ):
            inputs = [roomy(x), roomy(y), np.zeros(room, np.uint8)]
            calls.append(Call(case, inputs, [n, room], [n], need))
            wanted.append((f"{case} {n}", expected))
    for (label, expected), (out, _) in zip(wanted, probe.run(calls), strict=True):
        np.testing.assert_array_equal(out, expected.astype(np.uint8), err_msg=label)


TORCH = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
TORCH |= {"int8": torch.int8, "uint8": torch.uint8, "int16": torch.int16}
TORCH |= {"int32": torch.int32, "int64": torch.int64}


def test_paths_of_conversions() -> None:
    cases = {}
    for (source, target), path in library.cast_paths().items():
        middle = ", ".join(CPP[name] for name in path.through)
        modes = ", ".join(f"RoundMode::{mode}" for mode in path.modes)
        name = "CastVia" if len(path.through) == 1 else "CastVia2"
        cases[f"{source} {target}"] = (
            f"{name}<{middle}>(o.ReinterpretCast<{CPP[target]}>(),"
            f"x.ReinterpretCast<{CPP[source]}>(), {modes}, a[0], work);"
        )
    probe = Probe(["CastVia", "CastVia2"], cases)
    calls, wanted = [], []
    for label in cases:
        source, target = label.split()
        low = 0.0 if "uint8" in label else -100.0
        for n in (1, 65, 500):
            numbers = torch.from_numpy(np.random.default_rng(n).uniform(low, 100, n))
            x = numbers.to(TORCH[source])
            converted = x.to(TORCH[target])
            raw = x.view(torch.uint8).numpy()
            room = converted.element_size() * n
            calls.append(Call(label, [raw], [room], [n], 2 * (-(-n * 4 // 32) * 32)))
            wanted.append((label, converted.view(torch.uint8).numpy()))
    for (label, expected), (out,) in zip(wanted, probe.run(calls), strict=True):
        np.testing.assert_array_equal(out, expected, err_msg=label)


def test_every_path_is_made_of_casts() -> None:
    known = library.casts()
    for (source, target), path in library.cast_paths().items():
        assert (source, target) not in known
        steps = [source, *path.through, target]
        for before, after, mode in zip(steps[:-1], steps[1:], path.modes, strict=True):
            assert mode in known[before, after], (source, target)


@pytest.mark.parametrize("name", ["Max", "Min"])
def test_positions_of_extremes(name: str) -> None:
    body = (
        f"RowArg{name}(o.ReinterpretCast<float>(), q.ReinterpretCast<int32_t>(),"
        "x.ReinterpretCast<float>(), a[0], a[1], a[2], work);"
    )
    probe = Probe([f"RowArg{name}"], {"arg": body})
    rng = np.random.default_rng(13)
    calls, wanted = [], []
    shapes = [
        (1, 1),
        (3, 7),
        (300, 9),
        (8, 64),
        (40, 65),
        (100, 200),
        (2, 3000),
        (1, 16321),
        (9, 130),
    ]
    for rows, cols in shapes:
        tile = rng.integers(-40, 40, (rows, cols)).astype(np.float32)  # ties
        tile[0, cols // 2] = np.inf
        pitch = pitch_of(cols, "float32")
        sizes = {"rows": rows, "cols": cols, "pitch": pitch, "size": 4}
        need = helper(f"RowArg{name}").scratch_bytes(**sizes)
        room = pitch_of(rows, "float32") * 4
        numbers = [rows, cols, pitch]
        calls.append(Call("arg", [padded(tile, pitch)], [room, room], numbers, need))
        best = tile.argmax(1) if name == "Max" else tile.argmin(1)
        wanted.append((tile[np.arange(rows), best], best))
    for (values, places), (value, index) in zip(wanted, probe.run(calls), strict=True):
        np.testing.assert_array_equal(value.view("f4")[: values.size], values)
        np.testing.assert_array_equal(index.view("i4")[: places.size], places)


def test_infinite_numbers() -> None:
    cases = {"inf": "IsInfMask(o, x.ReinterpretCast<float>(), a[0], work);"}
    probe = Probe(["IsInfMask"], cases)
    x = np.array([1, np.inf, -np.inf, np.nan, 3e38, 0, -1], np.float32)
    room = [stretched(roomy(x), 256)]
    ((mask,),) = probe.run([Call("inf", room, [1], [7], 256)])
    np.testing.assert_array_equal(np.unpackbits(mask, bitorder="little")[:7], np.isinf(x))
