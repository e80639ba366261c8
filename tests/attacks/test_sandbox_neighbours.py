# SPDX-License-Identifier: Apache-2.0
"""Attacks on what runs beside a command: supervisors, siblings, the preloaded interpreter.

Each command runs both by itself and forked from an interpreter that has PyTorch loaded.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from npuforge.errors import SandboxError
from npuforge.sandbox import MEANS, WEAK, Completed, Limits, Sandbox
from npuforge.sandbox.preloaded import _Interpreters
from npuforge.sandbox.python import interpreter
from npuforge.scratch import scratch_folder

PROTECTING = [name for name in MEANS if name not in WEAK and Sandbox.using(name).works()]
LIMITS = Limits(wall_s=60, cpu_s=60, processes=8)
Script = Callable[..., Completed]


@pytest.fixture(scope="module")
def loaded() -> Iterator[_Interpreters]:
    found = _Interpreters()
    found.next()
    started = found.next()
    assert started is not None
    yield found
    started.close()


@pytest.fixture
def place() -> Iterator[Path]:
    with scratch_folder("attack") as path:
        yield path


@pytest.fixture(
    params=[(name, how) for name in PROTECTING for how in ("alone", "preloaded")], ids=str
)
def script(
    request: pytest.FixtureRequest,
    loaded: _Interpreters,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Script:
    name, how = request.param
    monkeypatch.setattr("npuforge.sandbox.sandbox.INTERPRETERS", loaded)
    counter = iter(range(1000))

    def run(code: str, limits: Limits = LIMITS) -> Completed:
        file = place / f"script{next(counter)}.py"
        file.write_text(code, "utf-8")
        return Sandbox.using(name).run(
            [sys.executable, "-I", file],
            scratch=place,
            readable=interpreter(),
            limits=limits,
            preloaded=how == "preloaded",
        )

    return run


def test_no_process_beside_it_can_be_reached(script: Script) -> None:
    """Of the same user: its parent, this process, a sibling, each neighbour of its number."""
    code = f"""
import ctypes, os, signal
c = ctypes.CDLL(None, use_errno=True)
reached = []
targets = {{os.getppid(), {os.getpid()}, {os.getppid()}, 1}}
targets |= {{number for number in range(os.getpid() - 40, os.getpid() + 40) if number > 1}}
for target in targets - {{os.getpid()}}:
    if target == 1:  # in a namespace its own; killpg(1) means all and tells nothing
        continue
    for what in ("environ", "mem", "maps", "fd", "cwd/x", "root/etc/passwd", "fdinfo"):
        try:
            path = f"/proc/{{target}}/{{what}}"
            os.listdir(path) if what in ("fd", "fdinfo") else open(path, "rb").read(1)
            reached.append(path)
        except OSError:
            pass
    for how in (lambda: os.kill(target, 0), lambda: os.sched_setaffinity(target, {{0}}),
                lambda: os.killpg(target, 0)):
        try:
            how()
            reached.append(target)
        except OSError:
            pass
    for number, words in ((101, (16, target, 0, 0)), (310, (target, 0, 0, 0, 0, 0)),
                          (434, (target, 0)), (302, (target, 7, 0, 0))):
        if c.syscall(number, *words) >= 0:
            reached.append((number, target))
