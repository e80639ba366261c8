# SPDX-License-Identifier: Apache-2.0
"""`--out` and the user's files: only what npuforge wrote is replaced, whole, or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from npuforge.cli import main
from npuforge.cli.output import write_text
from npuforge.errors import UsageError
from npuforge.result_folder import write_folder

_SOFTMAX = Path(__file__).parents[2] / "examples" / "tile" / "softmax.py"


def _lower(out: Path, *more: str) -> int:
    return main(["lower", str(_SOFTMAX), "--out", str(out), *more])


def _content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _with(name: str, text: str) -> Callable[[Path], object]:
    def add(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return add


_OF_THE_USER: dict[str, Callable[[Path], object]] = {
    "a verdict.json": _with("verdict.json", "{}"),
    "notes": _with("notes.txt", "mine"),
    "a list of another kind": _with(".npuforge.json", "{}"),
    "a list that is a folder": lambda folder: (folder / ".npuforge.json").mkdir(),
}


@pytest.mark.parametrize("fill", _OF_THE_USER.values(), ids=_OF_THE_USER)
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
def test_a_folder_of_the_user_stays(
    fill: Callable[[Path], object], force: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "project"
    out.mkdir()
    fill(out)
    (out / "work.cpp").write_text("of weeks")
    before = _content(out)
    assert _lower(out, *force) == 2
    assert _content(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


_CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is added": _with("notes.txt", "mine"),
    "a file is added below": _with("build/out.o", "mine"),
    "a folder is added": lambda folder: (folder / "empty").mkdir(),
    "a file is changed": lambda folder: next(folder.rglob("*.cpp")).write_text("better"),
    "a link is added": lambda folder: (folder / "link").symlink_to("/etc/passwd"),
    "a pipe is added": lambda folder: os.mkfifo(folder / "pipe"),
}


@pytest.mark.parametrize("change", _CHANGES.values(), ids=_CHANGES)
def test_a_changed_result_is_replaced_by_force_only(
    change: Callable[[Path], object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made"
    assert _lower(out) == 0
    first = _content(out)
    assert _lower(out) == 0
    change(out)
    changed = _content(out)
    capsys.readouterr()
    assert _lower(out) == 2
    assert "--force" in capsys.readouterr().err
    assert _content(out) == changed
    assert _lower(out, "--force") == 0
    assert _content(out) == first
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "out").symlink_to("there")
    assert _lower(tmp_path / "out") == 0
    assert _lower(tmp_path / "out") == 0
    assert (tmp_path / "out").is_symlink()
    assert next((tmp_path / "there").rglob("*.cpp")).is_file()


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "", "a\0b"])
def test_names_stay_inside(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no name for a file"):
        write_folder(tmp_path / "out", {name: "x"})
    assert list(tmp_path.iterdir()) == []


def test_a_kill_leaves_the_old_or_the_new_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from npuforge.result_folder import write_folder\n"
        "files = {f'd{n}/f': str(n) * 1000 for n in range(200)}\n"
        "while True:\n    write_folder(Path(sys.argv[1]), files)\n"
    )
    out = tmp_path / "out"
    write_folder(out, {f"d{n}/f": str(n) * 1000 for n in range(200)})
    before = _content(out)
    for number in range(8):
        writer = subprocess.Popen([sys.executable, "-c", code, str(out)])
        time.sleep(0.4 + number * 0.031)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert _content(out) == before
    write_folder(out, {"a": "b"})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_planted_link_goes_and_not_what_it_leads_to(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    out = tmp_path / "k.json"
    out.symlink_to(victim)
    write_text("{}", str(out))
    assert (victim.read_text(), out.read_text(), out.is_symlink()) == ("precious", "{}", False)
