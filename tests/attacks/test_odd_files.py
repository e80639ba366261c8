# SPDX-License-Identifier: Apache-2.0
"""Attacks by what lies in the place of an input: pipes, devices, loops of links, endless files."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from npuforge.cli import main

_WAIT_S = 60
_CASES: dict[str, list[str]] = {
    "k.cpp": ["check", "k.cpp", "--launch", "l.toml"],
    "k.asc": ["check", "k.asc"],
    "l.toml": ["check", "fine.cpp", "--launch", "l.toml"],
    "l.yaml": ["check", "fine.cpp", "--launch", "l.yaml"],
    "a.json": ["check", "a.json", "--launch", "fine.py"],
    "a.txt": ["check", "a.txt", "--launch", "fine.py"],
    "p.py": ["lower", "p.py"],
    "m.py": ["generate", "m.py", "--out", "o"],
    "d.toml": ["generate", "d.toml", "--out", "o"],
    "r.json": ["compare", "r.json", "r.json"],
    "snapshot.jsonl": ["bench", "forge", "--compare", "snapshot.jsonl", "--out", "o"],
    "t.jsonl": ["dataset", "prefer", "fine.jsonl", "t.jsonl", "--out", "o"],
    "entry.md": ["knowledge", "add", "entry.md", "--store", "s"],
    "store": ["knowledge", "search", "x", "--store", "store"],
    "recipe.toml": [
        "train", "sft", "fine.jsonl", "--model", "m", "--out", "o", "--recipe", "recipe.toml",
    ],
    "recording.jsonl": [
        "generate", "fine.py", "--out", "o", "--strategy", "tile", "--model", "m",
        "--replay", "recording.jsonl",
    ],
    "model.gguf": [
        "generate", "fine.py", "--out", "o", "--strategy", "lm", "--lm-model", "model.gguf",
    ],
}  # fmt: skip
_MODULE = (
    "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"
    "def get_inputs():\n    return [torch.ones(4)]\ndef get_init_inputs():\n    return []\n"
)


def _sparse(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 42)


_ODD: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda place: place.symlink_to("/dev/zero"),
    "loop": lambda place: place.symlink_to(place),
    "nowhere": lambda place: place.symlink_to("/none/such"),
    "sparse": _sparse,
    "folder": Path.mkdir,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with a kernel and a module; whoever waits there is interrupted."""

    def waited(_: int, __: FrameType | None) -> None:
        raise AssertionError("it waited")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "fine.cpp").write_text('extern "C" __global__ __aicore__ void k(GM_ADDR x) {}\n')
    (tmp_path / "fine.py").write_text(_MODULE)
    (tmp_path / "fine.jsonl").write_text("{}\n")
    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(_WAIT_S)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    assert not (tmp_path / "state").exists(), "an error was unforeseen"


@pytest.mark.parametrize("kind", _ODD)
@pytest.mark.parametrize("name", _CASES)
def test_is_one_line_and_status_two(
    name: str, kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _ODD[kind](folder / name)
    assert main(_CASES[name]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("npuforge: ")
    assert len(lines[0]) < 3000
