# SPDX-License-Identifier: Apache-2.0
"""Hostile commands under every means of isolation this machine offers.

None of these commands can run away by itself: each one that forks or loops has an end of its own
that lies beyond the limit under test.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from npuforge.errors import SandboxError
from npuforge.sandbox import MEANS, MIB, Completed, Limits, Means, Sandbox
from npuforge.sandbox.python import NO_DEVICES

WORKING = [name for name in MEANS if Sandbox.using(name).works()]
FILES_PROTECTED = [name for name in WORKING if name in ("bubblewrap", "landlock+seccomp")]
CALLS_FILTERED = [name for name in WORKING if name != "rlimits only"]
PYTHON = os.path.realpath(sys.executable)
PYTHON_FILES = (Path(sys.base_prefix), Path(PYTHON))


@pytest.fixture(params=WORKING)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return Sandbox.using(request.param)


def shell(sandbox: Sandbox, scratch: Path, script: str, limits: Limits | None = None) -> Completed:
    return sandbox.run(
        ["/bin/sh", "-c", script],
        scratch=scratch,
        limits=limits or Limits(wall_s=10, cpu_s=5, processes=8),
    )


def python(sandbox: Sandbox, scratch: Path, code: str, limits: Limits | None = None) -> Completed:
    return sandbox.run(
        [PYTHON, "-I", "-S", "-u", "-c", code],
        scratch=scratch,
        readable=PYTHON_FILES,
        limits=limits or Limits(wall_s=10, cpu_s=5),
    )


def running(marker: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in command and entry.name != str(os.getpid()):
                found.append(entry.name)
    return found


def test_detect_takes_the_strongest_that_works() -> None:
    assert Sandbox.detect().name == WORKING[0]
    assert Sandbox.detect() is Sandbox.detect()


def test_output_status_and_input(sandbox: Sandbox, tmp_path: Path) -> None:
    done = sandbox.run(
        ["/bin/sh", "-c", "cat; echo bad >&2; exit 3"],
        scratch=tmp_path,
        limits=Limits(processes=2),
        stdin=b"given",
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"given", b"bad\n")
    assert done.killed_by is None
    assert not done.timed_out
    assert done.peak_rss > 0


def test_environment_is_scrubbed(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret-value")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    done = sandbox.run(["env"], scratch=tmp_path, env={"GIVEN": "yes"})
    assert b"GIVEN=yes" in done.stdout
    assert {f"{name}=".encode() for name in NO_DEVICES} <= set(done.stdout.splitlines())
    assert b"secret-value" not in done.stdout


def test_whoever_asks_for_the_user_gets_a_name(sandbox: Sandbox, tmp_path: Path) -> None:
    found = python(sandbox, tmp_path, "import getpass; print(getpass.getuser())")
    assert found.stdout == b"sandbox\n"


def test_own_files_can_be_written(sandbox: Sandbox, tmp_path: Path) -> None:
    done = shell(sandbox, tmp_path, "echo a > result; echo b > $TMPDIR/x && cat $TMPDIR/x")
    assert done.stdout == b"b\n"
    assert (tmp_path / "result").read_text() == "a\n"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


@pytest.mark.parametrize("name", FILES_PROTECTED)
def test_other_files_stay_as_they_are(name: Means, tmp_path: Path) -> None:
    scratch, outside = tmp_path / "scratch", tmp_path / "outside"
    scratch.mkdir()
    outside.mkdir()
    victim = outside / "victim"
    victim.write_text("kept")
    victim.chmod(0o600)
    script = (
        f"echo x > {victim}; chmod 777 {victim}; rm {victim}; mv {victim} {scratch}/v;"
        f" ln {victim} {scratch}/hard; mkdir {outside}/new; echo x > /usr/npuforge-escape"
    )
    for readable in ((), (outside,)):
        Sandbox.using(name).run(
            ["/bin/sh", "-c", script],
            scratch=scratch,
            readable=readable,
            limits=Limits(processes=4),
        )
        assert victim.read_text() == "kept"
        assert victim.stat().st_mode & 0o777 == 0o600
        assert victim.stat().st_nlink == 1
        assert [path.name for path in outside.iterdir()] == ["victim"]
    assert not Path("/usr/npuforge-escape").exists()


@pytest.mark.parametrize("name", FILES_PROTECTED)
def test_only_named_files_can_be_read(name: Means, tmp_path: Path) -> None:
    scratch, given, hidden = (tmp_path / part for part in ("scratch", "given", "hidden"))
    for folder in (scratch, given, hidden):
        folder.mkdir()
        (folder / "text").write_text(folder.name)
    done = Sandbox.using(name).run(
        [
            "/bin/sh",
            "-c",
            f"cat {given}/text; cat {hidden}/text /etc/passwd /proc/{os.getpid()}/environ",
        ],
        scratch=scratch,
        readable=[given],
        limits=Limits(processes=2),
    )
    assert done.stdout == b"given"
    assert done.returncode != 0


@pytest.mark.parametrize("name", CALLS_FILTERED)
def test_no_network_and_no_lasting_memory(name: Means, tmp_path: Path) -> None:
    code = (
        "import os\n"
        "import _socket\n"
        "for family in (_socket.AF_INET, _socket.AF_INET6, _socket.AF_UNIX):\n"
        "    try: _socket.socket(family, _socket.SOCK_STREAM); print('open')\n"
        "    except PermissionError: print('refused')\n"
        "try: os.memfd_create('x'); print('open')\n"
        "except PermissionError: print('refused')\n"
    )
    assert python(Sandbox.using(name), tmp_path, code).stdout == b"refused\n" * 4


@pytest.mark.parametrize("name", CALLS_FILTERED)
def test_one_process_means_no_fork_but_threads(name: Means, tmp_path: Path) -> None:
    code = (
        "import _thread, os, time\n"
        "try: os.fork()\n"
        "except BlockingIOError: print('no fork', flush=True)\n"
        "_thread.start_new_thread(lambda: print('thread', flush=True), ())\n"
        "time.sleep(0.2)\n"
    )
    assert python(Sandbox.using(name), tmp_path, code).stdout == b"no fork\nthread\n"


@pytest.mark.parametrize("name", CALLS_FILTERED)
def test_other_processes_cannot_be_signalled(name: Means, tmp_path: Path) -> None:
    code = (
        "import os\n"
        f"for target in ({os.getpid()}, os.getppid(), -1):\n"
        "    try: os.kill(target, 0); print(target == os.getppid() or 'reached')\n"
        "    except OSError: print('refused')\n"
        "os.abort()\n"
    )
    done = python(Sandbox.using(name), tmp_path, code)
    # In a pid namespace the parent is the namespace's own first process, and -1 means nobody else.
    assert done.stdout.splitlines()[0] == b"refused"
    if name != "bubblewrap":
        assert b"refused" in done.stdout.splitlines()[1]
    assert done.killed_by == "SIGABRT"


@pytest.mark.parametrize("version", [1, 3, 5])
def test_older_landlock_versions_hold_too(version: int, tmp_path: Path) -> None:
    if "landlock+seccomp" not in WORKING:
        pytest.skip("no Landlock here")
    sandbox = Sandbox("landlock+seccomp", version)
    scratch, victim = tmp_path / "scratch", tmp_path / "victim"
    scratch.mkdir()
    victim.write_text("kept")
    code = (
        "import os\n"
        f"for action in (lambda: os.truncate('{victim}', 0), lambda: open('{victim}', 'w'),\n"
        f"               lambda: os.kill({os.getpid()}, 0), lambda: os.setsid()):\n"
        "    try: action(); print('done')\n"
        "    except PermissionError: print('refused')\n"
        "open('own', 'w').write('x')\n"
        "os.abort()\n"
    )
    done = python(sandbox, scratch, code)
    assert done.stdout == b"refused\n" * 4
    assert done.killed_by == "SIGABRT"
    assert victim.read_text() == "kept"
    assert (scratch / "own").read_text() == "x"


def test_wall_time(sandbox: Sandbox, tmp_path: Path) -> None:
    started = time.monotonic()
    done = shell(sandbox, tmp_path, "sleep 20", Limits(wall_s=0.3, processes=3))
    assert (done.killed_by, done.timed_out) == ("wall time", True)
    assert time.monotonic() - started < 3


def test_cpu_time(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "import time\nwhile time.process_time() < 8: pass"
    done = python(sandbox, tmp_path, code, Limits(cpu_s=1, wall_s=300))
    assert (done.killed_by, done.timed_out) == ("cpu time", True)


def test_memory(sandbox: Sandbox, tmp_path: Path) -> None:
    code = (
        "import time\nkept = []\n"
        "for _ in range(200):\n"
        "    kept.append(bytearray(b'x' * 5_000_000)); time.sleep(0.002)\n"
    )
    done = python(sandbox, tmp_path, code, Limits(memory_bytes=150 * MIB))
    assert (done.returncode, done.killed_by) == (-9, "memory")
    assert 100 * MIB < done.peak_rss < 500 * MIB


def test_reserved_memory_is_free(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "import mmap\nm = mmap.mmap(-1, 1 << 36, flags=0x4022)\nm[1 << 35] = 7\nprint('ok')"
    done = python(sandbox, tmp_path, code, Limits(memory_bytes=64 * MIB))
    assert done.stdout == b"ok\n"


def test_output_flood(sandbox: Sandbox, tmp_path: Path) -> None:
    done = shell(
        sandbox,
        tmp_path,
        "head -c 100000000 /dev/zero; sleep 20",
        Limits(output_bytes=100_000, processes=3),
    )
    assert done.killed_by == "output"
    assert len(done.stdout) == 100_000


def test_file_size(sandbox: Sandbox, tmp_path: Path) -> None:
    done = sandbox.run(
        ["dd", "if=/dev/zero", "of=big", "bs=1M", "count=20"],
        scratch=tmp_path,
        limits=Limits(file_bytes=MIB),
    )
    assert done.killed_by == "file size"
    assert (tmp_path / "big").stat().st_size <= MIB


def test_too_many_processes(sandbox: Sandbox, tmp_path: Path) -> None:
    marker = f"6{os.getpid()}"
    script = f"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep {marker} & done; wait"
    done = shell(sandbox, tmp_path, script, Limits(processes=6, wall_s=10))
    assert done.killed_by == "processes"
    assert running(marker) == []


def test_background_processes_end_with_the_command(sandbox: Sandbox, tmp_path: Path) -> None:
    marker = f"7{os.getpid()}"
    script = f"setsid sleep {marker} & (sleep {marker} &) ; sleep {marker} & echo started"
    done = shell(sandbox, tmp_path, script)
    assert (done.returncode, done.stdout) == (0, b"started\n")
    assert running(marker) == []


def test_crash_names_its_signal(sandbox: Sandbox, tmp_path: Path) -> None:
    done = shell(sandbox, tmp_path, "kill -SEGV $$")
    assert (done.returncode, done.killed_by) == (-11, "SIGSEGV")


def test_missing_program_is_one_line(sandbox: Sandbox, tmp_path: Path) -> None:
    if sandbox.name == "bubblewrap":
        done = sandbox.run(["/no/such/program"], scratch=tmp_path)
        assert done.returncode != 0
        assert b"/no/such/program" in done.stderr
    else:
        with pytest.raises(SandboxError, match="No such file"):
            sandbox.run(["/no/such/program"], scratch=tmp_path)
    with pytest.raises(SandboxError, match="no program named"):
        sandbox.run(["npuforge-no-such-program"], scratch=tmp_path)


def test_temporary_folders_are_removed(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, temporary = tmp_path / "scratch", tmp_path / "temporary"
    scratch.mkdir()
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    shell(sandbox, scratch, "echo x > $TMPDIR/left; mkdir $TMPDIR/more")
    assert list(temporary.iterdir()) == []
