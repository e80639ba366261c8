# SPDX-License-Identifier: Apache-2.0
"""What a report says: places, pipes, severities, cycles; and what is no report."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from npuforge import rules
from npuforge.twin.execute import Mode, RunResult, execute
from npuforge.twin.kernel import KernelBuild
from npuforge.twin.launch import Launch, WorkspaceArgument, output, tensor
from npuforge.twin.recipes import CPP_ROOT
from npuforge.twin.toolchain import Toolchain

SOURCE = Path(__file__).with_name("kernels.cpp")
Run = Callable[..., RunResult]


@pytest.fixture(scope="module")
def run() -> Run:
    built = Toolchain.find().compile([SOURCE], kind="kernel", name="check_kernels")
    assert built.path is not None, built.log

    def call(entry: str, mode: Mode = "check", blocks: int = 1) -> RunResult:
        build = KernelBuild(entry, SOURCE, SOURCE.parent, built.path, [], [])
        launch = Launch(
            blocks,
            [
                tensor("x", np.arange(256, dtype=np.float32)),
                output("y", [256], "float32"),
                WorkspaceArgument("w", 4096),
            ],
        )
        return execute(build, launch, mode=mode)

    return call


def line_of(text: str) -> int:
    lines = SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_race_names_both_places_and_pipes(run: Run) -> None:
    (race,) = run("race").races
    assert race.rule == "SYNC-01"
    assert (race.first.pipe, race.second.pipe) == ("MTE2", "V")
    assert race.second.line == line_of("line of the second access")
    assert race.first.line == race.second.line - 1
    assert "bytes 0 to 1024" in race.message


def test_two_cores_may_write_the_same_values(run: Run) -> None:
    same = run("same_everywhere", blocks=3)
    assert not same.races
    assert not same.findings
    (race,) = run("own_everywhere", blocks=3).races
    assert race.rule == "MEM-06"


def test_putting_the_same_values_back_does_not_race(run: Run) -> None:
    same = run("put_same_back")
    assert not same.races
    # A freed buffer keeps its content until the queue gives it out again.
    assert [(v.rule, v.severity) for v in same.violations] == [("MEM-08", "warning")] * 2
    (race,) = run("put_other_back").races
    assert race.rule == "SYNC-04"


def test_narrow_data_at_the_end_of_the_wide_may_be_widened(run: Run) -> None:
    assert not run("widen_from_the_end").violations
    assert {v.rule for v in run("widen_too_early").violations} == {"OVL-04"}


def test_garbage_nobody_looks_at_is_no_report(run: Run) -> None:
    result = run("garbage_stays")
    assert result.error is None
    assert not result.findings
    assert not result.races


def test_garbage_in_an_output_is_reported_where_it_was_first_used(run: Run) -> None:
    result = run("garbage_escapes")
    reported = {v.rule: v for v in result.violations}
    assert set(reported) == {"CPY-09", "MEM-09"}
    assert reported["CPY-09"].line == line_of("first use of the garbage")
    assert reported["MEM-09"].severity == "warning"


def test_a_result_in_the_temporary_buffer_is_defined(run: Run) -> None:
    result = run("result_in_scratch")
    assert result.error is None
    assert not result.findings
    assert (result.outputs["y"] == np.arange(256)).all()


def test_lanes_nobody_asked_for_are_no_report(run: Run) -> None:
    result = run("short_compare")
    assert result.error is None
    assert not result.findings
    assert result.outputs["y"][:4].tolist() == [0, 5, 5, 5]


def test_a_null_pointer_is_reported_at_its_line(run: Run) -> None:
    result = run("null_pointer")
    assert result.error == "the kernel accessed memory it does not own"
    assert [(v.rule, v.line) for v in result.violations] == [
        ("MEM-11", line_of("*nowhere = 1;")),
    ]


def test_memory_outside_is_an_error_only_where_it_is_used(run: Run) -> None:
    unused = run("untouched_outside")
    assert unused.error is None
    assert {(v.rule, v.severity) for v in unused.violations} == {("CAP-01", "warning")}
    assert (unused.outputs["y"] == np.arange(256)).all()
    used = [v.severity for v in run("touched_outside").violations if v.rule == "CAP-01"]
    assert set(used) == {"warning", "error"}


def test_advice_comes_with_the_cycles_lost(run: Run) -> None:
    result = run("slow", mode="time")
    lost = {advice.rule: advice.cycles_lost or 0 for advice in result.advice}
    assert {"CPY-23", "EVT-07", "SCL-03"} <= set(lost)
    assert all(cycles > 0 for cycles in lost.values())
    assert not result.violations


def test_rules_of_pipe_pairs_are_those_of_the_catalogue() -> None:
    text = (CPP_ROOT / "runtime" / "check_races.cpp").read_text()
    pipes = ("S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX")
    table = re.findall(r"/\* (\w+) \*/\s+\{(.*)\},", text)
    assert [name for name, _ in table] == list(pipes)
    for first, row in table:
        for second, rule in zip(pipes, re.findall(r'"([A-Z]+-\d+)"', row), strict=True):
            catalogued = rules.for_pipes(first, second)
            assert catalogued is None or catalogued.id == rule, (first, second)
