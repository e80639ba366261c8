# SPDX-License-Identifier: Apache-2.0
"""Commands that are killed: nothing stays behind, and the same command again ends as ever."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.faults.kills import ROOT, Place, sweep

from npuforge.twin.cache import default_root
from npuforge.twin.toolchain import Toolchain

LONG_S = 60.0


@pytest.mark.slow
def test_six_kills_spoil_nothing(tmp_path: Path) -> None:
    runtime = Toolchain.find().runtime()
    assert runtime.is_relative_to(default_root())
    results = sweep(tmp_path, 6, 5, ["check", "knowledge"], cache=default_root())
    assert [result.faults for result in results] == [[]] * 6


def _until(condition: Callable[[], object], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["generate", "bench"])
def test_no_process_survives_its_killed_parent_by_five_seconds(
    tmp_path: Path, command: str
) -> None:
    inputs, cache = tmp_path / "inputs", tmp_path / "cache"
    inputs.mkdir()
    cache.mkdir()
    shutil.copy(ROOT / "examples" / "modules" / "softmax.py", inputs)
    place = Place(tmp_path / "place", inputs, cache)
    words = {
        "generate": ["generate", "softmax.py", "--out", "made", "--quiet"],
        "bench": ["bench", "forge", "--tasks", "math/symlog", "--out", "run", "--quiet"],
    }[command]
    child = place.start(words)
    # The interpreter of ours, a worker, a compiler: more than the command itself.
    assert _until(lambda: len(place.processes()) > 1, LONG_S)
    child.kill()
    child.wait()
    assert _until(lambda: not place.processes(), 5.0), place.processes()


def test_a_sandboxed_command_ends_with_its_killed_caller(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from npuforge.sandbox import Sandbox
Sandbox.detect().run(["/bin/sleep", "97.5"], scratch=Path(sys.argv[1]))
"""
    caller = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    assert _until(lambda: _commands(b"97.5"), LONG_S)
    os.kill(caller.pid, signal.SIGKILL)
    caller.wait()
    assert _until(lambda: not _commands(b"97.5"), 5.0)


def _commands(word: bytes) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if word in (process / "cmdline").read_bytes().split(b"\0"):
                found.append(process.name)
        except OSError:
            continue
    return found
