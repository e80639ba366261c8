# SPDX-License-Identifier: Apache-2.0
"""What emitters share: element types, places in tiles, calls over rows, waits and helpers."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import code, function

from npuforge.dtypes import find
from npuforge.lower.context import device_type


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("float16", "half"),
        ("bfloat16", "bfloat16_t"),
        ("float32", "float"),
        ("int32", "int32_t"),
        ("uint8", "uint8_t"),
        ("bool", "uint8_t"),
    ],
)
def test_element_types_of_the_device(dtype: str, name: str) -> None:
    assert device_type(find(dtype)) == name
    assert device_type(None) == "uint8_t"


COMPUTE = """
a = tl.alloc_ub({shape}, dtype=tl.{dtype})
b = tl.alloc_ub({shape}, dtype=tl.{dtype})
with tl.compute():
    tl.fill(a, 0)
    tl.{operation}
"""


def last(operation: str, shape: str = "64", dtype: str = "float32", count: int = 1) -> list[str]:
    body = COMPUTE.format(shape=shape, dtype=dtype, operation=operation)
    return function("Compute", body, "")[-count:]


@pytest.mark.parametrize(
    ("dtype", "value", "printed"),
    [
        ("float32", "2.0", "2.0f"),
        ("float32", "n", "static_cast<float>(n)"),
        ("float16", "2.0", "static_cast<half>(2.0f)"),
        ("int32", "n", "static_cast<int32_t>(n)"),
    ],
)
def test_a_scalar_has_the_type_of_the_tile(dtype: str, value: str, printed: str) -> None:
    assert last(f"mul(b, a, {value})", dtype=dtype) == [f"Muls(bLocal, aLocal, {printed}, 64);"]


def test_rows_that_follow_each_other_are_one_call() -> None:
    assert last("exp(b, a)", "(4, 24)") == ["Exp(bLocal, aLocal, 96);"]
    assert last("exp(b[2, :], a[n, :])", "(4, 24)") == ["Exp(bLocal[48], aLocal[n * 24], 24);"]


def test_other_rows_are_a_loop_of_calls() -> None:
    assert last("exp(b[1:, :16], a[1:, :16])", "(4, 24)", count=3) == [
        "for (int64_t rowIndex = 0; rowIndex < 3; ++rowIndex) {",
        "    Exp(bLocal[24 + rowIndex * 24], aLocal[24 + rowIndex * 24], 16);",
        "}",
    ]


def test_a_view_of_a_mask_starts_at_a_byte() -> None:
    body = """
    m = tl.alloc_mask(512)
    f = tl.alloc_ub(512, dtype=tl.float32)
    with tl.compute():
        tl.fill(f, 0.0)
        tl.compare(m[256:512], f[256:512], 0.0, "gt")
    """
    (line,) = function("Compute", body, "")[-1:]
    assert line == "CompareScalarGT(mLocal[CeilDiv(256, 8)], fLocal[256], 0.0f, 256);"


def test_helpers_are_noted_once_in_the_order_of_use() -> None:
    body = COMPUTE.format(
        shape="64", dtype="float32", operation="sin(b, a)\n    tl.copy(a, b)\n    tl.sin(b, a)"
    )
    assert code(body, "").helpers == ["Fp32Sin", "CopyTile"]


def test_a_wait_is_noted_with_its_event() -> None:
    waits = code(
        COMPUTE.format(shape="64", dtype="float32", operation="insert_scalar(a, n, 1.0)"), ""
    )
    assert waits.uses_wait
    assert waits.body.functions[0].lines[-3:] == [
        "WaitFor<HardEvent::V_S>();",
        "aLocal.SetValue(n, 1.0f);",
        "WaitFor<HardEvent::S_V>();",
    ]
    assert not code(
        COMPUTE.format(shape="64", dtype="float32", operation="exp(b, a)"), ""
    ).uses_wait
