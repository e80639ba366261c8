# SPDX-License-Identifier: Apache-2.0
"""The process between npuforge and a sandboxed command; never imported by the package.

`sandbox.py` sends this file's code to a bare `python -I -S` over a control socket and calls
`main(socket, job)` there. It stays alive beside the command and owns what must not depend on the
command's good will:

1. become a child subreaper, so that a process the command detaches still ends up below us;
2. fork the command: resource limits, no capabilities, no_new_privs, Landlock, seccomp, exec, or,
   in an interpreter that has loaded what the command needs, its script (`preloaded_main.py`);
3. sample the tree's memory and process count every few milliseconds, stop at the wall-time limit,
   at the caller's word, or when the caller is gone (the control socket closes);
4. kill whatever is left below us until nothing is, and answer with one marshalled result. Process
   groups are killed as a whole, which no fork can outrun (the call filter keeps the command in one
   group).

It imports only what starts in a few milliseconds (no json, signal, subprocess), and nothing of the
package. The command never holds the control socket.
"""

import _signal
import ctypes
import marshal
import os
import resource
import select
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_SECCOMP_MODE_FILTER = 2
_NR_CAPSET = {"x86_64": 126, "aarch64": 91}
_NR_LANDLOCK_CREATE, _NR_LANDLOCK_ADD, _NR_LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_RULE_PATH = 1
_CAPABILITY_VERSION_3 = 0x20080522
_SIGKILL = 9
_SAMPLE_S = (0.004, 0.020)  # at first, after half a second
_PAGE = os.sysconf("SC_PAGE_SIZE")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


