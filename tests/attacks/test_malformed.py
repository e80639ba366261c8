# SPDX-License-Identifier: Apache-2.0
"""Malformed calls and inputs: each is one line and status 2, from outside through the command."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npuforge.cli import main

_KERNEL = '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {}\n'
_MODULE = (
    "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"
    "def get_inputs():\n    return [torch.ones(4)]\ndef get_init_inputs():\n    return []\n"
)
_DIGITS = "9" * 5000
_DEEP = "[" * 20_000
_ALIASES = "a0: &a0 [x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)
_CHECK = ["check", "k.cpp", "--launch"]
_NO_BASE = "no base at all, but long enough"
_NAMED = 'name = "a"\nformula = "x"\n[inputs]\n'

# what is called, and the files that it finds: texts, bytes, or None for a folder
_INPUTS: dict[str, tuple[list[str], dict[str, str | bytes | None]]] = {
    "launch TOML: digits": ([*_CHECK, "l.toml"], {"l.toml": f"blocks = {_DIGITS}"}),
    "launch TOML: nesting": ([*_CHECK, "l.toml"], {"l.toml": f"blocks = {_DEEP}"}),
    "launch TOML: dotted key": ([*_CHECK, "l.toml"], {"l.toml": "a." * 20_000 + "b = 1"}),
    "launch TOML: date": ([*_CHECK, "l.toml"], {"l.toml": "blocks = 2020-01-01"}),
    "launch TOML: date in a list": ([*_CHECK, "l.toml"], {"l.toml": "blocks = [07:30:00]"}),
    "launch TOML: bytes": ([*_CHECK, "l.toml"], {"l.toml": b"blocks = \xff"}),
    "launch TOML: empty": ([*_CHECK, "l.toml"], {"l.toml": ""}),
    "launch TOML: folder": ([*_CHECK, "l.toml"], {"l.toml": None}),
    "launch TOML: NUL in a file's name": (
        [*_CHECK, "l.toml"],
        {"l.toml": 'blocks = 1\n[[arg]]\nname = "x"\nfile = "a\\u0000b"\nshape = [4]\n'},
    ),
    "launch YAML: digits": ([*_CHECK, "l.yaml"], {"l.yaml": f"blocks: {_DIGITS}"}),
    "launch YAML: hexadecimal": ([*_CHECK, "l.yaml"], {"l.yaml": "blocks: 0x" + "f" * 5000}),
    "launch YAML: nesting": ([*_CHECK, "l.yaml"], {"l.yaml": f"blocks: {_DEEP}"}),
    "launch YAML: aliases": ([*_CHECK, "l.yaml"], {"l.yaml": _ALIASES}),
    "launch YAML: loop": ([*_CHECK, "l.yaml"], {"l.yaml": "&a [*a]"}),
    "launch YAML: tag": ([*_CHECK, "l.yaml"], {"l.yaml": "blocks: !!timestamp x"}),
    "launch YAML: date": ([*_CHECK, "l.yaml"], {"l.yaml": "blocks: 2020-01-01"}),
    "launch YAML: list": ([*_CHECK, "l.yaml"], {"l.yaml": "- a"}),
    "kernel: folder": (["check", "k.cpp"], {"k.cpp": None}),
    "kernel: missing": (["check", "none.cpp"], {}),
    "kernel: empty": ([*_CHECK, "l.toml"], {"k.cpp": "", "l.toml": "blocks = 1"}),
    "answer: build is a list": (
        ["check", "a.json", "--launch", "m.py"],
        {
            "a.json": json.dumps(
                {
                    "sources": [{"path": "a.cpp", "content": "PYBIND11_MODULE(m, x)"}],
                    "entry": {"model": "a.cpp::M"},
                    "build": [],
                }
            )
        },
    ),
    "answer: nesting": (["check", "a.json", "--launch", "m.py"], {"a.json": _DEEP}),
    "answer: digits": (
        ["check", "a.json", "--launch", "m.py"],
        {"a.json": f'{{"sources": [], "entry": {_DIGITS}}}'},
    ),
    "answer: surrogate": (
        ["check", "a.json", "--launch", "m.py"],
        {"a.json": '{"sources": [{"path": "\\ud800", "content": ""}], "entry": {"model": "x"}}'},
    ),
    "program: folder": (["lower", "p.py"], {"p.py": None}),
    "description: digits": (
        ["generate", "d.toml"],
        {"d.toml": f"{_NAMED}x = {{ shape = [{_DIGITS}] }}\n"},
    ),
    "description: nesting": (["generate", "d.toml"], {"d.toml": f"a = {_DEEP}"}),
    "description: date": (["generate", "d.toml"], {"d.toml": f"{_NAMED}x = 2020-01-01\n"}),
    "description: folder": (["generate", "d.toml"], {"d.toml": None}),
    "module: folder": (["generate", "m.py"], {"m.py": None}),
    "module: NUL": (["generate", "m.py"], {"m.py": "x = 1\0\n"}),
    "module: nesting": (["generate", "m.py"], {"m.py": f"x = {'-' * 20_000}1\n"}),
    "recipe: digits": (
        ["train", "sft", "r.jsonl", "--model", "m", "--out", "o", "--recipe", "r.toml"],
        {"r.toml": f"[sft]\nlr = {_DIGITS}", "r.jsonl": "{}"},
    ),
    "recipe: nesting": (
        ["train", "sft", "r.jsonl", "--model", "m", "--out", "o", "--recipe", "r.toml"],
        {"r.toml": f"sft = {_DEEP}", "r.jsonl": "{}"},
    ),
    "recipe: change of many digits": (
        ["train", "sft", "r.jsonl", "--model", "m", "--out", "o", "--set", f"epochs={_DIGITS}"],
        {"r.jsonl": "{}"},
    ),
    "recipe: rate is NaN": (
        ["train", "sft", "r.jsonl", "--model", "m", "--out", "o", "--set", "lr=nan"],
        {"r.jsonl": "{}"},
    ),
    "records: nesting": (
        ["dataset", "prefer", "t.jsonl", "a.jsonl", "--out", "o"],
        {"t.jsonl": "{}", "a.jsonl": _DEEP},
    ),
    "records: folder": (
        ["dataset", "prefer", "t.jsonl", "a.jsonl", "--out", "o"],
        {"t.jsonl": "{}", "a.jsonl": None},
    ),
    "result: nesting": (["compare", "a.json", "a.json"], {"a.json": f'{{"tasks": {_DEEP}'}),
    "result: digits": (["compare", "a.json", "a.json"], {"a.json": f'{{"format": {_DIGITS}}}'}),
    "result: a number is a list": (["compare", "a.json", "a.json"], {"a.json": '{"format": []}'}),
    "result: bytes": (["compare", "a.json", "a.json"], {"a.json": b'{"suite": "\xff"}'}),
    "run: no base": (["compare", "r", "r"], {"r/results.sqlite": _NO_BASE}),
    "run: empty base": (["compare", "r", "r"], {"r/results.sqlite": b""}),
    "run: base is a folder": (["compare", "r", "r"], {"r/results.sqlite": None}),
    "dataset: settings": (["dataset", "build", "--out", "d"], {"d/settings.json": _DEEP}),
    "dataset: folder of the user": (["dataset", "build", "--out", "d"], {"d/README.md": "mine"}),
    "dataset: a file": (["dataset", "build", "--out", "d"], {"d": "mine"}),
    "cannbench: nesting": (
        ["bench", "cannbench", "--path", "c", "--out", "o"],
        {"c/tasks/level1/abs/proto.yaml": _DEEP, "c/tasks/level1/abs/cases.yaml": "cases: []"},
    ),
    "store of knowledge: no base": (
        ["knowledge", "search", "x", "--store", "s"],
        {"s": _NO_BASE},
    ),
    "option: NUL": (["check", "k\0.cpp"], {}),
    "option: surrogate": (["check", "k\udcff.cpp"], {}),
    "option: of a million letters": (["check", "k" * 1_000_000], {}),
    "option: long name": (["check", "k" * 5000], {}),
    "option: tune is infinite": (["generate", "m.py", "--tune", "inf"], {}),
    "option: tune is NaN": (["generate", "m.py", "--tune", "nan"], {}),
    "option: many digits": (["bench", "forge", "--samples", _DIGITS], {}),
    "option: many samples": (["bench", "forge", "--samples", str(10**30)], {}),
    "option: many jobs": (["bench", "forge", "--jobs", "1000000"], {}),
    "option: levels": (["bench", "forge", "--levels", _DIGITS, "--out", "o"], {}),
    "option: static of many digits": (
        ["lower", "softmax.py", "--static", f"x={_DIGITS}"],
        {},
    ),
    "option: JSON into a folder": (["lower", "softmax.py", "--json", "d"], {"d": None}),
    "option: JSON below a file": (["lower", "softmax.py", "--json", "d/x"], {"d": ""}),
    "option: out is a file": (["lower", "softmax.py", "--out", "d"], {"d": "mine"}),
    "option: soc is a path": (["lower", "softmax.py", "--soc", "../../../etc/passwd"], {}),
    "option: soc holds a pattern": (["bench", "forge", "--soc", "*", "--out", "o"], {}),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with a kernel, a module and a program that are in order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "k.cpp").write_text(_KERNEL)
    (tmp_path / "m.py").write_text(_MODULE)
    program = Path(__file__).parents[2] / "examples" / "tile" / "softmax.py"
    (tmp_path / "softmax.py").write_bytes(program.read_bytes())
    yield tmp_path
    assert not (tmp_path / "state").exists(), "an error was unforeseen"


def _place(folder: Path, files: dict[str, str | bytes | None]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            path.unlink()
        if content is None:
            path.mkdir()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, "utf-8")


def _is_one_line(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) == 1 and lines[0].startswith("npuforge: ") and len(lines[0]) < 3000


@pytest.mark.parametrize(("command", "files"), _INPUTS.values(), ids=_INPUTS)
def test_is_one_line_and_status_two(
    command: list[str],
    files: dict[str, str | bytes | None],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _place(folder, files)
    assert main(command) == 2
    said = capsys.readouterr()
    assert _is_one_line(said.err), said.err
    assert said.err.isascii() or said.err.isprintable()


@pytest.mark.parametrize(
    "program", ["x\0", "-" * 20_000 + "1", "a" + "+a" * 5000, _DEEP, f"x = {_DIGITS}", ""]
)
def test_a_program_with_errors_has_findings(
    program: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.py").write_text(program)
    assert main(["lower", "p.py", "--json", "-"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["compiled"] is False
    assert verdict["violations"]


def _run_folder(folder: Path) -> Path:
    """The folder of a run that judged nothing yet."""
    from npuforge.bench.settings import Settings  # noqa: PLC0415
    from npuforge.bench.store import Store  # noqa: PLC0415
    from npuforge.bench.task import Task  # noqa: PLC0415

    out = folder / "run"
    Store.create(out, Settings(suite="forge"), [Task("math/a", "math", None, Path())]).close()
    return out


def _change(statement: str) -> Callable[[Path], None]:
    def apply(out: Path) -> None:
        with closing(sqlite3.connect(out / "results.sqlite")) as base, base:
            base.execute(statement)

    return apply


def _lock_is_pipe(out: Path) -> None:
    (out / ".lock").unlink(missing_ok=True)
    os.mkfifo(out / ".lock")


def _base_is_pipe(out: Path) -> None:
    (out / "results.sqlite").unlink()
    os.mkfifo(out / "results.sqlite")


_BROKEN_RUNS: dict[str, Callable[[Path], object]] = {
    "truncated": lambda out: os.truncate(out / "results.sqlite", 5000),
    "overwritten": lambda out: (out / "results.sqlite").write_bytes(b"\xff" * 9000),
    "settings are nested": _change(f"UPDATE run SET settings = '{_DEEP}'"),
    "settings are a number": _change("UPDATE run SET settings = 7"),
    "settings are gone": _change("DELETE FROM run"),
    "tasks are gone": _change("DROP TABLE tasks"),
    "a task is nothing": _change("UPDATE tasks SET task = '{}'"),
    "attempts are gone": _change("DROP TABLE attempts"),
    "an attempt is nested": _change(f"INSERT INTO attempts VALUES ('math/a', 0, '{_DEEP}')"),
    "an attempt at no task": _change(
        "INSERT INTO attempts VALUES ('b', 0, "
        """'{"task": "b", "sample": 0, "state": "judged", "verdict": {"name": "b"}}')"""
    ),
    "the base is a pipe": _base_is_pipe,
}  # fmt: skip


@pytest.mark.parametrize("damage", _BROKEN_RUNS.values(), ids=_BROKEN_RUNS)
def test_a_broken_run_is_one_line(
    damage: Callable[[Path], object], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = _run_folder(folder)
    damage(out)
    for command in (["compare", "run", "run"], ["bench", "forge", "--resume", "--out", "run"]):
        if command[0] == "bench" and not (out / "results.sqlite").is_file():
            continue  # then there is no run to go on with, and another begins
        assert main(command) == 2
        assert _is_one_line(capsys.readouterr().err)


def test_a_lock_that_is_a_pipe_holds_nobody(folder: Path) -> None:
    _lock_is_pipe(_run_folder(folder))
    assert main(["bench", "cannbench", "--resume", "--out", "run"]) == 2


def test_a_line_that_was_cut_is_read_again(folder: Path) -> None:
    from npuforge.cli.output import grown_file  # noqa: PLC0415
    from npuforge.train.records import Chat, read_lines  # noqa: PLC0415

    out = folder / "grown.jsonl"
    whole = b'{"format": 1, "messages": []}\n'
    out.write_bytes(whole + whole[:12])
    assert len(read_lines([out], Chat, "chat", grown=True)) == 1
    with grown_file(out) as file:
        file.write(whole)
    assert out.read_bytes() == whole * 2


_WORDS = st.text(max_size=30) | st.sampled_from(
    ["-", "--", "", "--json", "--json=-", "/", "..", "~", "m.py", "softmax.py", "k.cpp", "nan"]
)
_COMMANDS = st.sampled_from(["lower", "compare", "check", "generate", "knowledge", "evaluate", "x"])


@given(command=_COMMANDS, words=st.lists(_WORDS, max_size=4))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.usefixtures("folder")
def test_any_words_end_without_an_unforeseen_error(command: str, words: list[str]) -> None:
    given_model = command == "generate" and any(word.endswith((".py", ".toml")) for word in words)
    if not given_model:
        assert main([command, *words]) in (0, 1, 2)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(value=_VALUES)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_document_is_refused_in_a_line(value: object, folder: Path) -> None:
    text = json.dumps(value)
    for name in ("a.json", "l.yaml", "d.toml"):
        (folder / name).write_text(text)
    assert main(["compare", "a.json", "a.json"]) == 2
    assert main(["check", "k.cpp", "--launch", "l.yaml"]) == 2
    assert main(["generate", "d.toml", "--quiet"]) == 2
