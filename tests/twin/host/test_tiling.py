# SPDX-License-Identifier: Apache-2.0
"""Running the tiling functions of host libraries."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.twin.host import (
    Attribute,
    OpDescription,
    Operator,
    TensorSpec,
    TilingRequest,
    compute_tiling,
)
from npuforge.twin.host.tiling import render_request

X = TensorSpec((3, 5), "DT_FLOAT")
REPEATS = TensorSpec((1,), "DT_INT64", data=struct.pack("<q", 9))
REQUEST = TilingRequest(
    "ScaleRows", {"x": X, "bias": None, "repeats": REPEATS}, attrs={"axes": [4, 2]}
)
INTS = TensorSpec((6,), "DT_INT32")
LIST_REQUEST = TilingRequest("ListAdd", {"xs": [INTS, replace(INTS, shape=())]}, {"y": INTS})


def test_data_attributes_and_inference(scale: Path, scale_description: OpDescription) -> None:
    result = compute_tiling(scale, scale_description.operator(), REQUEST)
    assert result.ok, result.message
    assert result.block_dim == 9
    assert result.tiling_key == 196608 - 256  # the UB an operator may use
    assert result.workspace_sizes == (0, 16777216)
    fields = struct.unpack("<B7xQf4xB3xI3H2x", result.tiling_data)
    assert fields == (1, 15, 0.5, 0, 2, 4, 2, 0)
    (y,) = result.outputs
    assert (y.inferred_shape, y.inferred_dtype, y.dtype) == ((3, 5, 2), "DT_FLOAT", "DT_FLOAT")
    assert result.log == ("tiled 15 elements",)


def test_optional_input_and_attributes_reach_the_function(
    scale: Path, scale_description: OpDescription
) -> None:
    request = replace(
        REQUEST,
        inputs={"x": X, "bias": TensorSpec((5,), "DT_BF16"), "repeats": REPEATS},
        attrs={"axes": [], "alpha": -1.25, "mode": "very slow"},
    )
    result = compute_tiling(scale, scale_description.operator(), request)
    assert result.ok, result.message
    fields = struct.unpack("<B7xQf4xB3xI3H2x", result.tiling_data)
    assert fields == (0, 15, -1.25, 1, 3, 0, 0, 0)


def test_chip_constants_come_from_the_chip(scale: Path, scale_description: OpDescription) -> None:
    many = replace(REPEATS, data=struct.pack("<q", 1000))
    request = replace(REQUEST, inputs={**REQUEST.inputs, "repeats": many})
    op = scale_description.operator()
    assert compute_tiling(scale, op, request, soc="910b2").block_dim == 48
    assert compute_tiling(scale, op, request, soc="910b3").block_dim == 40


def test_missing_values_make_the_function_fail(
    scale: Path, scale_description: OpDescription
) -> None:
    without = {**REQUEST.inputs, "repeats": replace(REPEATS, data=None)}
    result = compute_tiling(scale, scale_description.operator(), replace(REQUEST, inputs=without))
    assert result.status == "failed"
    assert result.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attrs": {}}, "axes is required"),
        ({"inputs": {"x": X, "bias": None}}, "repeats must be given once"),
        ({"inputs": {"x": [X, X], "repeats": REPEATS}}, "x must be given once"),
        ({"inputs": {"x": X, "repeats": REPEATS, "z": X}}, "no input named z"),
    ],
)
def test_bad_requests_are_named(
    scale: Path, scale_description: OpDescription, change: dict[str, object], message: str
) -> None:
    request = replace(REQUEST, **change)  # type: ignore[arg-type]
    result = compute_tiling(scale, scale_description.operator(), request)
    assert result.status == "bad_request"
    assert message in result.message


def test_plain_structure_dynamic_inputs_and_compile_info(
    list_add: Path, list_description: OpDescription
) -> None:
    op = list_description.operator()
    result = compute_tiling(list_add, op, LIST_REQUEST)
    assert result.ok, result.message
    assert struct.unpack("<4qi4x", result.tiling_data) == (6, 1, 0, 0, 2)
    assert result.block_dim == 48
    assert compute_tiling(list_add, op, replace(LIST_REQUEST, cube=True)).block_dim == 24


def test_failure_carries_the_logged_error(list_add: Path, list_description: OpDescription) -> None:
    request = replace(LIST_REQUEST, inputs={"xs": [INTS] * 5})
    result = compute_tiling(list_add, list_description.operator(), request)
    assert result.status == "failed"
    assert "at most 4 tensors" in result.message


def test_crash_and_exception_are_reported(list_add: Path, list_description: OpDescription) -> None:
    op = list_description.operator()
    crash = compute_tiling(list_add, op, replace(LIST_REQUEST, attrs={"divisor": -1}))
    assert crash.status == "crashed"
    assert "SIGSEGV" in crash.message
    assert crash.frames
    thrown = compute_tiling(list_add, op, replace(LIST_REQUEST, attrs={"divisor": -2}))
    assert thrown.status == "exception"
    assert "divisor is minus two" in thrown.message


def test_output_without_any_shape_is_refused(
    list_add: Path, list_description: OpDescription
) -> None:
    request = replace(LIST_REQUEST, outputs={})
    result = compute_tiling(list_add, list_description.operator(), request)
    assert result.status == "bad_request"
    assert "y has no shape" in result.message


def _operator(kind: str) -> Operator:
    attr = Attribute("a", kind, False, None)
    return Operator("Op", "op", (), (), (attr,), {}, True, False, False)


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1)))
def test_integer_lists_render_as_written(rows: list[list[int]]) -> None:
    text = render_request(
        _operator("list_list_int"), TilingRequest("Op", {}, attrs={"a": rows}), {}
    )
    (line,) = [line for line in text.splitlines() if line.startswith("attr")]
    value = line.removeprefix("attr a list_list_int").strip()
    parsed = [[int(item) for item in row.split(",")] for row in value.split(";")] if value else []
    assert parsed == rows


@pytest.mark.parametrize("name", ["", "two words", "line\nbreak"])
def test_names_cannot_smuggle_statements(name: str) -> None:
    with pytest.raises(UsageError):
        render_request(_operator("int"), TilingRequest("Op", {name: X}), {})


def test_wrong_attribute_value_is_named() -> None:
    with pytest.raises(UsageError, match="attribute a of Op is a int"):
        render_request(_operator("int"), TilingRequest("Op", {}, attrs={"a": "many"}), {})


@pytest.mark.parametrize(
    ("rank", "problem"), [(4, "inference ended with SIGSEGV"), (5, "inference reported failure")]
)
def test_faulty_inference_does_not_hide_tiling(
    scale: Path, scale_description: OpDescription, rank: int, problem: str
) -> None:
    x = TensorSpec((2,) * rank, "DT_FLOAT")
    inputs = {**REQUEST.inputs, "x": x}
    op = scale_description.operator()
    result = compute_tiling(scale, op, replace(REQUEST, inputs=inputs, outputs={"y": x}))
    assert result.ok
    assert problem in result.inference_problem
    assert not compute_tiling(scale, op, replace(REQUEST, inputs=inputs)).ok