class _RulesetAttr(ctypes.Structure):
    _fields_ = [
        ("fs", ctypes.c_uint64),
        ("net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _PathAttr(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("fd", ctypes.c_int32)]


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


class _SetupError(Exception):
    pass


def _check(result: int, what: str) -> int:
    if result < 0:
        raise _SetupError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _syscall(number: int, *args: object) -> int:
    return int(_libc.syscall(ctypes.c_long(number), *args))


def _drop_capabilities() -> None:
    """A root caller's command must not keep what root may do (no effect for other users)."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    number = _NR_CAPSET.get(os.uname().machine)
    if number is not None:
        _check(_syscall(number, header, nothing), "capset")


def _restrict_files(ruleset: tuple[int, int, int, int], rules: list[tuple[str, int]]) -> None:
    """Apply Landlock: `ruleset` is (size, fs, net, scoped), `rules` pairs of path and access."""
    size, fs, net, scoped = ruleset
    attr = _RulesetAttr(fs, net, scoped)
    handle = _check(
        _syscall(_NR_LANDLOCK_CREATE, ctypes.byref(attr), ctypes.c_size_t(size), 0), "landlock"
    )
    for path, access in rules:
        try:
            target = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # a readable path that does not exist needs no rule
        rule = _PathAttr(access, target)
        _check(
            _syscall(_NR_LANDLOCK_ADD, handle, _LANDLOCK_RULE_PATH, ctypes.byref(rule), 0),
            f"landlock rule for {path}",
        )
        os.close(target)
    _check(_syscall(_NR_LANDLOCK_RESTRICT, handle, 0), "landlock restrict")
    os.close(handle)


def _filter_calls(program: bytes, pid_slots: tuple[int, ...]) -> None:
    steps = bytearray(program)
    for slot in pid_slots:
        steps[slot : slot + 4] = os.getpid().to_bytes(4, "little")
    code = bytes(steps)
    attr = _FilterProgram(len(code) // 8, code)
    _check(
        _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(attr), 0, 0), "seccomp"
    )


def _limit(job: dict) -> None:  # type: ignore[type-arg]
    cpu = max(1, round(job["cpu_s"] + 0.499))
    for what, soft, hard in (
        (resource.RLIMIT_CPU, cpu, cpu + 2),
        (resource.RLIMIT_FSIZE, job["file_bytes"], job["file_bytes"]),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, 1024, 1024),
    ):
        ceiling = resource.getrlimit(what)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(what, (soft, hard))
    try:
        with open("/proc/self/oom_score_adj", "w") as adjustment:
            adjustment.write("1000")  # if memory runs out all the same, this goes first
    except OSError:
        pass


def _become_command(job: dict, supervisor: int, report: int) -> None:  # type: ignore[type-arg]
    """In the forked child: confine ourselves and exec; a failure is written to `report`."""
    try:
        os.setsid()
        _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            raise _SetupError("the supervisor is gone")
        for target, source in enumerate(job["fds"]):
            os.dup2(source, target)
            os.set_inheritable(source, False)
        for ignored_by_python in (_signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(ignored_by_python, _signal.SIG_DFL)
        _limit(job)
        os.chdir(job["cwd"])
        if job["confine"]:
            _drop_capabilities()
            _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if job["landlock"] is not None:
            own = f"/proc/{os.getpid()}"
            ruleset, rules = job["landlock"]
            _restrict_files(
                ruleset, [(own if path == "/proc/self" else path, access) for path, access in rules]
            )
        if job["seccomp"] is not None:
            _filter_calls(*job["seccomp"])
        if "become" not in job:
            os.execve(job["argv"][0], job["argv"], job["env"])
        os.close(report)  # as a program that begins would
        job["become"](job["argv"], job["env"])
    except (OSError, _SetupError) as error:
        os.write(report, str(error).encode()[:500])
    finally:
        os._exit(127)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as listing:
                found += [int(word) for word in listing.read().split()]
    except OSError:
        pass
    return found


def _children_by_scan(pid: int) -> list[int]:
    """For kernels built without the `children` listing."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as line:
                    parent = line.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == pid:
                found.append(int(name))
    return found


_LISTED = os.path.exists("/proc/thread-self/children")


def _descendants(pid: int) -> list[int]:
    children = _children if _LISTED else _children_by_scan
    found = children(pid)
    for child in found:  # grows while it is walked
        found += children(child)
    return found


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as sizes:
            return int(sizes.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _reap() -> dict[int, int]:
    """Collect ended children; maps pid to wait status."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def _kill_all() -> dict[int, int]:
    """Kill everything below us until nothing is left; maps pid to wait status."""
    me = os.getpid()
    ended: dict[int, int] = {}
    while True:
        left = _descendants(me)
        groups = set()
        for pid in left:
            try:
                groups.add(os.getpgid(pid))
            except OSError:
                pass
        for group in groups - {os.getpgid(0)}:
            try:
                os.killpg(group, _SIGKILL)
            except OSError:
                pass
        ended.update(_reap())
        if not left:
            return ended
        time.sleep(0.0005)


def _watch(job: dict, command: int, control: int) -> tuple[str | None, int | None, int]:  # type: ignore[type-arg]
    """Wait for the command or for a reason to stop it.

    Returns the reason, the wait status when it ended by itself, and the largest resident size seen.
    """
    peak = 0
    started = time.monotonic()
    poll = select.poll()
    try:
        poll.register(os.pidfd_open(command), select.POLLIN)
    except OSError:
        pass  # an old kernel: the end is then seen at the next sample
    poll.register(control, select.POLLIN | select.POLLHUP)
    me = os.getpid()
    while True:
        elapsed = time.monotonic() - started
        left = job["wall_s"] - elapsed
        if left <= 0:
            return "wall time", None, peak
        pause = min(left, _SAMPLE_S[elapsed > 0.5])
        ready = [number for number, _ in poll.poll(pause * 1000)]
        if control in ready:
            # Empty: the caller died. Otherwise the byte says it has had enough output.
            return ("output" if os.read(control, 1) else "caller gone"), None, peak
        ended = _reap()
        if command in ended:
            return None, ended[command], peak
        tree = _descendants(me)
        if len(tree) > job["processes"] + job["own_processes"]:
            return "processes", None, peak
        sizes = [_resident(pid) for pid in tree]
        peak = max(peak, *sizes, 0)
        if sum(sizes) > job["memory_bytes"]:
            return "memory", None, peak


def main(control: int, job: dict) -> None:  # type: ignore[type-arg]
    os.set_inheritable(control, False)
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    me = os.getpid()
    report_in, report_out = os.pipe()
    started = time.monotonic()
    command = os.fork()
    if command == 0:
        _become_command(job, me, report_out)
    os.close(report_out)
    for number in job["fds"]:
        os.close(number)
    complaint = os.read(report_in, 500).decode(errors="replace")
    reason: str | None = None
    status: int | None = None
    peak = 0
    if not complaint:
        reason, status, peak = _watch(job, command, control)
    wall = time.monotonic() - started
    ended = _kill_all()
    if status is None:
        status = ended.get(command, _SIGKILL)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "complaint": complaint,
        "reason": reason,
        "status": os.waitstatus_to_exitcode(status),
        "peak_rss": max(peak, usage.ru_maxrss * 1024),
        "wall_s": wall,
    }
    try:
        os.write(control, marshal.dumps(result))
    except OSError:
        pass  # the caller is gone; everything below us is dead, which is what matters
