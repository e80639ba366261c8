# SPDX-License-Identifier: Apache-2.0
"""Attacks by a benchmark's run folder that somebody else made: `bench --resume` goes on with it."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from npuforge.bench import runner
from npuforge.bench.codec import encode
from npuforge.bench.executors.process import Child
from npuforge.bench.settings import ModelSettings, Settings
from npuforge.bench.store import FILE, Store
from npuforge.bench.task import Task
from npuforge.bench.worker import Job
from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.keys import keys_hidden

_TASK = Task("math/a", "math", None, Path())


def _run(folder: Path, settings: Settings | None = None) -> Path:
    Store.create(folder, settings or Settings(suite="forge"), [_TASK]).close()
    return folder


@pytest.mark.parametrize(
    "name",
    ["../../../victim", "/tmp/victim", "a/../../victim", "..", ".", "", "a//b", "a/.ssh", "a\\b",
     "a\nb", "a\x1b[2J", "x" * 5000, "a/" * 50 + "b"],
)  # fmt: skip
def test_a_tasks_name_is_a_path_below_the_run(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = _run(tmp_path / "run")
    text = encode(_TASK).decode()
    with closing(sqlite3.connect(out / FILE)) as base, base:
        base.execute("UPDATE tasks SET task = json_set(?, '$.name', ?)", (text, name))
    with pytest.raises(UsageError):
        Store(out)
    assert main(["bench", "forge", "--resume", "--out", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("part", ["attempts", "attempts/math", "attempts/math/a/0"])
def test_links_in_a_run_lead_nowhere(part: str, tmp_path: Path) -> None:
    out = _run(tmp_path / "run")
    victim = tmp_path / "victim"
    (victim / "math" / "a" / "0").mkdir(parents=True)
    (victim / "a" / "0").mkdir(parents=True)
    (victim / "math" / "a" / "0" / "file").write_text("mine")
    (out / part).parent.mkdir(parents=True, exist_ok=True)
    (out / part).symlink_to(victim)
    with Store(out) as store, pytest.raises(UsageError, match="outside"):
        runner.left(store)
    assert (victim / "math" / "a" / "0" / "file").read_text() == "mine"


def test_what_is_no_folder_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("mine")
    (tmp_path / "place").symlink_to(tmp_path / "victim")
    with pytest.raises(UsageError):
        Child().run(Job(Settings(suite="forge"), _TASK, 0, tmp_path / "place"))
    assert (tmp_path / "victim" / "file").read_text() == "mine"


def test_a_run_names_no_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NPUFORGE_MODEL_KEY", "sk-secret")
    model = ModelSettings(endpoint={"model": "m", "base_url": "https://evil.example/v1"})
    out = _run(tmp_path / "run", Settings(suite="forge", strategy="refine", model=model))
    assert main(["bench", "forge", "--resume", "--out", str(out)]) == 2
    assert "evil.example" in capsys.readouterr().err


def test_a_run_is_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        out = _run(tmp_path / "run")
        Store(out, writing=True).close()
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (out, *out.iterdir())}
    assert modes == {"run": 0o700, FILE: 0o600, ".lock": 0o600}


def test_a_library_that_starts_children_sees_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PLAIN", "kept")
    with keys_hidden():
        assert "OPENAI_API_KEY" not in os.environ
        assert os.environ["PLAIN"] == "kept"
    assert os.environ["OPENAI_API_KEY"] == "sk-secret"


def test_a_forked_child_leaves_its_parents_interpreter_alone() -> None:
    """It ends at once, with its own ends, while the parent's interpreter serves on."""
    from npuforge.sandbox.preloaded import INTERPRETERS  # noqa: PLC0415

    INTERPRETERS.next()
    ours = INTERPRETERS.next()
    assert ours is not None
    child = os.fork()
    if not child:
        try:
            ok = INTERPRETERS._found is None and ours._channel.fileno() == -1
            INTERPRETERS.close()  # as its end does
            os._exit(0 if ok else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert INTERPRETERS.next() is ours
    assert ours._process.poll() is None
    assert ours._place.is_dir(), sys.platform
