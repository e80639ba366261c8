# SPDX-License-Identifier: Apache-2.0
"""Large inputs read once bypass the cache for reading, and only for reading."""

from __future__ import annotations

from pathlib import Path

from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram

ADAMW = Path(__file__).parents[2] / "examples" / "tile" / "adamw.py"
SHAPES = dict.fromkeys(("param", "grad", "moment", "square"), (1 << 25,))
ATTRIBUTES = {"correction1": 0.1, "root_correction2": 0.03}


def modelled(hint: str) -> float:
    program = TwinProgram(lower(ADAMW.read_text()))
    assert "SetL2CacheHint<CacheRwMode::READ>" in program.source
    program.source = program.source.replace("CacheRwMode::READ", hint)
    timing = program.time(SHAPES, ATTRIBUTES).timing
    assert timing is not None
    return timing.time_us


def test_writes_stay_in_the_cache() -> None:
    assert modelled("CacheRwMode::READ") < 0.95 * modelled("CacheRwMode::RW")


def test_small_tensors_stay_in_the_cache() -> None:
    program = TwinProgram(lower(ADAMW.read_text()))
    small = dict.fromkeys(SHAPES, (1 << 16,))
    timing = program.time(small, ATTRIBUTES).timing
    program = TwinProgram(lower(ADAMW.read_text()))
    program.source = program.source.replace("Streams != 0", "Streams > 9")
    never = program.time(small, ATTRIBUTES).timing
    assert timing is not None
    assert never is not None
    assert timing.time_us == never.time_us


def test_overlapping_loads_stay_in_the_cache() -> None:
    text = ADAMW.read_text()
    assert "gradGm.SetL2CacheHint" in _hints(text)
    again = text.replace("tl.load(grad + start, g[:n])", "tl.load(grad + start, g[:n], again=True)")
    assert "gradGm.SetL2CacheHint" not in _hints(again)


def _hints(text: str) -> str:
    return TwinProgram(lower(text)).source
