# SPDX-License-Identifier: Apache-2.0
"""Runs of our own suite that are kept, and runs that are compared with one that was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from npuforge.cli import main

_TASK = "activation/squared_relu"


def _altered(kept: Path, out: Path, **changes: Any) -> Path:
    found = json.loads(kept.read_text())
    found["tasks"][0] |= changes
    out.write_text(json.dumps(found))
    return out


def test_a_run_is_kept_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, again, run = tmp_path / "kept.json", tmp_path / "again.json", tmp_path / "run"
    command = ["bench", "forge", "--tasks", _TASK, "--out", str(run), "--quiet", "--resume"]
    assert main([*command, "--keep", str(kept), "--commit", "abc"]) == 0
    (row,) = json.loads(kept.read_text())["tasks"]
    assert (row["task"], row["result"], row["passed"]) == (_TASK, "passed", True)
    assert row["time_us"] > 0
    assert json.loads(kept.read_text())["commit"] == "abc"
    assert main([*command, "--keep", str(again), "--commit", "abc", "--compare", str(kept)]) == 0
    assert again.read_text() == kept.read_text()
    assert main(["compare", str(kept), str(run)]) == 0
    capsys.readouterr()

    slow = _altered(kept, tmp_path / "slow.json", time_us=row["time_us"] / 1.5)
    assert main([*command, "--compare", str(slow)]) == 0
    assert "slower 1" in capsys.readouterr().out
    assert main([*command, "--compare", str(slow), "--threshold", "0.6"]) == 0
    assert "slower" not in capsys.readouterr().out

    gone = _altered(kept, tmp_path / "gone.json", task="activation/squared_relu_")
    assert main([*command, "--compare", str(gone)]) == 0  # nobody asked for it
    assert "new 1" in capsys.readouterr().out


def test_bad_calls_end_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    command = ["bench", "forge", "--tasks", _TASK, "--out", str(run)]
    other = tmp_path / "other.json"
    other.write_text('{"suite": "kernelbench", "settings": {"suite": "kernelbench"}, "tasks": []}')
    assert main([*command, "--compare", str(other)]) == 2
    assert main([*command, "--keep", str(tmp_path / "nowhere" / "kept.json")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line.startswith("npuforge: ") for line in said] == [True, True]
    assert not run.exists()
