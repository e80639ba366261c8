# SPDX-License-Identifier: Apache-2.0
"""Transposes, scans, gathers and sorts of awkward sizes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from npuforge.lower.library import helper

from .library_probe import CPP, Array, Call, Probe, padded, pitch_of

LENGTHS = [1, 7, 8, 63, 64, 65, 300, 1000]
TILES = [
    (1, 1),
    (3, 7),
    (8, 8),
    (16, 16),
    (1, 300),
    (17, 33),
    (40, 9),
    (300, 5),
    (9, 2100),
    (64, 65),
]
SCANS = {"Sum": np.add, "Prod": np.multiply, "Max": np.maximum, "Min": np.minimum}
NEUTRAL = {"Sum": 0, "Prod": 1, "Max": -1000, "Min": 1000}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_transpose(dtype: str) -> None:
    t = CPP[dtype]
    to, of = f"o.ReinterpretCast<{t}>()", f"x.ReinterpretCast<{t}>()"
    call = f"TransposeTile({to}, a[3], {of}, a[2], a[0], a[1], work);"
    probe = Probe(["TransposeTile"], {"transpose": call})
    rng = np.random.default_rng(3)
    calls, wanted = [], []
    for rows, cols in [*TILES[:8], (9, 1000), (64, 65), (0, 3), (300, 64)]:
        tile = rng.uniform(-9, 9, (rows, cols)).astype(dtype)
        pitch, back = pitch_of(cols, dtype, rows % 2), pitch_of(rows, dtype)
        room = cols * back * np.dtype(dtype).itemsize
        numbers = [rows, cols, pitch, back]
        calls.append(Call("transpose", [padded(tile, pitch)], [room], numbers, 512))
        wanted.append((tile, back))
    for (tile, back), (out,) in zip(
        (w for w in wanted if w[0].size), (r for r in probe.run(calls) if r), strict=True
    ):
        got = out.view(dtype).reshape(-1, back)[:, : tile.shape[0]]
        np.testing.assert_array_equal(got, tile.T, err_msg=str(tile.shape))


@cache
def scan_probe(dtype: str) -> Probe:
    t = CPP[dtype]
    out, tile = f"o.ReinterpretCast<{t}>()", f"x.ReinterpretCast<{t}>()"
    cases = {}
    for name in SCANS:
        cases[f"ColScan{name}"] = f"ColScan{name}({out}, {tile}, a[0], a[1], a[2]);"
        cases[f"RowScan{name}"] = (
            f"RowScan{name}({out}, {tile}, ({t}){NEUTRAL[name]}, a[0], a[1], a[2], work);"
        )
    return Probe(list(cases), cases)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_scans(dtype: str) -> None:
    probe = scan_probe(dtype)
    rng = np.random.default_rng(4)
    calls: list[Call] = []
    wanted: list[tuple[str, Array, int]] = []
    for case in probe.cases:
        axis = 0 if case.startswith("Col") else 1
        reduce = case[7:]
        for rows, cols in [*TILES, (2, 5000), (100, 64), (20, 400)]:
            tile = rng.uniform(-1, 1, (rows, cols))
            if reduce == "Prod":
                tile = np.exp(tile * 3 / (rows, cols)[axis] ** 0.5)
            if dtype == "int32":
                tile = np.maximum(tile, 1) if reduce == "Prod" else tile * 100
            tile = tile.astype(dtype)
            pitch = pitch_of(cols, dtype, 0)
            need = helper(case).scratch_bytes(rows=rows, cols=cols, pitch=pitch, size=4)
            lay = padded(tile, pitch)
            calls.append(Call(case, [lay], [lay.nbytes], [rows, cols, pitch], need))
            wide = tile.astype("int64" if dtype == "int32" else "float64")
            wanted.append(
                (f"{case} {rows}x{cols}", SCANS[reduce].accumulate(wide, axis=axis), pitch)
            )
    for (label, expected, pitch), (out,) in zip(wanted, probe.run(calls), strict=True):
        got = out.view(dtype).reshape(-1, pitch)[:, : expected.shape[1]]
        tolerance = 0 if dtype == "int32" else 2e-5 if "Prod" in label else 2e-6
        scale = 0 if dtype == "int32" else 1e-5
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=scale, err_msg=label)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gather_iota_reverse(dtype: str) -> None:
    t = CPP[dtype]
    to, x = f"o.ReinterpretCast<{t}>()", f"x.ReinterpretCast<{t}>()"
    cases = {
        "GatherElements": f"GatherElements({to}, {x}, y.ReinterpretCast<int32_t>(), a[0], work);",
        "ReverseRow": f"ReverseRow({to}, {x}, a[0], work);",
        "Iota": f"Iota({to}, ({t})3, ({t})2, a[0]);",
    }
    probe = Probe(list(cases), cases)
    rng = np.random.default_rng(5)
    calls, wanted = [], []
    for n in LENGTHS:
        x_values = rng.uniform(-9, 9, n).astype(dtype)
        index = rng.integers(0, n, n).astype(np.int32)
        for case, expected in (
            ("GatherElements", x_values[index]),
            ("ReverseRow", x_values[::-1]),
            ("Iota", (3 + 2 * np.arange(n)).astype(dtype)),
        ):
            need = helper(case).scratch_bytes(n=n, size=4)
            calls.append(Call(case, [x_values, index], [expected.nbytes], [n], need))
            wanted.append((f"{case} {n}", expected))
    for (label, expected), (out,) in zip(wanted, probe.run(calls), strict=True):
        np.testing.assert_array_equal(out.view(dtype), expected, err_msg=label)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gather_blocks(dtype: str) -> None:
    t = CPP[dtype]
    call = (
        f"GatherBlocks(o.ReinterpretCast<{t}>(), x.ReinterpretCast<{t}>(), "
        "y.ReinterpretCast<int32_t>(), a[0], work);"
    )
    probe = Probe(["GatherBlocks"], {"blocks": call})
    rng = np.random.default_rng(6)
    calls, wanted = [], []
    for n in (8, 16, 2040, 2048):
        x_values = rng.uniform(-9, 9, (50, 32 // np.dtype(dtype).itemsize)).astype(dtype)
        index = rng.integers(0, 50, n).astype(np.int32)
        need = helper("GatherBlocks").scratch_bytes(n=n, size=4)
        calls.append(Call("blocks", [x_values, index], [n * 32], [n], need))
        wanted.append(x_values[index].reshape(-1))
    for expected, (out,) in zip(wanted, probe.run(calls), strict=True):
        np.testing.assert_array_equal(out.view(dtype), expected)


def test_sort_and_top_k() -> None:
    tail = "x.ReinterpretCast<float>(), a[0]"
    head = "o.ReinterpretCast<float>(), q.ReinterpretCast<int32_t>()"
    cases = {
        "SortRow": f"SortRow({head}, {tail}, a[2] != 0, work);",
        "TopKRow": f"TopKRow({head}, {tail}, a[1], a[2] != 0, work);",
    }
    probe = Probe(list(cases), cases)
    rng = np.random.default_rng(6)
    calls, wanted = [], []
    for n in [1, 7, 31, 32, 33, 64, 127, 129, 500, 2048, 3000]:
        x = rng.integers(-50, 50, n).astype(np.float32)  # ties
        x[n // 2] = -np.inf
        x[n // 3 : n // 3 + 3] = [np.nan, np.inf, np.nan][: min(n, 3)]
        for descending in (0, 1):
            order = np.argsort(x, kind="stable")  # NaN last
            if descending:
                order = n - 1 - np.argsort(x[::-1], kind="stable")[::-1]
            for case, k in (("SortRow", n), ("TopKRow", min(n, 5)), ("TopKRow", min(n, 100))):
                need = helper(case).scratch_bytes(n=n)
                calls.append(Call(case, [x], [k * 4, k * 4], [n, k, descending], need))
                wanted.append((f"{case} {n} {k} {descending}", x[order[:k]], order[:k]))
    for (label, values, places), (value, index) in zip(wanted, probe.run(calls), strict=True):
        np.testing.assert_array_equal(value.view(np.float32), values, err_msg=label)
        np.testing.assert_array_equal(index.view(np.int32), places, err_msg=label)
