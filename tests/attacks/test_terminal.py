# SPDX-License-Identifier: Apache-2.0
"""Attacks on the terminal by text of strangers: what kernels print, messages, names, lines."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import click
import pytest
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from npuforge.cli.console import SafeConsole
from npuforge.cli.output import say
from npuforge.cli.report import show
from npuforge.twin.verify import Report
from npuforge.verdict import Diagnostic, Race, Side, Verdict, Violation

_EVIL = "\x1b]0;owned\x07\x1b[2J\x9b1A\u202eabc\x08"
_CLI = Path(show.__code__.co_filename).parent


def _shown(out: io.StringIO) -> str:
    text = out.getvalue()
    assert text
    assert all(char.isprintable() or char == "\n" for char in text), repr(text)
    return text


@pytest.fixture
def console() -> SafeConsole:
    return SafeConsole(file=io.StringIO(), width=80)


def test_a_report_gives_no_orders(console: SafeConsole, tmp_path: Path) -> None:
    (tmp_path / "op.cpp").write_text(f"int x; // {_EVIL}\n")
    side = Side("op.cpp", 1, _EVIL)
    verdict = Verdict(
        _EVIL,
        diagnostics=[Diagnostic("op.cpp", 1, _EVIL), Diagnostic(_EVIL, 1, _EVIL)],
        violations=[Violation(_EVIL, "error", "op.cpp", 1, _EVIL, _EVIL)],
        races=[Race(_EVIL, side, side, _EVIL)],
        error=_EVIL,
        seconds=1.0,
    )
    show(Report(verdict, [], None, root=tmp_path, printed=f"{_EVIL}\nline\n"), console)
    assert isinstance(console.file, io.StringIO)
    assert "\\x1b]0;owned" in _shown(console.file)


def test_a_table_gives_no_orders(console: SafeConsole) -> None:
    table = Table()
    table.add_column(_EVIL)
    table.add_row(escape(_EVIL))
    console.print(table, f"[red]{escape(_EVIL)}[/]")
    assert isinstance(console.file, io.StringIO)
    _shown(console.file)


def test_colours_stay() -> None:
    out = io.StringIO()
    SafeConsole(file=out, force_terminal=True, color_system="standard").print("[red]word[/]")
    assert out.getvalue() == "\x1b[31mword\x1b[0m\n"


def test_a_line_gives_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    say(_EVIL)
    out = io.StringIO(capsys.readouterr().out)
    _shown(out)


def test_a_report_is_bounded(console: SafeConsole, tmp_path: Path) -> None:
    (tmp_path / "op.cpp").write_text("x" * 1_000_000)
    many = [Violation("R", "error", "op.cpp", 1, "m" * 10)] * 50_000
    verdict = Verdict("op", violations=many, seconds=1.0)
    show(Report(verdict, [], None, root=tmp_path, printed="\n" * 4_000_000), console)
    assert isinstance(console.file, io.StringIO)
    text = _shown(console.file)
    assert len(text) < 1_000_000
    assert "and 49800 more broken rules" in text


def test_commands_print_through_these_alone() -> None:
    allowed = {"console.py": {"Console"}, "output.py": {"echo"}, "failure.py": {"echo"}}
    for file in sorted(_CLI.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if name == Console.__name__ or (owner == click.__name__ and name in ("echo", "secho")):
                assert name in allowed.get(file.name, ()), file.name
