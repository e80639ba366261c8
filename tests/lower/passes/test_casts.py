# SPDX-License-Identifier: Apache-2.0
"""Conversions become one Cast, a path of several, a copy, or an error of the program."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import function, lowered

from npuforge.dtypes import find
from npuforge.lower import library
from npuforge.lower.casts import cast_steps
from npuforge.tile.source import TileError

CAST = """
s = tl.alloc_ub(64, dtype=tl.{source})
d = tl.alloc_ub(64, dtype=tl.{target})
with tl.copyin():
    tl.load(x, s)
with tl.compute():
    tl.cast(d, s{rounding})
"""


def cast(source: str, target: str, rounding: str = "none") -> str:
    """The statement that converts."""
    more = "" if rounding == "none" else f', round="{rounding}"'
    host = f"""
def demo_host(x: tl.input(tl.{source}), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    demo_kernel[4](x, y, n)
"""
    lines = function("Compute", CAST.format(source=source, target=target, rounding=more), "", host)
    (line,) = (line for line in lines if "dLocal," in line)
    return line


@pytest.mark.parametrize(
    ("source", "target", "rounding", "mode"),
    [
        ("float16", "float32", "none", "CAST_NONE"),
        ("float32", "float16", "none", "CAST_RINT"),
        ("float32", "int32", "none", "CAST_TRUNC"),
        ("float32", "int32", "floor", "CAST_FLOOR"),
        ("int32", "float32", "none", "CAST_RINT"),
    ],
)
def test_a_conversion_of_the_hardware_is_one_cast(
    source: str, target: str, rounding: str, mode: str
) -> None:
    assert cast(source, target, rounding) == f"Cast(dLocal, sLocal, RoundMode::{mode}, 64);"


def test_a_rounding_that_the_instruction_has_not_gives_way_to_its_own() -> None:
    modes = library.casts()["float16", "float32"]
    assert "CAST_FLOOR" not in modes
    (step,) = cast_steps(find("float16"), find("float32"), "floor") or []
    assert step.mode == modes[0]


def test_a_conversion_without_an_instruction_goes_over_other_types() -> None:
    assert cast("int8", "float32") == (
        "CastVia<half>(dLocal, sLocal, RoundMode::CAST_NONE, RoundMode::CAST_NONE, 64, work);"
    )


def test_the_step_of_a_path_that_rounds_takes_the_rounding_asked_for() -> None:
    def modes(rounding: str) -> list[str]:
        steps = cast_steps(find("float32"), find("int8"), rounding)
        assert steps is not None
        return [step.mode for step in steps]

    assert len(modes("none")) > 1
    assert "CAST_TRUNC" in modes("none")
    replaced = ["CAST_FLOOR" if mode == "CAST_TRUNC" else mode for mode in modes("none")]
    assert modes("floor") == replaced


def test_equal_types_are_a_copy() -> None:
    assert cast("int32", "int32") == "CopyTile(dLocal, sLocal, 64);"
    assert cast("bool", "uint8") == "CopyTile(dLocal, sLocal, 64);"


def test_a_float_rounds_to_a_whole_number_in_its_own_type() -> None:
    assert cast("float32", "float32") == "CopyTile(dLocal, sLocal, 64);"
    assert cast("float32", "float32", "floor") == (
        "Cast(dLocal, sLocal, RoundMode::CAST_FLOOR, 64);"
    )


def test_a_conversion_that_the_hardware_has_not_is_an_error_of_the_program() -> None:
    assert cast_steps(find("uint32"), find("int32"), "none") is None
    body = CAST.format(source="uint32", target="int32", rounding="")
    with pytest.raises(TileError) as caught:
        lowered(body.replace("with tl.copyin():\n    tl.load(x, s)\n", ""), "")
    assert [finding.rule for finding in caught.value.findings] == ["TL-13"]
    filled = body.replace("copyin", "compute").replace("tl.load(x, s)", "tl.fill(s, 1)")
    with pytest.raises(TileError) as caught:
        lowered(filled, "")
    (finding,) = caught.value.findings
    assert finding.rule == "TL-09"
    assert finding.message == "there is no conversion from uint32 to int32"
