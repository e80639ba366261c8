# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from npuforge.cli import main
from npuforge.train.models import open_model

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn of their own affairs


def test_answers_are_judged_and_the_model_learns_from_it(
    start: Path, judges: str, tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    tasks = tmp_path / "tasks.jsonl"
    with tasks.open("w") as stream:
        for index in range(4):
            prompt = [{"role": "user", "content": f"question {index}"}]
            task = {"most": 3, f"only{index}": [index]}
            stream.write(json.dumps({"prompt": prompt, "task": task}) + "\n")
    out = tmp_path / "out"
    settings = ["max_steps=2", "batch=8", "micro=8", "answer=12", "learning_rate=0.001", "beta=0.1"]
    arguments = [str(tasks), "--model", str(start), "--out", str(out), "--recipe=embedded"]
    judged = ["--samples=4", "--judges=2", f"--judge={judges}:ShortJudge"]
    changes = [f"--set={setting}" for setting in settings]
    assert main(["train", "grpo", *arguments, *judged, *changes]) == 0
    run = json.loads((out / "run.json").read_text())
    assert (run["method"], run["status"], run["steps"]) == ("grpo", "finished", 2)
    assert run["recipe"]["samples"] == 4
    assert run["final"]["judge_failures"] == 0
    assert 0 < run["final"]["rewards/parsed/mean"] <= 1
    before, after = (open_model(str(path), None, "sdpa").model for path in (start, out))
    changed = [
        not torch.equal(first, second)
        for first, second in zip(before.parameters(), after.parameters(), strict=True)
    ]
    assert any(changed)


def test_samples_must_divide_a_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert main(["train", "grpo", "x.jsonl", "--model=m", "--out", out, "--samples=7"]) == 2
    assert "batch is not a multiple of samples" in capsys.readouterr().err
