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
