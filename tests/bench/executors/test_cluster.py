# SPDX-License-Identifier: Apache-2.0
"""A benchmark on a Ray cluster of several nodes, whose workers, nodes and head are killed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="needs the extra `ray`")

from benchmarks.faults import cluster as faults

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def made() -> Iterator[Any]:
    with faults.cluster() as cluster:
        yield cluster


def test_lost_attempts_are_made_again_and_the_worst_is_given_up(tmp_path: Path, made: Any) -> None:
    suite, out = faults.checkout(tmp_path / "suite", 3), tmp_path / "there.json"
    hunter = faults.Hunter("simple/task02")
    hunter.start()
    run = faults.bench(suite, tmp_path / "run", "--json", str(out), address=made.address)
    faults.disturb(made, ["worker", "node"], random.Random(3), lambda: run.poll() is None)
    run.communicate()
    hunter.stop()
    assert run.returncode == 1
    found = faults.verdicts(out)
    assert len(found) == 3
    worst = found.pop("simple/task02")
    assert (worst["state"], worst["lost"], len(hunter.killed)) == ("crashed", 3, 3)
    assert worst["reason"].startswith("3 workers died while they made this attempt")
    assert all(one["correct"] or one["lost"] == 3 for one in found.values())


def test_without_a_head_the_run_ends_with_a_line_and_is_resumed(tmp_path: Path, made: Any) -> None:
    suite = faults.checkout(tmp_path / "suite", 2)
    status, said, resumed = faults.beheaded(made, suite, tmp_path)
    assert status == 2
    assert said.startswith("npuforge: the Ray cluster failed")
    assert "\n" not in said
    assert {name: one["correct"] for name, one in resumed.items()} == {
        "simple/task00": True,
        "simple/task01": True,
    }
