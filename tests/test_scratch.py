# SPDX-License-Identifier: Apache-2.0
"""Temporary folders go with the process that made them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from npuforge import scratch

_MAKES = """
import os, signal, sys, time
from npuforge.scratch import new_folder
print(new_folder("work"), flush=True)
signal.pause()
"""


def _owner(tmp_path: Path) -> tuple[subprocess.Popen[str], Path]:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", _MAKES], env=env, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def _end(process: subprocess.Popen[str], number: int) -> None:
    process.send_signal(number)
    process.communicate()


def test_a_folder_is_removed_after_its_block() -> None:
    with scratch.scratch_folder("work") as path:
        (path / "a").mkdir()
        (path / "a" / "b").write_text("1")
        (path / "a").chmod(0)
        assert path.stat().st_mode & 0o777 == 0o700
    assert not path.exists()


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    dead, left = _owner(tmp_path)
    alive, used = _owner(tmp_path)
    _end(dead, signal.SIGKILL)
    assert left.is_dir()
    scratch.sweep(left.parents[1])
    assert (left.parent.exists(), used.is_dir()) == (False, True)
    _end(alive, signal.SIGINT)
    assert not used.parent.exists()


def test_a_new_process_sweeps(tmp_path: Path) -> None:
    dead, left = _owner(tmp_path)
    _end(dead, signal.SIGKILL)
    later, _ = _owner(tmp_path)
    assert not left.parent.exists()
    _end(later, signal.SIGKILL)


def test_a_forked_child_leaves_its_parents_folder() -> None:
    with scratch.scratch_folder("work") as path:
        child = os.fork()
        if child == 0:
            own = scratch.new_folder("work")
            os._exit(own.parent == path.parent)
        assert os.waitpid(child, 0)[1] == 0
        assert path.is_dir()


def test_a_root_that_somebody_else_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bait = tmp_path / "bait"
    bait.mkdir()
    (tmp_path / f"npuforge-{os.getuid()}").symlink_to(bait)
    assert scratch._root().parent == tmp_path
    assert list(bait.iterdir()) == []


def test_folders_nested_beyond_every_path_are_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    handle = os.open(top, os.O_RDONLY)
    for _ in range(5000):
        os.mkdir("folder-with-a-name", dir_fd=handle)
        inner = os.open("folder-with-a-name", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=handle))
    os.close(handle)
    scratch.remove(top)
    assert os.listdir(tmp_path) == []


def test_names_rights_and_links_of_any_kind_are_removed(tmp_path: Path) -> None:
    outside, top = tmp_path / "outside", tmp_path / "top"
    (top / "closed" / "inner" / "innermost").mkdir(parents=True)
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (top / "link").symlink_to(outside)
    (top / "closed" / "inner" / "link").symlink_to(outside)
    os.mkfifo(top / "pipe")
    for name in (b"a\nb", b"\xff\xfe", b"-rf", b" ", b"x" * 255):
        os.mkdir(bytes(top / "closed") + b"/" + name)
        (top / os.fsdecode(name)).touch()
    for folder, mode in (("closed/inner/innermost", 0), ("closed/inner", 0o300), ("closed", 0o400)):
        (top / folder).chmod(mode)
    top.chmod(0)
    scratch.remove(top)
    assert os.listdir(tmp_path) == ["outside"]
    assert (outside / "kept").read_text() == "kept"


def test_a_folder_that_is_gone_or_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    scratch.remove(tmp_path / "none")
    scratch.remove(tmp_path / "link")
    assert sorted(os.listdir(tmp_path)) == ["kept", "link"]
