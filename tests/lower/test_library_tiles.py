# SPDX-License-Identifier: Apache-2.0
"""Broadcasting arithmetic and reductions over tiles of awkward sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from npuforge.lower.library import helper

from .library_probe import CPP, Array, Call, Probe, padded, pitch_of

# rows, cols, further blocks of pitch
SHAPES = [
    (1, 1, 0),
    (3, 7, 0),
    (8, 8, 1),
    (1, 65, 0),
    (256, 9, 0),
    (300, 63, 0),
    (300, 64, 1),
    (5, 255 * 8 + 3, 0),
    (2, 2100, 3),
    (1, 255 * 64 + 1, 0),
    (17, 200, 0),
    (40, 129, 2),
    (0, 5, 0),
]
OPS: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
}
REDUCE: dict[str, Any] = {"Sum": np.add, "Max": np.maximum, "Min": np.minimum, "Prod": np.multiply}


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    if np.dtype(dtype).kind == "i":
        return rng.integers(1, 9, shape).astype(dtype)
    return rng.uniform(0.5, 2, shape).astype(dtype)


@cache
def broadcast_probe(dtype: str) -> Probe:
    t = CPP[dtype]
    names: list[str] = []
    cases: dict[str, str] = {}
    tile = f"x.ReinterpretCast<{t}>()"
    out = f"o.ReinterpretCast<{t}>()"
    vector = f"y.ReinterpretCast<{t}>()"
    for op in OPS:
        for name, arguments in (
            (f"{op}Row", f"{out}, {tile}, {vector}, a[0], a[1], a[2]"),
            (f"Row{op}", f"{out}, {vector}, {tile}, a[0], a[1], a[2]"),
            (f"{op}Col", f"{out}, {tile}, {vector}, a[0], a[1], a[2], work"),
            (f"Col{op}", f"{out}, {vector}, {tile}, a[0], a[1], a[2], work"),
        ):
            if (name.startswith(("Row", "Col")) and op not in ("Sub", "Div")) or (
                dtype not in helper(name).dtypes
            ):
                continue
            names.append(name)
            cases[name] = f"{name}({arguments});"
    for name, scratch in (("BroadcastRow", ""), ("BroadcastCol", ", work")):
        if dtype in helper(name).dtypes:
            names.append(name)
            cases[name] = f"{name}({out}, {vector}, a[0], a[1], a[2]{scratch});"
    return Probe(names, cases)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_broadcasting_arithmetic(dtype: str) -> None:
    probe = broadcast_probe(dtype)
    rng = np.random.default_rng(1)
    calls: list[Call] = []
    wanted: list[tuple[str, int, int, int, Array]] = []
    size = np.dtype(dtype).itemsize
    for case in probe.cases:
        by_column = case.endswith("Col") or case.startswith("Col")
        for rows, cols, extra in SHAPES:
            pitch = pitch_of(cols, dtype, extra)
            if rows * pitch * size > 80_000:
                continue
            tile = values(rng, (rows, cols), dtype)
            v = values(rng, (rows if by_column else cols,), dtype)
            op = case.replace("Row", "").replace("Col", "")
            w = v[:, None] if by_column else v[None, :]
            if op == "Broadcast":
                expected = np.broadcast_to(w, tile.shape)
            elif case.startswith(("Row", "Col")):
                expected = OPS[op](w, tile)
            else:
                expected = OPS[op](tile, w)
            need = helper(case).scratch_bytes(rows=rows, cols=cols, pitch=pitch, size=size)
            lay = padded(tile, pitch)
            flat = padded(v, max(8, pitch_of(v.size, dtype)))
            # blocks of padding beyond the last used one are nobody's to write: filled beforehand
            numbers = [rows, cols, pitch]
            calls.append(Call(case, [lay, flat], [lay.nbytes], numbers, need, fill=extra > 0))
            wanted.append((case, rows, cols, pitch, expected))
    tolerance = {"float32": 1e-6, "float16": 1e-3, "int32": 0}[dtype]
    for (case, rows, cols, pitch, expected), (out, *_) in zip(
        (w for w in wanted if w[1] > 0), (r for r in probe.run(calls) if r), strict=True
    ):
        got = out.view(dtype).reshape(rows, pitch)[:, :cols]
        np.testing.assert_allclose(got, expected, rtol=tolerance, err_msg=f"{case} {rows}x{cols}")


@cache
def reduce_probe(dtype: str) -> Probe:
    t = CPP[dtype]
    cases: dict[str, str] = {}
    out, tile = f"o.ReinterpretCast<{t}>()", f"x.ReinterpretCast<{t}>()"
    neutral = {"Mul": "1"}
    for op, value in neutral.items():
        cases[f"RowReduceBy{op}"] = (
            f"RowReduceBy{op}({out}, {tile}, ({t}){value}, a[0], a[1], a[2], work);"
        )
        cases[f"ReduceAllBy{op}"] = f"ReduceAllBy{op}({out}, {tile}, ({t}){value}, a[1], work);"
    for name in REDUCE:
        cases[f"ColReduce{name}"] = f"ColReduce{name}({out}, {tile}, a[0], a[1], a[2], work);"
        if name != "Prod" and dtype != "int32":
            cases[f"RowReduce{name}"] = f"RowReduce{name}({out}, {tile}, a[0], a[1], a[2], work);"
            cases[f"ReduceAll{name}"] = f"ReduceAll{name}({out}, {tile}, a[1], work);"
    return Probe(list(cases), cases)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_reductions(dtype: str) -> None:
    probe = reduce_probe(dtype)
    rng = np.random.default_rng(2)
    calls: list[Call] = []
    wanted: list[tuple[str, Array]] = []
    size = np.dtype(dtype).itemsize
    spelled = {"Add": "Sum", "Mul": "Prod"}
    for case in probe.cases:
        reduce = case.removeprefix("ReduceAll").removeprefix("RowReduce").removeprefix("ColReduce")
        reduce = reduce.removeprefix("By")
        reduce = spelled.get(reduce, reduce)
        for rows, cols, extra in SHAPES:
            pitch = pitch_of(cols, dtype, extra)
            whole = case.startswith("ReduceAll")
            if rows * pitch * size > 100_000 or rows == 0 or (whole and rows != 1):
                continue
            if reduce == "Prod":
                count = rows if case.startswith("Col") else cols
                if dtype == "float16" and count > 1000:
                    continue  # every factor rounds
                tile = np.exp(rng.uniform(-2, 2, (rows, cols)) / count**0.5).astype(dtype)
                tile = np.maximum(tile, 1).astype(dtype) if dtype == "int32" else tile
            elif dtype == "int32":
                tile = rng.integers(-1000, 1000, (rows, cols)).astype(dtype)
            else:
                tile = rng.uniform(-1, 1, (rows, cols)).astype(dtype)
            if reduce in ("Max", "Min") and case.find("By") > 0:
                tile = np.clip(tile, -9, 9)
            sizes = {"rows": rows, "cols": cols, "pitch": pitch, "size": size, "n": cols}
            need = helper(case).scratch_bytes(**sizes)
            axis = 0 if case.startswith("Col") else 1
            wide = tile.astype(np.int64 if dtype == "int32" else np.float64)
            expected = REDUCE[reduce].reduce(wide, axis=axis)
            room = max(1, pitch_of(expected.size, dtype)) * size
            calls.append(Call(case, [padded(tile, pitch)], [room], [rows, cols, pitch], need))
            wanted.append((f"{case} {rows}x{cols}", expected))
    for (label, expected), (out, *_) in zip(wanted, probe.run(calls), strict=True):
        got = out.view(dtype)[: expected.size]
        exact = "Max" in label or "Min" in label or dtype == "int32"
        tolerance = 0 if exact else {"float32": 2e-6, "float16": 4e-3}[dtype]
        tolerance *= 10 if "Prod" in label or "Mul" in label else 1  # every factor rounds
        scale = 0 if exact else {"float32": 3e-6, "float16": 0.4}[dtype]
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=scale, err_msg=label)
