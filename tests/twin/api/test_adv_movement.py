# SPDX-License-Identifier: Apache-2.0
"""Broadcast, padding, transposes, TopK, selection, sequences, quantisation, tiling layouts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .library_kernel import LibraryKernel, rules_of, values_of


@pytest.mark.parametrize("axis", [0, 1])
@settings(max_examples=5, deadline=None)
@given(rows=st.integers(2, 12), blocks=st.integers(1, 6))
def test_broadcast_repeats_rows_or_values(axis: int, rows: int, blocks: int) -> None:
    columns = 8 * blocks
    shape = (1, columns) if axis == 0 else (8 * ((rows + 7) // 8), 1)
    x = np.arange(shape[0] * shape[1], dtype=np.float32)
    source = "{1, columns}" if axis == 0 else "{rows, 1}"
    kernel = LibraryKernel(
        f"uint32_t to[] = {{rows, columns}}; uint32_t from[] = {source};"
        f"BroadCast<float, 2, {axis}>(y, x, to, from, tmp);",
        {"x": "float32"},
        {"y": "float32"},
        ("rows", "columns"),
    )
    result = kernel.run({"x": x}, {"y": rows * columns}, {"rows": rows, "columns": columns})
    data = x.reshape(shape)[: 1 if axis == 0 else rows]
    assert (
        values_of(result, "y").reshape(rows, columns) == np.broadcast_to(data, (rows, columns))
    ).all()


@pytest.mark.parametrize(("columns", "rules"), [(512, set()), (500, {"QUE-15"})])
def test_rows_of_whole_blocks_need_little_space(columns: int, rules: set[str]) -> None:
    kernel = LibraryKernel(
        "uint32_t to[] = {8, columns}; uint32_t from[] = {8, 1};"
        "BroadCast<float, 2, 1>(y, x, to, from, tmp);",
        {"x": "float32"},
        {"y": "float32"},
        ("columns",),
        tmp_bytes=256,
    )
    x = np.arange(8, dtype=np.float32)
    result = kernel.run({"x": x}, {"y": 8 * columns}, {"columns": columns})
    assert rules_of(result) == rules


@settings(max_examples=6, deadline=None)
@given(
    rows=st.integers(1, 5), blocks=st.integers(1, 4), k=st.integers(1, 20), largest=st.booleans()
)
def test_top_k_is_sorted_with_indices(rows: int, blocks: int, k: int, largest: bool) -> None:
    inner = 32 * blocks
    x = np.random.default_rng(k).permutation(rows * inner).astype(np.float32).reshape(rows, inner)
    step = (k + 7) // 8 * 8
    kernel = LibraryKernel(
        """LocalTensor<int32_t> none; LocalTensor<bool> finish; TopkTiling tiling;
        Duplicate(value, 0.0f, value_size); Duplicate(index, int32_t(0), index_size);
        PipeBarrier<PIPE_V>();
        TopK<float>(value, index, x, none, finish, tmp, k, tiling,
                    {int32_t(rows), int32_t(inner), int32_t(inner)}, largest != 0);""",
        {"x": "float32"},
        {"value": "float32", "index": "int32"},
        ("rows", "inner", "k", "largest"),
    )
    numbers = {"rows": rows, "inner": inner, "k": k, "largest": int(largest)}
    result = kernel.run(
        {"x": x.ravel()}, {"value": rows * step, "index": rows * step}, numbers, mode="run"
    )
    order = np.argsort(-x if largest else x, axis=-1)[:, :k]
    index = values_of(result, "index").reshape(rows, step)[:, :k]
    value = values_of(result, "value").reshape(rows, step)[:, :k]
    assert (index == order).all()
    assert (value == np.take_along_axis(x, order, -1)).all()


def test_masks_select_bytes_and_drop_bits() -> None:
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, (4, 32)).astype(np.float32)
    mask = rng.integers(0, 2, (4, 32)).astype(np.uint8)
    bits = np.packbits(rng.integers(0, 2, (4, 256)).astype(np.uint8), axis=-1, bitorder="little")
    wide = rng.uniform(-1, 1, (4, 256)).astype(np.float32)
    kernel = LibraryKernel(
        """SelectWithBytesMask(first, x, 7.0f, mask, tmp, {4, 32, 32});
        SelectWithBytesMask(second, 7.0f, x, mask, tmp, {4, 32, 32});
        DropOut(kept, wide, bits, tmp, 0.5f, {4, 256, 32});""",
        {"x": "float32", "mask": "uint8", "wide": "float32", "bits": "uint8"},
        {"first": "float32", "second": "float32", "kept": "float32"},
    )
    inputs = {"x": x.ravel(), "mask": mask.ravel(), "wide": wide.ravel(), "bits": bits.ravel()}
    result = kernel.run(inputs, {"first": 128, "second": 128, "kept": 1024})
    chosen = mask.astype(bool)
    assert (values_of(result, "first").reshape(4, 32) == np.where(chosen, np.float32(7), x)).all()
    assert (values_of(result, "second").reshape(4, 32) == np.where(chosen, x, np.float32(7))).all()
    keep = np.unpackbits(bits, axis=-1, bitorder="little").astype(bool)
    assert (values_of(result, "kept").reshape(4, 256) == np.where(keep, wide * 2, 0)).all()
    assert rules_of(result) == set()


def test_sequences_padding_and_transposes() -> None:
    x = np.arange(16 * 32, dtype=np.float16)
    narrow = np.arange(16 * 15, dtype=np.float16)
    kernel = LibraryKernel(
        """ArithProgression<int32_t>(line, int32_t(3), int32_t(2), 32);
        ConfusionTransposeTiling turn; turn.param1 = 16; turn.param2 = 32;
        ConfusionTranspose(turned, x, tmp, TransposeType::TRANSPOSE_ND2ND_ONLY, turn);
        PadTiling pad; pad.srcHeight = 16; pad.srcWidth = 15; PadParams how{0, 1, 5};
        Pad(wide, narrow, how, tmp, pad);
        PipeBarrier<PIPE_V>();
        UnPadTiling cut; cut.srcHeight = 16; cut.srcWidth = 16; UnPadParams less{0, 1};
        UnPad(back, wide, less, tmp, cut);""",
        {"x": "float16", "narrow": "float16"},
        {"line": "int32", "turned": "float16", "wide": "float16", "back": "float16"},
    )
    sizes = {"line": 32, "turned": 512, "wide": 256, "back": 240}
    result = kernel.run({"x": x, "narrow": narrow}, sizes)
    assert (values_of(result, "line") == 3 + 2 * np.arange(32)).all()
    assert (values_of(result, "turned").reshape(32, 16) == x.reshape(16, 32).T).all()
    wide = values_of(result, "wide").reshape(16, 16)
    assert (wide[:, :15] == narrow.reshape(16, 15)).all()
    assert (wide[:, 15] == 5).all()
    assert (values_of(result, "back") == narrow).all()


def test_quantisation_and_its_inverses() -> None:
    rng = np.random.default_rng(8)
    x = rng.uniform(-4, 4, 256).astype(np.float16)
    sums = rng.integers(-1000, 1000, (4, 32)).astype(np.int32)
    scale = rng.uniform(0.1, 2, 32).astype(np.float32)
    kernel = LibraryKernel(
        """AscendQuant(q, x, tmp, 2.0f, 0.9f, 256);
        AscendDequant<float, float>(d, sums, scale, tmp, {4, 32, 32});""",
        {"x": "float16", "sums": "int32", "scale": "float32"},
        {"q": "int8", "d": "float32"},
    )
    result = kernel.run({"x": x, "sums": sums.ravel(), "scale": scale}, {"q": 256, "d": 128})
    exact = np.rint((x * np.float16(2)).astype(np.float16) + np.float16(0.9))
    assert (values_of(result, "q") == exact).all()
    np.testing.assert_allclose(values_of(result, "d").reshape(4, 32), sums * scale, rtol=1e-6)
    assert rules_of(result) == set()
