# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from npuforge import __version__
from npuforge.cli import COMMANDS, main
from npuforge.errors import UsageError


def test_every_command_of_the_table_exists() -> None:
    for target, line in COMMANDS.values():
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        assert line.endswith(".")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"npuforge {__version__}\n"


def test_help_imports_no_command_and_little_else() -> None:
    code = (
        "import sys\n"
        "from npuforge.cli import main\n"
        "assert main(['--help']) == 0\n"
        "heavy = ('torch', 'numpy', 'rich', 'msgspec', 'npuforge.cli.doctor', 'npuforge.twin')\n"
        "assert not [name for name in heavy if name in sys.modules]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, (_, line) in COMMANDS.items():
        assert name in done.stdout
        assert line.split()[0] in done.stdout


@pytest.mark.parametrize(
    "arguments", [["no-such-command"], ["--no-such-option"], ["doctor", "extra"]]
)
def test_bad_calls_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("npuforge: ")
    assert captured.err.count("\n") == 1


def test_our_errors_are_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise UsageError("no such\nfile")

    monkeypatch.setattr("npuforge.cli.doctor.CHECKS", (fail,))
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == "npuforge: no such file\n"


def test_doctor_json_has_standard_output_for_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json", "-"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert report["ok"] is True
    names = [check["name"] for check in report["checks"]]
    assert names[:5] == ["compiler", "sandbox", "torch", "symbols", "cache"]
    assert captured.err == ""


def test_doctor_writes_json_beside_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--json", str(tmp_path / "report.json")]) == 0
    assert json.loads((tmp_path / "report.json").read_text())["version"] == __version__
    assert "sandbox" in capsys.readouterr().out
    assert main(["doctor", "--json", str(tmp_path / "none" / "report.json")]) == 2


def test_doctor_says_how_to_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NPUFORGE_CXX", "/no/such/c++")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ASCEND_HOME_PATH", "/no/such/toolkit")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "NPUFORGE_CXX" in out
    assert "no such program" in out
    assert "OPENAI_API_KEY set" in out
    assert "sk-secret" not in out
    assert "set_env.sh" in out