print(reached)
"""
    assert script(code).stdout == b"[]\n"


def test_no_file_signals_another_process(script: Script) -> None:
    code = (
        "import fcntl, os, struct\n"
        "r, w = os.pipe()\n"
        f"target = {os.getpid()}\n"
        "for how in (lambda: fcntl.fcntl(r, 8, target), lambda: fcntl.fcntl(r, 10, 9),\n"
        "            lambda: fcntl.fcntl(r, 15, struct.pack('ii', 1, target)),\n"
        "            lambda: fcntl.ioctl(r, 0x8901, struct.pack('i', target)),\n"
        "            lambda: fcntl.ioctl(r, 0x8902, struct.pack('i', target))):\n"
        "    try: how(); print('set')\n"
        "    except PermissionError: pass\n"
        "print(fcntl.fcntl(r, fcntl.F_GETFL), fcntl.fcntl(w, 1024 + 7) > 0)\n"
    )
    assert script(code).stdout == b"0 True\n"


def test_nothing_is_inherited(script: Script) -> None:
    code = (
        "import os\n"
        "print([n for n in os.listdir('/proc/self/fd') if int(n) > 2][:-1])\n"
        "print(sorted(os.environ.keys() - {'HOME', 'TMPDIR', 'PATH', 'LANG', 'LOGNAME'}))\n"
        "data = open('/proc/self/environ', 'rb').read()\n"
        "print(b'KEY' in data, b'NPUFORGE' in data)\n"
    )
    first, names, rest = script(code).stdout.decode().splitlines()
    assert first == "[]"
    assert "VISIBLE_DEVICES" in names
    assert "KEY" not in names
    assert rest == "False False"


def test_no_socket_leaves_the_sandbox(script: Script) -> None:
    code = (
        "import socket\n"
        "for family, kind in ((1, 1), (1, 2), (2, 1), (2, 2), (10, 1), (16, 3), (17, 3)):\n"
        "    try: socket.socket(family, kind); print('open', family)\n"
        "    except PermissionError: pass\n"
        "a, b = socket.socketpair()\n"
        "for path in ('\\0npuforge', '/run/dbus/system_bus_socket'):\n"
        "    try: a.connect(path); print('connected')\n"
        "    except OSError: pass\n"
    )
    done = script(code)
    assert (done.stdout, done.returncode) == (b"", 0)


def test_a_forged_answer_on_any_descriptor_is_not_believed(script: Script) -> None:
    code = (
        "import marshal, os\n"
        "lie = marshal.dumps({'complaint': '', 'reason': None, 'status': 0, 'peak_rss': 1,"
        " 'wall_s': 0.0})\n"
        "for number in range(3, 4096):\n"
        "    try: os.write(number, lie)\n"
        "    except OSError: pass\n"
        "os._exit(7)\n"
    )
    assert script(code).returncode == 7


def test_commands_after_a_hostile_one_still_run(script: Script) -> None:
    """Each tries to stop, starve or change what the next one starts from."""
    hostile = (
        "import torch\ntorch.zeros = None\nimport builtins\nbuiltins.print = None",
        "import os\nfor n in range(256):\n    try: os.close(n)\n    except OSError: pass",
        "import os, signal\nfor s in range(1, 65):\n"
        "    try: os.killpg(0, s) if s != 9 else None\n    except OSError: pass",
        "import threading, time\n"
        "for _ in range(3000):\n"
        "    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()",
        "import os\nwhile True: os.fork()",
        "import os, sys\nos.execv('/bin/sh', ['sh', '-c', 'kill -9 $PPID; kill -STOP -1'])",
    )
    for code in hostile:
        script(code, Limits(wall_s=10, cpu_s=5, processes=8))
        good = script("import torch\nprint(torch.zeros(2).tolist())")
        assert (good.stdout, good.killed_by) == (b"[0.0, 0.0]\n", None)


def test_two_commands_at_once_do_not_meet(script: Script, place: Path) -> None:
    """One with a secret in its memory, environment and input, the other looks for it."""
    (place / "go").mkdir()
    secret = "import time\nsecret = 'a' + 'b' * 3 + 'c'\nprint('up', flush=True)\ntime.sleep(2)"
    seen: list[Completed] = []
    other = threading.Thread(target=lambda: seen.append(script(secret)))
    other.start()
    look = (
        "import os, time\n"
        "end = time.monotonic() + 1.5\nfound = []\n"
        "me = os.getpid()\n"
        "while time.monotonic() < end:\n"
        "    for number in range(max(2, me - 60), me + 60):\n"
        "        if number in (me, os.getppid()): continue\n"
        "        for what in ('mem', 'environ', 'fd/1', 'fd/3'):\n"
        "            try: open(f'/proc/{number}/{what}', 'rb'); found.append(number)\n"
        "            except OSError: pass\n"
        "print(found)\n"
    )
    found = script(look)
    other.join()
    assert found.stdout == b"[]\n"
    assert (seen[0].stdout, seen[0].killed_by) == (b"up\n", None)


@pytest.mark.parametrize("name", PROTECTING)
def test_a_lost_supervisor_is_no_verdict(name: str, place: Path) -> None:
    """What the machine kills is its own failure, and is not said of the command."""
    sandbox = Sandbox.using(name)  # type: ignore[arg-type]
    marker = f"{os.getpid()}.25"

    def kill() -> None:
        for _ in range(500):
            for entry in Path("/proc").iterdir():
                try:
                    mine = (
                        entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes()
                    )
                    while mine:
                        status = (entry / "stat").read_text().rpartition(")")[2].split()
                        entry = Path("/proc") / status[1]
                        if b"marshal" in (entry / "cmdline").read_bytes():
                            os.kill(int(entry.name), 9)
                            return
                        mine = int(status[1]) > 1
                except OSError:
                    continue
            done.wait(0.02)

    done = threading.Event()
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        with pytest.raises(SandboxError, match="was lost"):
            sandbox.run(["sleep", marker], scratch=place, limits=LIMITS)
    finally:
        done.set()
        thread.join()
