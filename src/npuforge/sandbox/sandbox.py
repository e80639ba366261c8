# SPDX-License-Identifier: Apache-2.0
"""Run a command isolated and limited, with the strongest means this machine offers.

The means, strongest first; `Sandbox.strongest` is the first that works in a trial run, and
`Sandbox.detect` refuses the last two unless the user permits them (`means.py`):

    bubblewrap         namespaces (files, network, processes, ipc) through `bwrap`, and seccomp
    landlock+seccomp   Landlock rules on files and a system-call filter, both unprivileged
    seccomp            the system-call filter alone: no network, but files are not protected
    rlimits only       resource limits, a clean environment and clean-up of processes

All four go through `supervisor.py`, which enforces the limits and leaves no process behind. The
PyPI package sandlock (0.9.0) was tried in the place of our own launcher and not taken: it needs
Landlock's sixth version (Linux 6.12), keeps unbounded output in memory, lets chmod through to files
outside, and reports neither CPU-time limits nor peak memory.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from npuforge.errors import SandboxError, UsageError
from npuforge.sandbox import layout, seccomp
from npuforge.sandbox.limits import Completed, Limits
from npuforge.sandbox.means import MEANS, WEAK, Means, permitted
from npuforge.sandbox.preloaded import INTERPRETERS, SUPERVISOR
from npuforge.sandbox.python import NO_DEVICES
from npuforge.scratch import scratch_folder
from npuforge.untrusted import open_folder

# The supervisor's start is most of a run's fixed cost: it gets its code compiled, over the socket,
# and starts as the base interpreter, sparing the virtual environment's set-up.
_INTERPRETER = str(getattr(sys, "_base_executable", None) or sys.executable)
_BOOTSTRAP = """
import marshal, os, sys
control = int(sys.argv[1])
size = int.from_bytes(os.read(control, 8), "little")
data = b""
while len(data) < size:
    piece = os.read(control, size - len(data))
    if not piece:
        os._exit(1)
    data += piece
parts, job = marshal.loads(data)
scope = {"__name__": "supervisor"}
for part in parts:
    exec(part, scope)
scope["main"](control, job)
os._exit(0)
"""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
REMEDY = (
    "install bubblewrap, or use Linux 5.13 or newer with Landlock; --isolation weak runs it all the"
    " same, and its verdicts are no reward"
)
_NR_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION_FLAG = 1
_MARGIN_S = 120.0  # for a supervisor to start and to kill, on a machine that is busy
_BWRAP_PROCESSES = 2  # its monitor outside and its init inside
_BY_SIGNAL = {signal.SIGXCPU: "cpu time", signal.SIGXFSZ: "file size"}


@cache
def landlock_abi() -> int:
    """Version of Landlock the kernel offers; 0 for none."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    version = libc.syscall(
        ctypes.c_long(_NR_LANDLOCK_CREATE_RULESET),
        None,
        ctypes.c_size_t(0),
        ctypes.c_uint32(_LANDLOCK_VERSION_FLAG),
    )
    return max(0, int(version))


