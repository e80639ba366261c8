# SPDX-License-Identifier: Apache-2.0
"""Exhaustion by many small things: limits on the whole of what one command uses.

Each attack has an end of its own, far enough beyond its limit that the limit must have ended it.
The bounds on what passes between two samples are generous; docs/sandbox.md has measured figures.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from npuforge.sandbox import MEANS, MIB, Completed, Limits, Sandbox
from npuforge.scratch import scratch_folder

FILTERED = [name for name in MEANS[:3] if Sandbox.using(name).works()]
PYTHON = os.path.realpath(sys.executable)
LIMITS = Limits(wall_s=60, cpu_s=60, processes=8)
Attack = Callable[..., Completed]


@pytest.fixture
def place() -> Iterator[Path]:
    """Remove what the tools of tests cannot: folders nested without end."""
    with scratch_folder("attack") as path:
        yield path


@pytest.fixture(params=FILTERED)
def attack(request: pytest.FixtureRequest, place: Path) -> Attack:
    def run(code: str, **limits: int) -> Completed:
        return Sandbox.using(request.param).run(
            [PYTHON, "-I", "-S", "-c", code],
            scratch=place,
            readable=(Path(sys.base_prefix), Path(PYTHON)),
            limits=replace(LIMITS, **limits),
        )

    return run


def size(folder: Path) -> int:
    found = (path.lstat() for path in folder.rglob("*"))
    return sum(status.st_blocks * 512 for status in found)


WRITE_4_GB = """
import os
block = bytes(1 << 20)
for number in range(4096):
    {prepare}
    handle = os.open({name}, os.O_CREAT | os.O_RDWR, 0o600)
    os.write(handle, block)
    {after}
