# SPDX-License-Identifier: Apache-2.0
"""Strangers' code where nothing protects the user's files: refused, or the user said otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_KERNEL = str(_ROOT / "examples" / "rms_norm" / "rms_norm.cpp")
_LAUNCH = ["--launch", str(_ROOT / "examples" / "rms_norm" / "launch.toml")]
_MODULE = str(_ROOT / "examples" / "modules" / "softmax.py")


def npuforge(*words: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("weak_machine.py")), *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=at,
        env={**os.environ, "NPUFORGE_STORE": str(at / "store")},
    )


@pytest.mark.parametrize(
    "words",
    [
        ["run", _KERNEL, *_LAUNCH],
        ["check", _KERNEL, *_LAUNCH],
        ["profile", _KERNEL, *_LAUNCH, "--isolation", "strong"],
        ["generate", _MODULE, "--out", "made"],
        ["bench", "forge", "--tasks", "activation/snake", "--out", "run"],
        ["dataset", "build", "--out", "data", "--operators", "1"],
        ["dataset", "prefer", "tasks.jsonl", "answers.jsonl", "--out", "pairs.jsonl"],
        ["knowledge", "verify"],
        ["knowledge", "import", _MODULE],
        ["knowledge", "add", _MODULE],
        ["knowledge", "distill"],
        ["train", "grpo", "tasks.jsonl", "--recipe", "embedded", "--model", "m", "--out", "m2"],
        ["evaluate", "score", "forge", "answers.jsonl", "--out", "scores.jsonl"],
        ["evaluate", "prompts", "forge", "--out", "prompts.jsonl"],
    ],
    ids=lambda words: " ".join(words[:2]).partition("/")[0],
)
def test_each_command_refuses(words: list[str], tmp_path: Path) -> None:
    done = npuforge(*words, at=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("npuforge: nothing here keeps strangers' code from your files")
    assert "--isolation weak" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_permission_is_given_on_the_command_line_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPUFORGE_ISOLATION", "weak")
    assert npuforge("run", _KERNEL, *_LAUNCH, at=tmp_path).returncode == 2


def test_with_permission_the_verdict_is_unisolated(tmp_path: Path) -> None:
    done = npuforge("check", _KERNEL, *_LAUNCH, "--isolation", "weak", "--json", "-", at=tmp_path)
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)
    assert (verdict["isolation"], verdict["isolation_means"]) == ("unisolated", "seccomp")
    assert verdict["correct"] is True


def test_permission_reaches_workers_with_the_settings(tmp_path: Path) -> None:
    words = ["bench", "forge", "--tasks", "activation/snake", "--out", "run", "--quiet", "--json"]
    done = npuforge(*words, "out.json", "--isolation", "weak", at=tmp_path)
    report = json.loads((tmp_path / "out.json").read_text())
    assert [task["isolation"] for task in report["tasks"]] == ["unisolated"], done.stderr
    assert report["settings"]["isolation"] == "weak"
    again = npuforge("bench", "forge", "--out", "run", "--resume", at=tmp_path)
    assert again.returncode == 2


def test_an_unisolated_verdict_gives_no_record(tmp_path: Path) -> None:
    words = ["dataset", "build", "--out", "data", "--operators", "2", "--jobs", "1"]
    done = npuforge(*words, "--isolation", "weak", at=tmp_path)
    assert done.returncode == 0, done.stderr
    parts = b"".join(path.read_bytes() for path in (tmp_path / "data" / "parts").iterdir())
    assert b"an unisolated verdict is no record" in parts
    grown = json.loads(parts)["grown"]
    assert [one["records"] for one in grown[:2]] == [[], []]


def test_doctor_says_so(tmp_path: Path) -> None:
    done = npuforge("doctor", "--json", "-", at=tmp_path)
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 1
    assert checks["sandbox"]["ok"] is False
    assert "files are not protected" in checks["sandbox"]["detail"]
