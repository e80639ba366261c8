# SPDX-License-Identifier: Apache-2.0
"""Scripts forked from an interpreter that has PyTorch: as confined and as free as any other."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from npuforge.sandbox import MEANS, MIB, Completed, Limits, Sandbox, preloaded
from npuforge.sandbox.preloaded import _Interpreters
from npuforge.sandbox.python import NO_DEVICES, interpreter

FORKING = [name for name in MEANS if name != "bubblewrap" and Sandbox.using(name).works()]
Script = Callable[..., Completed]


@pytest.fixture(scope="module")
def loaded() -> Iterator[_Interpreters]:
    """One for all of these tests, that has one command behind it."""
    found = _Interpreters()
    assert found.next() is None  # a single command starts by itself
    yield found
    started = found.next()
    assert started is not None
    started.close()


@pytest.fixture(params=FORKING)
def script(
    request: pytest.FixtureRequest,
    loaded: _Interpreters,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Script:
    monkeypatch.setattr("npuforge.sandbox.sandbox.INTERPRETERS", loaded)
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def run(code: str, *words: str, limits: Limits | None = None, stdin: bytes = b"") -> Completed:
        (scratch / "script.py").write_text(code, "utf-8")
        return Sandbox.using(request.param).run(
            [sys.executable, "-I", scratch / "script.py", *words],
            scratch=scratch,
            readable=interpreter(),
            limits=limits or Limits(wall_s=60, cpu_s=60),
            env={"GIVEN": "1"},
            stdin=stdin,
            preloaded=True,
        )

    return run


def test_a_script_is_forked_with_what_it_is_given(script: Script) -> None:
    done = script(
        "import os, sys\n"
        "print('torch' in sys.modules, __name__, sys.argv[1:], sys.stdin.read(), os.getcwd())\n"
        "print(sorted(os.environ))\n"
        "print(sorted(os.listdir('/proc/self/fd'))[:-1])\n",
        "one",
        "two",
        stdin=b"given",
    )
    first, names, files = done.stdout.decode().splitlines()
    assert first.startswith("True __main__ ['one', 'two'] given /")
    assert first.endswith("/scratch")
    assert names == str(sorted([*NO_DEVICES, "GIVEN", "HOME", "LANG", "LOGNAME", "PATH", "TMPDIR"]))
    assert files == str(["0", "1", "2"])  # and the listing itself
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("raise SystemExit('no more')", 1, "no more"),
        ("raise SystemExit", 0, ""),
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("import atexit, sys\natexit.register(sys.stderr.write, 'end')", 0, "end"),
        ("import os\nos.abort()", -signal.SIGABRT, ""),
    ],
)
def test_it_ends_as_a_program_does(script: Script, code: str, status: int, said: str) -> None:
    done = script(code)
    assert (done.returncode, done.stderr.decode().strip().rpartition("\n")[2]) == (status, said)


def test_limits_hold(script: Script) -> None:
    long = script("import time\ntime.sleep(30)", limits=Limits(wall_s=0.5))
    assert long.killed_by == "wall time"
    large = script("x = bytearray(3 << 30)", limits=Limits(wall_s=60, memory_bytes=1024 * MIB))
    assert large.killed_by == "memory"


def test_nothing_of_one_is_left_for_the_next(script: Script) -> None:
    code = "import torch\nprint(hasattr(torch, 'mine'))\ntorch.mine = 1"
    assert [script(code).stdout for _ in range(2)] == [b"False\n"] * 2


def test_temporary_files_are_its_own(script: Script) -> None:
    done = script("import tempfile, os\nprint(tempfile.gettempdir() == os.environ['TMPDIR'])")
    assert done.stdout == b"True\n"


@pytest.mark.skipif("landlock+seccomp" not in FORKING, reason="needs Landlock")
def test_other_files_are_out_of_reach(
    loaded: _Interpreters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npuforge.sandbox.sandbox.INTERPRETERS", loaded)
    scratch, hidden = tmp_path / "scratch", tmp_path / "hidden"
    scratch.mkdir()
    hidden.write_text("hidden")
    script = scratch / "script.py"
    paths = [str(hidden), "/etc/passwd", f"/proc/{os.getpid()}/environ"]
    script.write_text(
        f"for path in {paths}:\n"
        "    try: print(open(path).read())\n"
        "    except PermissionError: print('refused')\n"
        "import socket\n"
        "try: socket.socket()\n"
        "except PermissionError: print('refused')\n"
    )
    done = Sandbox.using("landlock+seccomp").run(
        [sys.executable, "-I", script], scratch=scratch, readable=interpreter(), preloaded=True
    )
    assert done.stdout == b"refused\n" * 4


def test_without_it_commands_start_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it cannot begin, and where it is gone."""
    own = _Interpreters()
    monkeypatch.setattr("npuforge.sandbox.sandbox.INTERPRETERS", own)
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('torch' in sys.modules)")

    def run() -> bytes:
        command = [sys.executable, "-I", str(script)]
        found = Sandbox.using(FORKING[0]).run(
            command, scratch=tmp_path, readable=interpreter(), preloaded=True
        )
        return found.stdout

    assert run() == b"False\n"
    assert run() == b"True\n"
    started = own.next()
    assert started is not None
    started._process.kill()
    started._process.wait()
    assert run() == b"False\n"
    assert own.next() is None
    started.close()

    monkeypatch.setattr(preloaded, "_MAIN", tmp_path / "none.py")
    broken = preloaded.Preloaded()
    assert not broken.works
    broken.close()