"""


@pytest.mark.parametrize(
    ("prepare", "name", "after"),
    [
        ("", "f'{number}'", "os.close(handle)"),
        ("", "os.environ['TMPDIR'] + f'/{number}'", "os.close(handle)"),
        ("", "'one'", "os.lseek(handle, 0, 2); os.write(handle, block); os.close(handle)"),
        ("os.makedirs('a/b', exist_ok=True)", "f'a/b/{number}'", "os.close(handle)"),
    ],
    ids=["scratch", "temporary", "one file", "folders"],
)
def test_total_of_files_is_bounded(
    attack: Attack, place: Path, prepare: str, name: str, after: str
) -> None:
    code = WRITE_4_GB.format(prepare=prepare, name=name, after=after)
    done = attack(code, disk_bytes=100 * MIB)
    assert done.killed_by == "disk"
    assert size(place) < 1100 * MIB


HIDDEN = """
import mmap, os, time
block = bytes(1 << 20)
kept = []
for number in range(300):
    handle = os.open('hidden', os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink('hidden')
    for _ in range(8):
        os.write(handle, block)
    {keep}
time.sleep(20)
"""


@pytest.mark.parametrize(
    "keep",
    ["kept.append(handle)", "kept.append(mmap.mmap(handle, 4096)); os.close(handle)"],
    ids=["open", "mapped"],
)
def test_files_without_a_name_count(attack: Attack, keep: str) -> None:
    if "mmap" in keep:  # no lib-dynload without site: the C library maps
        keep = (
            "import ctypes; c = ctypes.CDLL(None); c.mmap.restype = ctypes.c_void_p;"
            " c.mmap(None, ctypes.c_size_t(4096), 1, 1, handle, ctypes.c_long(0)); os.close(handle)"
        )
    code = HIDDEN.replace("import mmap, os", "import os").format(keep=keep)
    assert attack(code, disk_bytes=100 * MIB).killed_by == "disk"


def test_files_in_folders_that_cannot_be_listed_count(attack: Attack, place: Path) -> None:
    code = (
        "import os, time\nos.mkdir('d', 0o300)\n"
        "for number in range(300): open(f'd/{number}', 'wb').write(bytes(1 << 20))\n"
        "time.sleep(20)\n"
    )
    assert attack(code, disk_bytes=100 * MIB).killed_by == "disk"
    assert len(os.listdir(place / "d")) > 0


@pytest.mark.parametrize(
    "each",
    [
        "os.close(os.open(str(number), os.O_CREAT))",
        "os.mkdir(str(number))",
        "os.symlink('x', str(number))",
    ],
    ids=["files", "folders", "links"],
)
def test_number_of_files_is_bounded(attack: Attack, place: Path, each: str) -> None:
    code = f"import os, time\nfor number in range(60_000): {each}\ntime.sleep(20)"
    assert attack(code, files=1000).killed_by == "files"
    assert len(os.listdir(place)) < 60_000


def test_folders_without_end_are_too_many(attack: Attack) -> None:
    code = (
        "import os, time\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\ntime.sleep(20)\n"
    )
    assert attack(code).killed_by == "files"


def test_a_process_that_hides_its_files_is_stopped(attack: Attack) -> None:
    code = (
        "import ctypes, os, time\n"
        "assert ctypes.CDLL(None).prctl(4, 0) == 0\n"  # PR_SET_DUMPABLE: others may not look
        "handles = []\n"
        "for number in range(300):\n"
        "    handles.append(os.open('f', os.O_CREAT | os.O_WRONLY, 0o600)); os.unlink('f')\n"
        "    os.write(handles[-1], bytes(1 << 20))\n"
        "time.sleep(20)\n"
    )
    assert attack(code, disk_bytes=100 * MIB).killed_by in ("disk", "files")


THREADS = """
import _thread, time
for number in range(6000):
    _thread.start_new_thread(time.sleep, (30,))
print('all', flush=True)
time.sleep(20)
"""


def test_number_of_threads_is_bounded(attack: Attack) -> None:
    done = attack(THREADS, threads=200, processes=1)
    assert done.killed_by == "threads"
    assert done.stdout == b""


def test_threads_of_all_processes_count_together(attack: Attack) -> None:
    code = "import os\nfor _ in range(3):\n    if os.fork() == 0: break\n" + THREADS.replace(
        "6000", "100"
    )
    assert attack(code, threads=250).killed_by == "threads"


def test_a_file_is_not_moved_past_by_a_socket(attack: Attack) -> None:
    """A descriptor on its way through a socket belongs to no process."""
    code = (
        "import ctypes, os\n"
        "pair = (ctypes.c_int * 2)()\n"
        "c = ctypes.CDLL(None, use_errno=True)\n"
        "print(c.socketpair(1, 1, 0, pair), c.sendmsg(pair[0], bytes(56), 0), ctypes.get_errno())\n"
    )
    assert attack(code).stdout == b"0 -1 1\n"


def test_shared_memory_that_no_process_shows_is_refused(attack: Attack) -> None:
    """Pages of shared memory stay when they are unmapped: resident size does not show them."""
    code = (
        "import ctypes, os, time\n"
        "c = ctypes.CDLL(None, use_errno=True)\n"
        "c.mmap.restype = ctypes.c_void_p\n"
        "at = c.mmap(None, ctypes.c_size_t(1 << 30), 3, 0x21, -1, ctypes.c_long(0))\n"
        "print(at == ctypes.c_void_p(-1).value, flush=True)\n"
        "try: handle = os.open('/dev/zero', os.O_RDWR)\n"
        "except PermissionError: os._exit(0)\n"
        "at = c.mmap(None, ctypes.c_size_t(1 << 30), 3, 1, handle, ctypes.c_long(0))\n"
        "os.close(handle)\n"
        "for part in range(64):\n"
        "    ctypes.memset(at + (part << 24), 1, 1 << 24)\n"
        "    c.madvise(ctypes.c_void_p(at + (part << 24)), ctypes.c_size_t(1 << 24), 4)\n"
        "time.sleep(20)\n"
    )
    done = attack(code, memory_bytes=300 * MIB)
    assert done.stdout == b"True\n"
    assert done.killed_by in (None, "memory")
    assert done.wall_s < 15


def test_memory_that_processes_share_counts_once(attack: Attack) -> None:
    code = (
        "import os, time\n"
        "kept = bytearray(b'x' * (120 << 20))\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(1); os._exit(0)\n"
        "for _ in range(4): os.wait()\n"
        "print('ok')\n"
    )
    assert attack(code, memory_bytes=300 * MIB).stdout == b"ok\n"


def test_what_was_there_before_does_not_count(attack: Attack, place: Path) -> None:
    (place / "given").write_bytes(bytes(50 * MIB))
    for number in range(300):
        (place / f"{number}").touch()
    code = "import time\nopen('more', 'wb').write(bytes(5 << 20))\ntime.sleep(0.7)\nprint('ok')"
    assert attack(code, disk_bytes=10 * MIB, files=100).stdout == b"ok\n"
