# SPDX-License-Identifier: Apache-2.0
"""Give up rights for good: capabilities, files (Landlock) and system calls (seccomp).

A part of the supervisor (`supervisor.py` says how it gets there); it imports as little.
"""

import ctypes
import os

_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_NR_CAPSET = {"x86_64": 126, "aarch64": 91}
_NR_LANDLOCK_CREATE, _NR_LANDLOCK_ADD, _NR_LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_RULE_PATH = 1
_CAPABILITY_VERSION_3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


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


class SetupError(Exception):
    pass


def _check(result: int, what: str) -> int:
    if result < 0:
        raise SetupError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _syscall(number: int, *args: object) -> int:
    return int(libc.syscall(ctypes.c_long(number), *args))


def _drop_capabilities() -> None:
    """A root caller's command must not keep what root may do (no effect for other users)."""
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
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
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(attr), 0, 0), "seccomp"
    )


def confine(job: dict) -> None:  # type: ignore[type-arg]
    """Confine this process and all that it starts, as the job says."""
    if job["confine"]:
        _drop_capabilities()
        _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if job["landlock"] is not None:
        own = f"/proc/{os.getpid()}"
        ruleset, rules = job["landlock"]
        _restrict_files(
            ruleset, [(own if path == "/proc/self" else path, access) for path, access in rules]
        )
    if job["seccomp"] is not None:
        _filter_calls(*job["seccomp"])
