# SPDX-License-Identifier: Apache-2.0
"""The one exception tree: every error a caller can cause or meet is an `NpuforgeError`.

The message is one line; the command line prints it after "npuforge:" and exits with
`exit_status`. A negative verdict on a kernel is not an error: it is a `Verdict`.
"""

from __future__ import annotations

from typing import ClassVar

from npuforge.printable import MOST, one_line


class NpuforgeError(Exception):
    """Base of all errors of this package; its message is one line."""

    exit_status: ClassVar[int] = 2

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message, MOST))


class UsageError(NpuforgeError):
    """The call or its input is at fault: unknown file, bad launch description, wrong shape."""


class ToolchainError(NpuforgeError):
    """This machine lacks something the twin needs: a compiler, its headers, addr2line."""


class SandboxError(NpuforgeError):
    """A command could not be started in isolation (the command's own failure is not this)."""
