# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from npuforge.cli import main
from npuforge.train.models import open_model

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn of their own affairs

_TOY = ["--recipe=embedded", "--set=micro=4", "--set=batch=4", "--set=log_every=1"]


def _pairs(path: Path) -> Path:
    """Right answers are lower case, wrong ones upper case."""
    with path.open("w") as stream:
        for index in range(8):
            record = {
                "prompt": [{"role": "user", "content": f"question {index}"}],
                "chosen": [{"role": "assistant", "content": f"tl.exp(x{index})"}],
                "rejected": [{"role": "assistant", "content": f"TL.EXP(X{index})"}],
                "source": "preference",
            }
            stream.write(json.dumps(record) + "\n")
    return path


@pytest.mark.parametrize("more", [[], ["--lora"]], ids=["whole", "lora"])
def test_the_better_answer_gets_likelier(start: Path, tmp_path: Path, more: list[str]) -> None:
    torch.set_num_threads(1)
    pairs = _pairs(tmp_path / "pairs.jsonl")
    out = tmp_path / "out"
    rates = ["--set=learning_rate=0.001", "--set=lora_learning_rate=0.01", "--set=max_steps=6"]
    arguments = [str(pairs), "--model", str(start), "--out", str(out), *_TOY, *rates, *more]
    assert main(["train", "dpo", *arguments]) == 0
    run = json.loads((out / "run.json").read_text())
    assert (run["method"], run["status"], run["steps"]) == ("dpo", "finished", 6)
    assert run["final"]["rewards/margins"] > 0
    assert run["final"]["train_loss"] < 0.6931  # no preference: log 2
    assert open_model(str(out), None, "sdpa").kind == "folder"


def test_records_of_another_form_are_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(folder / "chat.jsonl")
    assert main(["train", "dpo", data, "--model=missing", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "chat.jsonl:1: not a preference record" in error
    assert error.count("\n") == 1
