# SPDX-License-Identifier: Apache-2.0
"""Tasks of MultiKernelBench with cases in a file beside them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.bench.running.suites import table

from npuforge.bench.attempt import Attempt
from npuforge.bench.modules.protocol import Tolerance
from npuforge.bench.settings import Settings
from npuforge.bench.suites import open_suite
from npuforge.bench.suites.multikernelbench import adapter, groups
from npuforge.bench.tables.smaller import elements
from npuforge.generate.inputs import seed

_CASES = [([6, 40], "float32"), ([9, 24], "float16"), ([5, 7, 2], "float32"), ([17, 8], "float32")]


def attempted(path: Path, place: Path, name: str, **fields: Any) -> Attempt:
    suite = open_suite(Settings(suite="multikernelbench", path=str(path), **fields))
    (task,) = [task for task in suite.tasks() if task.name == name]
    place.mkdir()
    return suite.attempt(task, 0, place)


def test_planned_row_by_row(tmp_path: Path) -> None:
    path = table(tmp_path, "rows/leak", "torch.where(x > 0, x, slope * x)", _CASES)
    found = attempted(path, tmp_path / "place", "rows/leak", cases=2)
    assert found.passed, found.reason
    # The first case and the last; one program takes both.
    assert [case.shapes for case in found.verdict.cases] == [[[6, 40]], [[17, 8]]]
    assert [p.name for p in (tmp_path / "place" / "answer").iterdir()] == ["program0"]
    assert (tmp_path / "place/answer/program0/op_host").is_dir()
    assert found.verdict.time_us is not None
    assert found.scores["speedup_mean"] is not None


def test_a_reference_that_fails_judges_nobody(tmp_path: Path) -> None:
    formula = "__import__('torch_npu').npu_leak(x, slope)"
    path = table(tmp_path, "rows/leak", formula, _CASES[:1])
    found = attempted(path, tmp_path / "place", "rows/leak")
    assert found.state == "unusable"
    assert "npu_leak" in (found.reason or "")


@pytest.fixture
def _npu_for_once() -> Iterator[None]:
    """What pretends to be an NPU goes again: libraries ask for it."""
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_npu"]:
        del sys.modules[name]
    del torch.npu  # type: ignore[attr-defined]
    del torch.Tensor.npu  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_npu_for_once")
def test_values_are_those_of_the_suite(tmp_path: Path) -> None:
    path = table(tmp_path, "rows/leak", "x * slope", _CASES)
    file = path / "reference/rows/leak.py"
    task = adapter.open_task(str(file))
    lines = list(enumerate(groups.lines(file)))
    rows = groups.rows(lines, 1024, Tolerance(1e-4, 1e-4))
    space: dict[str, Any] = {"__file__": str(file)}
    exec(file.read_text(), space)  # our own task
    torch.manual_seed(1024)
    whole = space["get_input_groups"]()
    for number in (2, 0, 3):
        seed(number)
        given = task.arguments(rows[number])
        assert torch.equal(given[0], whole[number][0])
        assert given[1] == 0.5
    x = torch.ones(3)
    assert task.check(rows[0], [], x, x + 9e-5)[0]
    assert not task.check(rows[0], [], x, x + 3e-4)[0]
    assert not task.check(rows[0], [], x, torch.ones(3, 1))[0]
    assert not task.check(rows[0], [], [x, x], [x])[0]


def test_large_cases_have_smaller_ones(tmp_path: Path) -> None:
    path = table(tmp_path, "rows/leak", "x", [([8, 8], "float32"), ([4096, 8200], "float32")])
    lines = groups.lines(path / "reference/rows/leak.py")
    rows = groups.rows(list(enumerate(lines)), 1024, Tolerance(1e-4, 1e-4))
    every, stand_ins = groups.with_stand_ins(rows)
    assert list(stand_ins) == [1]
    assert stand_ins[1].instead
    for option in stand_ins[1].options:
        (x, slope) = json.loads(every[option]["line"])["inputs"]
        assert elements([x["shape"]]) <= 2_000_000
        assert x["shape"][1] % 8 == 0
        assert slope["value"] == 0.5
