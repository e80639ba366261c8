# SPDX-License-Identifier: Apache-2.0
"""`npuforge generate --strategy tile` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.generate.written.test_tile import RIGHT, WRONG, said
from tests.models.server import serving

from npuforge.cli import main

KEY = "sk-command-line-0123456789"
MODULE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(96, 200)]


def get_init_inputs():
    return []
"""


def test_a_model_writes_and_its_recording_writes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPUFORGE_MODEL_KEY", KEY)
    (tmp_path / "softmax.py").write_text(MODULE)
    command = ["generate", "softmax.py", "--strategy", "tile", "--rounds", "2", "--out", "made"]
    command += ["--knowledge", "off"]
    with serving(said(WRONG), said(RIGHT)) as served:
        flags = ["--model", "m", "--base-url", served.base, "--json", "verdict.json"]
        assert main([*command, *flags]) == 0
    shown = capsys.readouterr()
    assert "It is wrong on" in shown.err
    assert "1200 tokens" in shown.err
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert (verdict["strategy"], verdict["correct"]) == ("tile", True)
    recording = tmp_path / "made.exchanges.jsonl"
    assert len(recording.read_text().splitlines()) == 2
    everything = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(KEY not in path.read_text(errors="replace") for path in everything)
    assert KEY not in shown.err + shown.out

    monkeypatch.delenv("NPUFORGE_MODEL_KEY")
    assert main([*command, "--replay", str(recording), "--out", "again"]) == 0
    first, second = (tmp_path / name / "softmax.tile.py" for name in ("made", "again"))
    assert first.read_text() == second.read_text() == RIGHT


def test_without_a_model_one_line_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NPUFORGE_MODEL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "softmax.py").write_text(MODULE)
    assert main(["generate", "softmax.py", "--strategy", "tile"]) == 2
    assert "no model is named" in capsys.readouterr().err
    assert not (tmp_path / "softmax_op").exists()