@cache
def _supervisor_code() -> list[CodeType]:
    return [compile(part.read_text("utf-8"), str(part), "exec") for part in SUPERVISOR]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """One means of isolation; `name` is what a verdict reports as `isolation`."""

    name: Means
    landlock_version: int = 0

    @staticmethod
    def detect() -> Sandbox:
        """Return the strongest means that works here; UsageError if it may not be used."""
        found = _strongest()
        if not found.protects_files and permitted() != "weak":
            raise UsageError(
                f"nothing here keeps strangers' code from your files (only: {found.name}); {REMEDY}"
            )
        return found

    @staticmethod
    def strongest() -> Sandbox:
        """Return the strongest means that works here, permitted or not (found once per process)."""
        return _strongest()

    @property
    def protects_files(self) -> bool:
        """Tell whether a command reaches no file but those that it is given."""
        return self.name not in WEAK

    @staticmethod
    def using(name: Means) -> Sandbox:
        """The means of that name, untried."""
        return Sandbox(name, landlock_abi() if name == "landlock+seccomp" else 0)

    def works(self) -> bool:
        """Whether a trivial command runs under this means."""
        if self.name == "bubblewrap" and shutil.which("bwrap", path=_PATH) is None:
            return False
        if self.name == "landlock+seccomp" and self.landlock_version == 0:
            return False
        if self.name != "rlimits only" and not seccomp.supported():
            return False
        program = shutil.which("true", path=_PATH)
        if program is None:
            return False
        with scratch_folder("work") as scratch:
            try:
                done = self.run([program], scratch=scratch, limits=Limits(wall_s=10))
            except SandboxError:
                return False
        return done.returncode == 0

    def run(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        scratch: Path,
        readable: Sequence[Path] = (),
        opened: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        limits: Limits | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        cwd: Path | None = None,
        preloaded: bool = False,
        until: int | None = None,
    ) -> Completed:
        """Run `argv` in `cwd` (default: `scratch`) with nothing of our environment but `env`.

        `opened` names files and folders of strangers: a file is shown with the folder around it,
        as `open_folder.py` says.
        `writable` names folders beside `scratch` it may change: for a trusted tool's own store.
        `preloaded` says that it is our Python with a script that imports torch. The command is
        stopped when the descriptor `until` can be read.
        Only a command that cannot be started raises (`SandboxError`); whatever the command itself
        does ends as a `Completed`.
        """
        limits = limits or Limits()
        scratch = Path(os.path.abspath(scratch))
        words = [os.fspath(word) for word in argv]
        words[0] = _program(words[0])
        shown = open_folder.opened(opened)
        readable = [*readable, *shown.readable]
        # A folder of its own beside the scratch folder, so that the command's temporary files
        # never mix with what the caller looks for there.
        with scratch_folder("tmp") as private:
            job: dict[str, Any] = {
                "env": {
                    "PATH": _PATH,
                    "HOME": os.fspath(scratch),
                    "TMPDIR": os.fspath(private),
                    "LANG": "C.UTF-8",
                    "LOGNAME": "sandbox",  # whoever asks for the name finds no /etc/passwd
                    **NO_DEVICES,
                    **(env or {}),
                },
                "cwd": os.fspath(cwd or scratch),
                "cpu_s": float(limits.cpu_s),
                "wall_s": float(limits.wall_s),
                "memory_bytes": limits.memory_bytes,
                "file_bytes": limits.file_bytes,
                "disk_bytes": limits.disk_bytes,
                "files": limits.files,
                "threads": limits.threads,
                "watched": [os.fspath(folder) for folder in (scratch, *writable, private)],
                "processes": limits.processes,
                "own_processes": 0,
                "confine": self.name != "bubblewrap",
                "landlock": None,
                "seccomp": None,
            }
            filtered = self._filter(limits)
            if self.name == "landlock+seccomp":
                job["landlock"] = layout.landlock(
                    self.landlock_version, readable, (scratch, *writable, private), shown.listed
                )
            if self.name != "bubblewrap":
                if filtered is not None:
                    job["seccomp"] = (filtered.program, filtered.pid_slots)
                return _supervise(
                    job, words, stdin, limits.output_bytes, preloaded=preloaded, until=until
                )
            with tempfile.TemporaryFile() as program:
                program.write(filtered.program if filtered else b"")
                program.seek(0)
                options = layout.bubblewrap(
                    readable,
                    (*writable, scratch, private),
                    Path(job["cwd"]),
                    seccomp_fd=program.fileno() if filtered else None,
                )
                job["own_processes"] = _BWRAP_PROCESSES
                job["cwd"] = "/"
                return _supervise(
                    job,
                    [_program("bwrap"), *options, *words],
                    stdin,
                    limits.output_bytes,
                    inherited=(program.fileno(),),
                    signals_as_status=True,
                    until=until,
                )

    def _filter(self, limits: Limits) -> seccomp.Filter | None:
        if self.name == "rlimits only" or not seccomp.supported():
            return None
        namespaced = self.name == "bubblewrap"
        return seccomp.build(
            single_process=limits.processes <= 1,
            guard_truncate=not namespaced and self.landlock_version < 3,
            guard_signals=not namespaced and self.landlock_version < 6,
            one_group=not namespaced,
        )


@cache
def _strongest() -> Sandbox:
    for name in MEANS:
        candidate = Sandbox.using(name)
        if candidate.works():
            return candidate
    raise SandboxError("no command can be started, not even with resource limits only")


def _program(name: str) -> str:
    found = name if "/" in name else shutil.which(name, path=_PATH)
    if found is None:
        raise SandboxError(f"no program named {name}")
    return os.path.abspath(found)


