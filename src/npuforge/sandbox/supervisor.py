# SPDX-License-Identifier: Apache-2.0
"""The process between npuforge and a sandboxed command; never imported by the package.

`sandbox.py` sends the code of `confinement.py`, `usage.py` and this file to a bare `python -I -S`
over a control socket; there they run in one namespace, in this order, and `main(socket, job)` is
called. It stays alive beside the command and owns what must not depend on the command's good will:

1. become a child subreaper, so that a process the command detaches still ends up below us;
2. fork the command: resource limits, no capabilities, no_new_privs, Landlock, seccomp, exec, or,
   in an interpreter that has loaded what the command needs, its script (`preloaded_main.py`);
3. sample what the tree uses every few milliseconds (`usage.py`), stop at the wall-time limit, at
   the caller's word, or when the caller is gone (the control socket closes);
4. kill whatever is left below us until nothing is, and answer with one marshalled result. Process
   groups are killed as a whole, which no fork can outrun (the call filter keeps the command in one
   group).

It imports only what starts in a few milliseconds (no json, signal, subprocess), and nothing of the
package. The command never holds the control socket.
"""

import _signal
import marshal
import os
import resource
import select
import time

TYPE_CHECKING = False  # parts of one program, run in one namespace: see `sandbox.py`
if TYPE_CHECKING:
    from npuforge.sandbox.confinement import SetupError, confine, libc
    from npuforge.sandbox.usage import Usage, descendants

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL = 9
_SAMPLE_S = (0.004, 0.020)  # at first, after half a second
_MOST_LISTED = 256  # a process with more threads is killed before its children are looked for
_UMASK = 0o077


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
        libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            raise SetupError("the supervisor is gone")
        for target, source in enumerate(job["fds"]):
            os.dup2(source, target)
            os.set_inheritable(source, False)
        for ignored_by_python in (_signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(ignored_by_python, _signal.SIG_DFL)
        _limit(job)
        os.umask(_UMASK)
        os.chdir(job["cwd"])
        confine(job)
        if "become" not in job:
            os.execve(job["argv"][0], job["argv"], job["env"])
        os.close(report)  # as a program that begins would
        job["become"](job["argv"], job["env"])
    except (OSError, SetupError) as error:
        os.write(report, str(error).encode()[:500])
    finally:
        os._exit(127)


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
        left, _ = descendants(me, _MOST_LISTED)
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


def _watch(
    job: dict,  # type: ignore[type-arg]
    usage: "Usage",
    command: int,
    control: int,
) -> tuple[str | None, int | None]:
    """Wait for the command or for a reason to stop it.

    Return the reason, and the wait status if the command ended by itself.
    """
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
            return "wall time", None
        pause = min(left, _SAMPLE_S[elapsed > 0.5])
        ready = [number for number, _ in poll.poll(pause * 1000)]
        if control in ready:
            # Empty: the caller died. Otherwise the byte says it has had enough output.
            return ("output" if os.read(control, 1) else "caller gone"), None
        ended = _reap()
        if command in ended:
            return None, ended[command]
        reason = usage.exceeded(me)
        if reason is not None:
            return reason, None


def main(control: int, job: dict) -> None:  # type: ignore[type-arg]
    os.set_inheritable(control, False)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    me = os.getpid()
    report_in, report_out = os.pipe()
    usage = Usage(job)
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
    if not complaint:
        reason, status = _watch(job, usage, command, control)
    wall = time.monotonic() - started
    ended = _kill_all()
    if status is None:
        status = ended.get(command, _SIGKILL)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "complaint": complaint,
        "reason": reason or usage.exceeded_at_end(),
        "status": os.waitstatus_to_exitcode(status),
        "peak_rss": max(usage.peak_resident, spent.ru_maxrss * 1024),
        "wall_s": wall,
    }
    try:
        os.write(control, marshal.dumps(result))
    except OSError:
        pass  # the caller is gone; everything below us is dead, which is what matters
