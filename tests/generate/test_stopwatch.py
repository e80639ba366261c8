# SPDX-License-Identifier: Apache-2.0
"""Times put together from periods agree with launches modelled in full."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.generate.modules import EXAMPLES
from tests.generate.test_cases import graph_of

from npuforge.generate import stopwatch
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan import Operand, Plan, Variant


@pytest.mark.parametrize("rows", [9600, 9613])
def test_periods_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    text = (EXAMPLES / "softmax.py").read_text()
    operands = (Operand("x", "input", "x"), Operand("y", "output", result=0))
    plan = Plan("softmax", (Variant("rows", text, ""),), operands)
    graph = graph_of((rows, 2048), (2, 2))
    program = TwinProgram(lower(text))
    whole = stopwatch.in_full(program, plan, graph, tmp_path / "whole.json")
    assert whole.note is None

    monkeypatch.setattr(stopwatch, "_IN_FULL", 1000)
    monkeypatch.setattr(stopwatch, "_STEADY", 14_000_000)
    monkeypatch.setattr(stopwatch, "_PERIOD", 2_000_000)
    parts = stopwatch.in_full(program, plan, graph, tmp_path / "parts.json")
    assert parts.note is not None
    assert f"of {rows} rows" in parts.note
    assert whole.result.timing is not None
    assert parts.result.timing is not None
    assert parts.result.timing.time_us == pytest.approx(whole.result.timing.time_us, rel=0.05)
    assert parts.result.timing.roofline.share == pytest.approx(
        whole.result.timing.roofline.share, abs=0.05
    )
    assert (tmp_path / "parts.json").stat().st_size > 0
