# SPDX-License-Identifier: Apache-2.0
"""The one exception tree: every error a caller can cause or meet is an `NpuforgeError`.

The message is one line; the command line prints it after "npuforge:" and exits with
`exit_status`. A negative verdict on a kernel is not an error: it is a `Verdict`.
"""

from __future__ import annotations

from typing import ClassVar


class NpuforgeError(Exception):
    """Base of all errors of this package; its message is one line."""

    exit_status: ClassVar[int] = 2

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class UsageError(NpuforgeError):
    """The call or its input is at fault: unknown file, bad launch description, wrong shape."""


class ToolchainError(NpuforgeError):
    """This machine lacks something the twin needs: a compiler, its headers, addr2line."""


class SandboxError(NpuforgeError):
    """A command could not be started in isolation (the command's own failure is not this)."""


def one_line(text: str) -> str:
    """Return the text on one line; what a terminal would obey or not print is escaped."""
    words = " ".join(text.split())
    if words.isprintable():
        return words
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in words
    )
