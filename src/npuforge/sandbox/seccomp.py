# SPDX-License-Identifier: Apache-2.0
"""The system-call filter: a classic BPF program for x86-64 and aarch64, built from a table.

`syscalls.csv` names each call we care about with its number and a *group*; the groups decide:

    network, other-process, system, lasting-memory   refused (EPERM): out of the sandbox's business;
                 sendmsg is among them, as a file on its way through a socket pair is nobody's
    mmap         refused for anonymous shared memory: it stays when the pages that show it are gone
    attributes   refused: Landlock does not govern chmod, chown, xattrs and time stamps
    truncate     refused where Landlock is too old to govern it (before its third version)
    group        refused (leaving the process group), so that one signal reaches every process;
                 not needed in a pid namespace
    fork         refused (EAGAIN) when one process is the limit
    clone        new namespaces always refused; a new process refused when one is the limit
    clone3       "not implemented": its flags lie in memory a filter cannot read, and the C library
                 falls back to clone
    self         only on the caller itself, named 0 (limits, processors)
    fcntl, ioctl refused where they name the process that a file's signals go to: any one would do
    signal       only to the caller itself, where nothing better (a pid namespace, Landlock's
                 signal scope) keeps signals inside

Everything else is allowed: the filter narrows the kernel's surface, Landlock or the mount namespace
decides about files.
"""

from __future__ import annotations

import csv
import errno
import platform
import struct
from dataclasses import dataclass
from functools import cache
from importlib import resources

_LD_ABS, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_OFFSET_NR, _OFFSET_ARCH, _OFFSET_ARG0, _OFFSET_ARG3 = 0, 4, 16, 40
_OFFSET_ARG1 = 24
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_CLONE_THREAD = 0x00010000
# NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWNS
_CLONE_NAMESPACES = 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x60000000 | 0x00020000
_SIGNALLING = {
    "fcntl": (8, 10, 15),  # F_SETOWN, F_SETSIG, F_SETOWN_EX
    "ioctl": (0x8901, 0x8902),  # FIOSETOWN, SIOCSPGRP
}
_REFUSED = frozenset({"network", "other-process", "system", "lasting-memory", "attributes"})


@dataclass(frozen=True, slots=True)
class Filter:
    """A BPF program; the supervisor writes the child's pid into the `pid_slots` (byte offsets)."""

    program: bytes
    pid_slots: tuple[int, ...]


@cache
def _table(machine: str) -> tuple[tuple[int, str], ...]:
    text = resources.files(__package__).joinpath("syscalls.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple((int(row[machine]), row["group"]) for row in rows if row[machine])


def supported() -> bool:
    """Whether a filter can be built for this machine's architecture."""
    return platform.machine() in _ARCH


@cache
def build(
    *, single_process: bool, guard_truncate: bool, guard_signals: bool, one_group: bool
) -> Filter:
    """The filter for this machine (callers ask `supported` first)."""
    machine = platform.machine()
    code: list[tuple[int, int, int, int]] = []
    pid_slots: list[int] = []

    def emit(op: int, k: int, if_true: int = 0, if_false: int = 0) -> None:
        code.append((op, if_true, if_false, k))

    def refuse(error: int) -> None:
        emit(_RET, _ERRNO | error)

    emit(_LD_ABS, _OFFSET_ARCH)
    emit(_JEQ, _ARCH[machine], 1, 0)
    emit(_RET, _KILL)
    emit(_LD_ABS, _OFFSET_NR)
    if machine == "x86_64":
        emit(_JGE, _X32_BIT, 0, 1)
        emit(_RET, _KILL)
    refused = set(_REFUSED)
    refused |= {"truncate"} if guard_truncate else set()
    refused |= {"group"} if one_group else set()
    for number, group in _table(machine):
        # Each block is: skip over the body unless the number matches; every body returns.
        if group in refused:
            emit(_JEQ, number, 0, 1)
            refuse(errno.EPERM)
        elif group == "clone3":
            emit(_JEQ, number, 0, 1)
            refuse(errno.ENOSYS)
        elif group == "fork" and single_process:
            emit(_JEQ, number, 0, 1)
            refuse(errno.EAGAIN)
        elif group == "clone":
            emit(_JEQ, number, 0, 6 if single_process else 4)
            emit(_LD_ABS, _OFFSET_ARG0)
            emit(_JSET, _CLONE_NAMESPACES, 0, 1)
            refuse(errno.EPERM)
            if single_process:
                emit(_JSET, _CLONE_THREAD, 1, 0)
                refuse(errno.EAGAIN)
            emit(_RET, _ALLOW)
        elif group in _SIGNALLING:
            values = _SIGNALLING[group]
            emit(_JEQ, number, 0, 3 + len(values))
            emit(_LD_ABS, _OFFSET_ARG1)
            for left, value in enumerate(reversed(values)):
                emit(_JEQ, value, len(values) - left, 0)
            emit(_RET, _ALLOW)
            refuse(errno.EPERM)
        elif group == "mmap":
            emit(_JEQ, number, 0, 5)
            emit(_LD_ABS, _OFFSET_ARG3)
            emit(_JSET, _MAP_ANONYMOUS, 0, 2)
            emit(_JSET, _MAP_SHARED, 0, 1)
            refuse(errno.EPERM)
            emit(_RET, _ALLOW)
        elif group == "self" or (group == "signal" and guard_signals):
            emit(_JEQ, number, 0, 4)
            emit(_LD_ABS, _OFFSET_ARG0)
            if group == "signal":
                pid_slots.append(8 * len(code) + 4)
            emit(_JEQ, 0, 0, 1)
            emit(_RET, _ALLOW)
            refuse(errno.EPERM)
    emit(_RET, _ALLOW)
    return Filter(b"".join(struct.pack("<HBBI", *step) for step in code), tuple(pid_slots))
