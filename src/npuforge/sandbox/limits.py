# SPDX-License-Identifier: Apache-2.0
"""What a sandboxed command may use, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds for one command and everything it starts.

    `memory_bytes` bounds resident memory of the whole process tree (sampled every few
    milliseconds), not address space: the twin reserves terabytes it never touches. `processes`
    counts processes, not threads; 1 makes every fork fail inside the command. `threads` counts the
    threads of all processes. `file_bytes` bounds each file written, `output_bytes` standard output
    and standard error together.

    `disk_bytes` and `files` bound how much, and how many files and folders, the command adds to all
    folders that it can write. A file that is unlinked but open counts, and so does a file system
    underneath that lies in memory. Both are sampled: docs/sandbox.md says what can pass meanwhile.
    """

    cpu_s: float = 60.0
    wall_s: float = 120.0
    memory_bytes: int = 4 * GIB
    processes: int = 1
    output_bytes: int = 4 * MIB
    file_bytes: int = 8 * GIB
    disk_bytes: int = 8 * GIB
    files: int = 20_000
    threads: int = 2048


@dataclass(frozen=True, slots=True)
class Completed:
    """How a sandboxed command ended.

    `returncode` is negative for a signal, as in `subprocess`. `killed_by` is None after a normal
    exit; otherwise the limit that ended it ("wall time", "cpu time", "memory", "processes",
    "threads", "output", "file size", "disk", "files") or the name of the signal it died of
    ("SIGSEGV"). `peak_rss` is the largest resident size of any one process of the tree, in bytes;
    it cannot be lower than the 10 MB or so of the process that starts the command.
    """

    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    killed_by: str | None
    peak_rss: int
    wall_s: float
