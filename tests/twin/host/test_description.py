# SPDX-License-Identifier: Apache-2.0
"""What describe() finds in a host library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.twin.host import OpDescription, describe


def test_prototype(scale_description: OpDescription) -> None:
    op = scale_description.operator()
    assert (op.type, op.kernel) == ("ScaleRows", "scale_rows")
    assert [p.name for p in op.inputs] == ["x", "bias", "repeats"]
    x, bias, repeats = op.inputs
    assert x.dtypes == ("DT_FLOAT16", "DT_FLOAT")
    assert not x.dtype_list
    assert bias.optional
    assert bias.dtype_list
    assert repeats.value_depend
    assert not x.value_depend
    assert op.outputs[0].init_value == 0
    alpha, mode, axes = op.attrs
    assert (alpha.type, alpha.default, alpha.required) == ("float", 0.5, False)
    assert (mode.type, mode.default) == ("str", "fast")
    assert (axes.type, axes.default, axes.required) == ("list_int", None, True)
    assert op.socs == {"ascend910b": {"opFile.value": "scale_kernel"}}
    assert op.has_tiling
    assert op.has_infer_shape
    assert op.has_infer_data_type


def test_registration_by_macro_without_inference(list_description: OpDescription) -> None:
    op = list_description.operator("list_add")
    assert op.type == "ListAdd"
    assert op.has_tiling
    assert not op.has_infer_shape
    assert op.inputs[0].dynamic
    assert list_description.default_struct(op) is None


def test_layout_pads_fields_structures_and_ends(scale_description: OpDescription) -> None:
    op = scale_description.operator()
    struct = scale_description.default_struct(op)
    assert struct is not None
    layout = [(f.name, f.offset, f.size) for f in struct.fields]
    assert layout == [
        ("mode", 0, 1),
        ("totalPH", 1, 7),
        ("total", 8, 8),
        ("alpha", 16, 4),
        ("partPH", 20, 4),
        ("part", 24, 8),
        ("steps", 32, 6),
        ("ScaleTilingDataPH", 38, 2),
    ]
    assert struct.size == 40
    part = struct.fields[5]
    assert [(m.name, m.offset) for m in part.members] == [("flag", 0), ("countPH", 1), ("count", 4)]
    assert set(scale_description.keyed_structs(op)) == {7}


def test_combination_completes_and_refuses(scale_description: OpDescription) -> None:
    op = scale_description.operator()
    assert op.combination({"x": "DT_FLOAT"}) == {
        "x": "DT_FLOAT",
        "bias": "DT_FLOAT",
        "repeats": "DT_INT64",
        "y": "DT_FLOAT",
    }
    assert op.combination({"bias": "DT_BF16"})["bias"] == "DT_BF16"
    with pytest.raises(UsageError, match="no combination"):
        op.combination({"x": "DT_FLOAT", "y": "DT_FLOAT16"})


def test_preferred_types_choose_only_among_possible_ones(scale_description: OpDescription) -> None:
    op = scale_description.operator()
    assert op.combination({}, {"y": "DT_FLOAT16"})["x"] == "DT_FLOAT16"
    assert op.combination({"x": "DT_FLOAT"}, {"y": "DT_FLOAT16"})["y"] == "DT_FLOAT"


def test_booleans_go_where_bytes_are_declared(scale_description: OpDescription) -> None:
    op = scale_description.operator()
    repeats = replace(op.parameter("repeats"), dtypes=("DT_UINT8",))
    masked = replace(op, inputs=(*(p for p in op.inputs if p.name != "repeats"), repeats))
    assert masked.combination({"repeats": "DT_BOOL"})["repeats"] == "DT_UINT8"
    with pytest.raises(UsageError, match="no combination"):
        masked.combination({"repeats": "DT_INT32"})


def test_unloadable_library_is_one_line(tmp_path: Path) -> None:
    fake = tmp_path / "host.so"
    fake.write_bytes(b"not a library")
    with pytest.raises(UsageError) as caught:
        describe(fake)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="no such host library"):
        describe(tmp_path / "missing.so")


def test_unknown_operator_names_the_known(scale_description: OpDescription) -> None:
    with pytest.raises(UsageError, match="ScaleRows"):
        scale_description.operator("Other")
