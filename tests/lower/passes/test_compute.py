# SPDX-License-Identifier: Apache-2.0
"""Operations as calls of AscendC: the instruction where there is one, else a library function."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import function

TILES = """
a = tl.alloc_ub(64, dtype=tl.{dtype})
b = tl.alloc_ub(64, dtype=tl.{dtype})
c = tl.alloc_ub(64, dtype=tl.{dtype})
r = tl.alloc_ub((4, 24), dtype=tl.{dtype})
q = tl.alloc_ub((4, 24), dtype=tl.{dtype})
v = tl.alloc_ub(24, dtype=tl.{dtype})
w = tl.alloc_ub(8, dtype=tl.{dtype})
i = tl.alloc_ub(64, dtype=tl.int32)
m = tl.alloc_mask(64)
with tl.compute():
    tl.{operation}
"""
READ = (
    'fill(a, 0); fill(b, 0); fill(r, 0); fill(v, 0); fill(w, 0); fill(i, 0); compare(m, a, a, "lt")'
)


def calls(operation: str, dtype: str = "float32") -> list[str]:
    """The calls that an operation becomes, without those that give its operands a value."""
    before = READ.replace("; ", "\n    tl.") + "\n    tl.exp(w, w)\n    tl."
    if dtype == "int32":
        before = before.replace("exp(w, w)", "neg(w, w)")
    emitted = function("Compute", TILES.format(dtype=dtype, operation=before + operation), "")
    (end,) = (place for place, line in enumerate(emitted) if "(wLocal, wLocal" in line)
    return emitted[end + 1 :]


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("exp(b, a)", "Exp(bLocal, aLocal, 64);"),
        ("log(b[:20], a[:20])", "Ln(bLocal, aLocal, 20);"),
        ("neg(b, a)", "Muls(bLocal, aLocal, -1.0f, 64);"),
        ("floor(b, a)", "Cast(bLocal, aLocal, RoundMode::CAST_FLOOR, 64);"),
        ("sin(b, a)", "Fp32Sin(bLocal, aLocal, 64, work);"),
        ("add(c, a, b)", "Add(cLocal, aLocal, bLocal, 64);"),
        ("pow(c, a, b)", "Fp32Pow(cLocal, aLocal, bLocal, 64, work);"),
        ("leaky_relu(b, a, 0.1)", "LeakyRelu(bLocal, aLocal, 0.1f, 64);"),
        ("axpy(b, a, 2.0)", "Axpy(bLocal, aLocal, 2.0f, 64);"),
        ("mul_add(b, a, a)", "MulAddDst(bLocal, aLocal, aLocal, 64);"),
        ("fill(b, 3.0)", "Duplicate(bLocal, 3.0f, 64);"),
        ("copy(b, a)", "CopyTile(bLocal, aLocal, 64);"),
        ("iota(b, 1.0, 2.0)", "Iota(bLocal, 1.0f, 2.0f, 64);"),
        ("reverse(b, a)", "ReverseRow(bLocal, aLocal, 64, work);"),
        ("gather(b, a, i)", "GatherElements(bLocal, aLocal, iLocal, 64, work);"),
        ("is_nan(m, a)", "IsNanMask(mLocal, aLocal, 64);"),
        ("mask_not(m, m)", "MaskNot(mLocal, mLocal, 64);"),
        ("cumsum(b, a)", "RowScanSum(bLocal, aLocal, 0.0f, 1, 64, 64, work);"),
        ("sort(b, i, a)", "SortRow(bLocal, iLocal, aLocal, 64, false, work);"),
    ],
)
def test_an_operation_is_one_call(operation: str, call: str) -> None:
    assert calls(operation) == [call]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("add(b, a, 2.0)", ["Adds(bLocal, aLocal, 2.0f, 64);"]),
        ("sub(b, a, 2.0)", ["Adds(bLocal, aLocal, -2.0f, 64);"]),
        ("mul(b, 2.0, a)", ["Muls(bLocal, aLocal, 2.0f, 64);"]),
        ("div(b, a, 4.0)", ["Muls(bLocal, aLocal, 0.25f, 64);"]),
        (
            "div(b, a, 3.0)",
            [
                "Duplicate(work.ReinterpretCast<float>(), 3.0f, 8);",
                "DivBlock(bLocal, aLocal, work.ReinterpretCast<float>(), 64);",
            ],
        ),
        (
            "sub(b, 2.0, a)",
            ["Muls(bLocal, aLocal, -1.0f, 64);", "Adds(bLocal, bLocal, 2.0f, 64);"],
        ),
        ("div(b, 1.0, a)", ["Duplicate(bLocal, 1.0f, 64);", "Div(bLocal, bLocal, aLocal, 64);"]),
        (
            "div(a, 1.0, a)",
            [
                "Duplicate(work.ReinterpretCast<float>(), 1.0f, 64);",
                "Div(aLocal, work.ReinterpretCast<float>(), aLocal, 64);",
            ],
        ),
    ],
    ids=["sum", "difference", "product from the left", "power of two", "other quotient",
         "scalar first", "quotient of a scalar", "over its operand"],
)  # fmt: skip
def test_a_scalar_operand_rounds_once(operation: str, expected: list[str]) -> None:
    assert calls(operation) == expected


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("add(q, r, r)", "Add(qLocal, rLocal, rLocal, 96);"),
        ("add(q, r, v)", "AddRow(qLocal, rLocal, vLocal, 4, 24, 24);"),
        ("add(q, v, r)", "AddRow(qLocal, rLocal, vLocal, 4, 24, 24);"),
        ("sub(q, v, r)", "RowSub(qLocal, vLocal, rLocal, 4, 24, 24);"),
        ("add(q, r, w[:4, None])", "AddCol(qLocal, rLocal, wLocal, 4, 24, 24, work);"),
        ("div(q, w[:4, None], r)", "ColDiv(qLocal, wLocal, rLocal, 4, 24, 24, work);"),
        ("broadcast(q, v)", "BroadcastRow(qLocal, vLocal, 4, 24, 24);"),
        ("broadcast(q, w[:4, None])", "BroadcastCol(qLocal, wLocal, 4, 24, 24, work);"),
        ("add(q[:, :16], r[:, :16], r[:, 8:])",
         "AddTile(qLocal, 24, rLocal, 24, rLocal[8], 24, 4, 16);"),
    ],
)  # fmt: skip
def test_rows_and_columns_are_repeated_by_the_library(operation: str, call: str) -> None:
    assert calls(operation) == [call]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("reduce_sum(w[:4], r, axis=1)", ["RowReduceSum(wLocal, rLocal, 4, 24, 24, work);"]),
        ("reduce_max(v, r, axis=0)", ["ColReduceMax(vLocal, rLocal, 4, 24, 24, work);"]),
        ("reduce_sum(w[:1], a)", ["ReduceAllSum(wLocal, aLocal, 64, work);"]),
        ("reduce_min(w[:1], r)", ["ReduceAllMin(wLocal, rLocal, 96, work);"]),
    ],
    ids=["rows", "columns", "a line", "a tile without pads"],
)
def test_reductions_by_axis(operation: str, expected: list[str]) -> None:
    assert calls(operation) == expected


def test_a_tile_with_pads_is_reduced_row_by_row_first() -> None:
    rows, whole = calls("reduce_sum(w[:1], r[:, :20])")
    assert rows.startswith("RowReduceSum(work[")
    assert rows.endswith(".ReinterpretCast<float>(), rLocal, 4, 20, 24, work);")
    assert whole.startswith("ReduceAllSum(wLocal, work[")
    assert whole.endswith(".ReinterpretCast<float>(), 4, work);")


def test_comparing_and_choosing() -> None:
    assert calls('compare(m, a, 0.5, "ge")') == ["CompareScalarGE(mLocal, aLocal, 0.5f, 64);"]
    assert calls('compare(m, a, b, "ge")') == ["CompareTilesGE(mLocal, aLocal, bLocal, 64);"]
    assert calls("select(c, m, a, b)") == ["SelectTiles(cLocal, mLocal, aLocal, bLocal, 64);"]
    assert calls("select(c, m, a, 0.0)") == ["SelectTileScalar(cLocal, mLocal, aLocal, 0.0f, 64);"]
    assert calls("select(c, m, 0.0, a)") == [
        "MaskNot(work, mLocal, 64);",
        "SelectTileScalar(cLocal, work, aLocal, 0.0f, 64);",
    ]


def test_bits_of_long_numbers_are_taken_as_two_short_ones() -> None:
    assert calls("bit_and(c, a, b)", "int32") == [
        "And(cLocal.ReinterpretCast<uint16_t>(), aLocal.ReinterpretCast<uint16_t>(), "
        "bLocal.ReinterpretCast<uint16_t>(), (64) * 2);"
    ]


def test_the_scalar_unit_takes_turns_where_it_does_the_work() -> None:
    assert calls("scatter_add(b, i, a)") == [
        "WaitFor<HardEvent::V_S>();",
        "ScatterAdd(bLocal, iLocal, aLocal, 64);",
        "WaitFor<HardEvent::S_V>();",
    ]
    assert calls("insert_scalar(b, 3, 1.0)") == [
        "WaitFor<HardEvent::V_S>();",
        "bLocal.SetValue(3, 1.0f);",
        "WaitFor<HardEvent::S_V>();",
    ]
