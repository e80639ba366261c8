# SPDX-License-Identifier: Apache-2.0
"""Ends of commands that did not come to their result: one line, an exit status, and a code.

    2  `usage`     the call, its input or the machine is at fault
    2  `limit`     memory, disk or another limit of the machine ended the run
    3  `internal`  an unforeseen error; the line names a file with the details
    130, 143  `interrupted`  by Ctrl-C, or by a signal that asks to end
With `--json -` the line is the `error` of an object on standard output, too.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import secrets
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import click

from npuforge import __version__
from npuforge.errors import NpuforgeError
from npuforge.interruption import Terminated
from npuforge.printable import MOST, one_line

_MACHINE = frozenset(
    getattr(errno, name)
    for name in (
        "ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM", "EMFILE", "ENFILE", "ENOMEM",
        "EAGAIN", "EIO", "ENAMETOOLONG", "ELOOP", "ETXTBSY", "EBUSY", "ENXIO",
        "EISDIR", "ENOTDIR", "EEXIST", "ENOTEMPTY",
    )
)  # fmt: skip
_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_SECRET_OPTION = re.compile(
    r"(--?[\w-]*(?:key|token|secret|password|header)[\w-]*[= ])\S+", re.IGNORECASE
)
_SECRET_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+@")
_SHORTEST_SECRET = 6
_MOST_REPORTS = 20
_LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of a command without its result."""

    message: str
    status: int
    code: str


def failure(error: BaseException, arguments: Sequence[str]) -> Failure:
    """Return the failure that an exception is; write the details of an unforeseen one."""
    if isinstance(error, NpuforgeError):
        return Failure(str(error), error.exit_status, "usage")
    if isinstance(error, click.ClickException):
        return Failure(one_line(error.format_message(), MOST), 2, "usage")
    if isinstance(error, Terminated):
        return Failure("ended by a signal", error.exit_status, "interrupted")
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return Failure("interrupted", 130, "interrupted")
    if isinstance(error, BrokenPipeError):
        return Failure("nobody reads the output any more", 2, "limit")
    if isinstance(error, MemoryError):
        return Failure("there is not enough memory", 2, "limit")
    if isinstance(error, RecursionError):
        return Failure("the input is nested too deeply", 2, "limit")
    if isinstance(error, OSError) and error.errno in _MACHINE:
        place = f" ({error.filename})" if error.filename else ""
        return Failure(one_line(f"{error.strerror}{place}", MOST), 2, "limit")
    said = one_line(f"{type(error).__name__}: {_without_secrets(str(error))}")[:200]
    return Failure(
        f"unforeseen error, please report {_report(error, arguments)}: {said}", 3, "internal"
    )


def tell(failed: Failure, arguments: Sequence[str]) -> int:
    """Print the line, and the object if `--json -` asked for one; return the exit status."""
    line = failed.message
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE // 2]} ... {line[-_LONGEST_LINE // 2 :]}"
    with suppress(OSError, ValueError):
        click.echo(f"{click.style('npuforge:', fg='red')} {line}", err=True)
    if _wants_json(arguments):
        name = arguments[0] if arguments else "npuforge"
        answer = {"name": name, "error": line, "code": failed.code}
        with suppress(OSError, ValueError):
            click.echo(json.dumps(answer))
    return failed.status


def _wants_json(arguments: Sequence[str]) -> bool:
    return "--json=-" in arguments or ("--json", "-") in pairwise(arguments)


def _report(error: BaseException, arguments: Sequence[str]) -> str:
    """Write the details to a file of this user and return its name."""
    text = "\n".join(
        (
            f"npuforge {__version__}, Python {platform.python_version()}, {platform.platform()}",
            shlex.join(("npuforge", *arguments)),
            "",
            "".join(traceback.format_exception(error, limit=-60)),
        )
    )
    data = _without_secrets(text).encode("utf-8", "backslashreplace")
    name = f"error-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}.txt"
    for folder in _folders():
        with suppress(OSError, RuntimeError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / name
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            for old in sorted(folder.glob("error-*.txt"))[:-_MOST_REPORTS]:
                old.unlink(missing_ok=True)
            return str(path)
    return "it (no folder takes the details)"


def _folders() -> list[Path]:
    """Folders that may take a report, the best first."""
    state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state")
    with suppress(RuntimeError):
        state = state.expanduser()
    return [state / "npuforge", Path(tempfile.gettempdir()) / f"npuforge-errors-{os.getuid()}"]


def _without_secrets(text: str) -> str:
    """Return the text without what may be a key: its option, its variable, its address."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "***")
    return _SECRET_IN_ADDRESS.sub("***@", _SECRET_OPTION.sub(r"\1***", text))


def close_output() -> None:
    """Flush standard output now, where a fault still is one line and not one of Python's end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        raise
