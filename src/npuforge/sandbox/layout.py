# SPDX-License-Identifier: Apache-2.0
"""What a sandboxed command sees of the file system, as Landlock rules and as bubblewrap options.

A command reads the system's programs and libraries, the paths it is given, and writes its scratch
folder and a private temporary folder. Home directories, /etc beyond the dynamic linker's files, and
other processes' entries in /proc are out of sight (bubblewrap) or out of reach (Landlock).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/sys/devices/system/cpu",
)
_KERNEL_FILES = (
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",  # who may write it can map shared memory that no process shows
)
_DEVICES = ("/dev/null", "/dev/full")

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_VERSION = (1 << 13) - 1  # every access of Landlock's first version
_SPECIAL_FILES = (1 << 6) | (1 << 9) | (1 << 11)  # character device, socket, block device
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NET_TCP = 0b11
_SCOPE_SOCKETS_AND_SIGNALS = 0b11

Ruleset = tuple[int, int, int, int]
Rule = tuple[str, int]


def landlock(
    abi: int,
    readable: Sequence[Path],
    writable: Sequence[Path],
    listed: Sequence[Path] = (),
) -> tuple[Ruleset, list[Rule]]:
    """The (size, fs, net, scoped) ruleset of Landlock version `abi`, and its path rules."""
    handled = _FIRST_VERSION
    handled |= _REFER if abi >= 2 else 0
    handled |= _TRUNCATE if abi >= 3 else 0
    handled |= _IOCTL_DEV if abi >= 5 else 0
    ruleset = (
        24 if abi >= 6 else 16 if abi >= 4 else 8,
        handled,
        _NET_TCP if abi >= 4 else 0,
        _SCOPE_SOCKETS_AND_SIGNALS if abi >= 6 else 0,
    )
    read = _EXECUTE | _READ_FILE | _READ_DIR
    write = handled & ~(_SPECIAL_FILES | _IOCTL_DEV)

    def rule(path: str, access: int) -> Rule:
        return path, access if os.path.isdir(path) else access & _FOR_FILES & handled

    rules = [rule(path, read) for path in (*SYSTEM, *_KERNEL_FILES)]
    rules += [rule(path, _READ_FILE | _WRITE_FILE) for path in _DEVICES]
    rules += [rule(os.fspath(path), read) for path in readable]
    rules += [(os.fspath(path), _READ_DIR) for path in listed]
    rules += [rule(os.fspath(path), write) for path in writable]
    return ruleset, rules


def bubblewrap(
    readable: Sequence[Path],
    writable: Sequence[Path],
    cwd: Path,
    *,
    seccomp_fd: int | None,
) -> list[str]:
    """Options of `bwrap` for the same view, in namespaces of its own, up to and including "--"."""
    options = ["--unshare-all", "--die-with-parent"]
    for path in SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            options += ["--ro-bind", path, path]
    options += ["--proc", "/proc", "--dev", "/dev"]
    options += ["--tmpfs", "/tmp"]
    # Outer folders first: a later mount hides what an earlier one put below its path.
    for path in sorted({os.fspath(path) for path in readable}):
        options += ["--ro-bind-try", path, path]
    for folder in writable:
        options += ["--bind", os.fspath(folder), os.fspath(folder)]
    for place in ("/dev", "/tmp", "/"):  # what is written lies in folders that are watched
        options += ["--remount-ro", place]
    options += ["--chdir", os.fspath(cwd)]
    if seccomp_fd is not None:
        options += ["--seccomp", str(seccomp_fd)]
    return [*options, "--"]
