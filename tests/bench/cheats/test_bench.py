# SPDX-License-Identifier: Apache-2.0
"""Answers in a folder through the command: a cheat scores nothing, and the reason is given."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.bench.cheats.subject import HEAD, six

from npuforge.cli import main

_ANSWERS = Path(__file__).parents[2] / "twin" / "answers"
_CHEAT = (
    HEAD
    + """
class ModelNew(nn.Module):
    def forward(self, x):
        ops.scale(x)
        return x + x
"""
)


def test_a_cheat_scores_nothing(tmp_path: Path) -> None:
    tasks = tmp_path / "suite" / "reference" / "math"
    answers = tmp_path / "answers"
    tasks.mkdir(parents=True)
    answers.mkdir()
    shutil.copy(_ANSWERS / "scale_task.py", tasks / "cheat.py")
    six(tmp_path, _CHEAT)
    shutil.move(tmp_path / "scale.py", answers / "cheat.py")
    out = tmp_path / "result.json"
    command = ["bench", "multikernelbench", "--path", str(tmp_path / "suite")]
    command += ["--answers", str(answers), "--out", str(tmp_path / "run"), "--json", str(out)]
    assert main(command) == 1
    (cheat,) = json.loads(out.read_text())["tasks"]
    assert cheat["published"] is True
    assert cheat["correct"] is False
    assert cheat["reason"].startswith("cheat, torch-compute: x + x")
    assert {found["kind"] for found in cheat["cheats"]} >= {"torch-compute"}
