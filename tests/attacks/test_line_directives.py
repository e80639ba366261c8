# SPDX-License-Identifier: Apache-2.0
"""Sources that give foreign names to their lines: nobody opens what they name."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from npuforge.cli import main
from npuforge.twin.diagnostics import parse
from npuforge.twin.kernel import Kernel

_LAUNCH = "blocks = 1\n"
_SECRET = "the line that nobody shows"


def checked(project: Path, named: Path | str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `check` says of a kernel whose fault lies, as it says, in the first line."""
    source = project / "k.cpp"
    source.write_text(
        '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k() {\n'
        f'#line 1 "{named}"\n    undeclared = 1;\n}}\n'
    )
    (project / "l.toml").write_text(_LAUNCH)
    status: list[int] = []

    def run() -> None:
        status.append(main(["check", str(source), "--launch", str(project / "l.toml")]))

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(170)  # below the compiler's own limit
    assert status == [1]
    shown = capsys.readouterr()
    assert "undeclared" in shown.out
    return shown.out + shown.err


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project's folder, beside which a secret lies."""
    (tmp_path / "secret.h").write_text(_SECRET)
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_a_pipe_is_not_waited_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(project / "pipe.h")
    checked(project, "pipe.h", capsys)
    checked(project, project / "pipe.h", capsys)


@pytest.mark.parametrize("name", ["../secret.h", "{absolute}", "link.h", "data.txt", ".env"])
def test_lines_of_foreign_files_are_not_shown(
    project: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "link.h").symlink_to("../secret.h")
    (project / "data.txt").write_text(_SECRET)
    (project / ".env").write_text(_SECRET)
    named = name.format(absolute=project.parent / "secret.h")
    assert _SECRET not in checked(project, named, capsys)


def test_lines_of_the_project_are_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "own.h").write_text("a line of the project")
    assert "a line of the project" in checked(project, "own.h", capsys)


def test_the_compiler_quotes_no_file_either(project: Path) -> None:
    (project / "own.h").write_text("a line of the project")
    source = project / "k.cpp"
    source.write_text(
        '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k() {\n'
        '#line 1 "own.h"\n    undeclared = 1;\n}\n'
    )
    assert "a line of the project" not in Kernel.build(source).log


def test_numbers_and_lengths_in_messages_are_bounded() -> None:
    assert parse(f"k.cpp:{'9' * 5000}:1: error: x", []) == []
    (found,) = parse(f"k.cpp:1:1: error: {'x' * 100_000}", [])
    assert len(found.message) < 3000