def _supervise(
    job: dict[str, Any],
    argv: list[str],
    stdin: bytes | None,
    output_bytes: int,
    *,
    inherited: tuple[int, ...] = (),
    signals_as_status: bool = False,
    preloaded: bool = False,
    until: int | None = None,
) -> Completed:
    """Start the supervisor with `job`, collect output, and turn its result into a `Completed`."""
    interpreter = INTERPRETERS.next() if preloaded else None
    ours, theirs = socket.socketpair()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    collected: dict[int, bytearray] = {out_read: bytearray(), err_read: bytearray()}
    with ours, tempfile.TemporaryFile() as source:
        source.write(stdin or b"")
        source.seek(0)
        job["argv"] = argv
        job["fds"] = [source.fileno(), out_write, err_write]
        supervisor: subprocess.Popen[bytes] | None = None
        try:
            if interpreter is None or not interpreter.supervise(theirs, job, job["fds"]):
                supervisor = _started(theirs.fileno(), *job["fds"], *inherited)
        except OSError as error:
            os.close(out_read)
            os.close(err_read)
            raise SandboxError(f"cannot start the supervisor: {error}") from error
        finally:
            theirs.close()
            os.close(out_write)
            os.close(err_write)
        try:
            if supervisor is not None:
                data = marshal.dumps((_supervisor_code(), job))
                ours.sendall(len(data).to_bytes(8, "little") + data)
            deadline = time.monotonic() + job["wall_s"] + _MARGIN_S
            answer = _converse(ours, collected, output_bytes, until, deadline)
        finally:
            ours.close()  # an interrupted caller: the supervisor sees this and kills the tree
            os.close(out_read)
            os.close(err_read)
            if supervisor is not None:
                _await_end(supervisor)
    if not answer:  # a confined command cannot signal its parent: the machine is at fault
        raise SandboxError(f"the supervisor of {Path(argv[0]).name} was lost; is memory short?")
    result = marshal.loads(answer)
    if result["complaint"]:
        raise SandboxError(f"cannot start {Path(argv[0]).name}: {result['complaint']}")
    returncode = int(result["status"])
    if signals_as_status and returncode > 128:
        returncode = 128 - returncode
    killed_by: str | None = result["reason"]
    if killed_by is None and returncode < 0:
        killed_by = _signal_name(-returncode)
    return Completed(
        returncode=returncode,
        stdout=bytes(collected[out_read]),
        stderr=bytes(collected[err_read]),
        timed_out=killed_by in ("wall time", "cpu time"),
        killed_by=killed_by,
        peak_rss=result["peak_rss"],
        wall_s=result["wall_s"],
    )


def _started(control: int, *files: int) -> subprocess.Popen[bytes]:
    """A supervisor that waits for its code and its job."""
    return subprocess.Popen(
        [_INTERPRETER, "-I", "-S", "-c", _BOOTSTRAP, str(control)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        pass_fds=(control, *files),
        start_new_session=True,
    )


def _await_end(supervisor: subprocess.Popen[bytes]) -> None:
    """Wait until the supervisor, which knows that the caller is gone, has killed and ended."""
    try:
        supervisor.wait(_MARGIN_S)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()


def _converse(
    control: socket.socket,
    collected: dict[int, bytearray],
    limit: int,
    until: int | None,
    deadline: float,
) -> bytes:
    """Read both outputs up to `limit` bytes, and return the supervisor's answer, if it comes."""
    answer = b""
    room = limit
    with selectors.DefaultSelector() as selector:
        for descriptor in (control.fileno(), *collected):
            selector.register(descriptor, selectors.EVENT_READ)
        if until is not None:
            selector.register(until, selectors.EVENT_READ)
        while selector.get_map().keys() - {until}:
            events = selector.select(deadline - time.monotonic())
            if not events:
                raise SandboxError("the supervisor does not answer; is the machine too busy?")
            for key, _ in events:
                if key.fd == until:
                    selector.unregister(until)
                    control.sendall(b"o")
                    continue
                piece = _read_piece(key.fd)
                if not piece:
                    selector.unregister(key.fd)
                elif key.fd == control.fileno():
                    answer += piece
                else:
                    if 0 <= room < len(piece):
                        control.sendall(b"o")
                    collected[key.fd] += piece[: max(room, 0)]
                    room -= len(piece)
    return answer


def _read_piece(descriptor: int) -> bytes:
    """Read what there is; nothing where the other end died with words of ours unread."""
    try:
        return os.read(descriptor, 1 << 16)
    except ConnectionResetError:
        return b""


def _signal_name(number: int) -> str:
    try:
        known = signal.Signals(number)
    except ValueError:
        return f"signal {number}"
    return _BY_SIGNAL.get(known, known.name)
