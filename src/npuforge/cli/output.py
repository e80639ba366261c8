# SPDX-License-Identifier: Apache-2.0
"""What the commands share on their way out: the `--json` option and the console."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from npuforge.errors import UsageError
from npuforge.files import write_whole
from npuforge.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """Add `--json OUT`; the command gets `json_out`, a path, "-" or None."""
    return click.option(
        "--json",
        "json_out",
        metavar="OUT",
        callback=_checked_out,
        help='Write JSON to OUT; "-" is standard output.',
    )(command)


def _checked_out(_: click.Context, __: click.Parameter, out: str | None) -> str | None:
    if out is not None and out != "-":
        check_place(Path(out))
    return out


def force_option(command: Command) -> Command:
    """Add `--force`, of the commands that write a folder."""
    return click.option(
        "--force",
        is_flag=True,
        help="Replace an earlier result in --out although files were added or changed there.",
    )(command)


def threshold_option(command: Command) -> Command:
    """Add `--threshold`, of the comparison of two runs."""
    return click.option(
        "--threshold",
        type=click.FloatRange(min=0),
        default=0.02,
        show_default=True,
        help="A time counts as changed where it does by more than this share.",
    )(command)


def write_json(text: str, json_out: str) -> None:
    """Write a JSON text where `--json` says."""
    if json_out == "-":
        click.echo(text)
        return
    write_text(text + "\n", json_out)


def write_text(text: str | bytes, out: str) -> None:
    """Write a file that the user named."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    check_place(Path(out))
    with _explained(out):
        if _is_stream(Path(out)):
            # Without waiting: a pipe that nobody reads is refused.
            handle = os.open(out, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
            os.set_blocking(handle, True)
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
        else:
            # A link of this name goes, and not what it leads to: the folder may be a stranger's.
            write_whole(Path(out), data)


def check_place(out: Path) -> None:
    """Refuse a place that cannot become a file, before hours are spent."""
    with _explained(out):
        if out.is_dir():
            raise UsageError(f"cannot write {out}: it is a folder")
        if out.is_block_device():
            raise UsageError(f"cannot write {out}: it is a disk")
        if not _is_stream(out) and not out.absolute().parent.is_dir():
            raise UsageError(f"cannot write {out}: {out.absolute().parent} is no folder")


def _is_stream(out: Path) -> bool:
    """Tell whether bytes go through `out` (a pipe, a terminal, /dev/stdout) and do not stay."""
    if out.absolute().parts[:2] in (("/", "dev"), ("/", "proc")):
        return True
    return out.exists() and not out.is_file()


def console(json_out: str | None) -> Console:
    """Where people read: standard output, or standard error when JSON has standard output."""
    from npuforge.cli.console import SafeConsole  # noqa: PLC0415 (rich is slow to import)

    return SafeConsole(stderr=json_out == "-")


def say(text: str, *, err: bool = False, line: bool = True) -> None:
    """Print a line, or a text as it is, without what a terminal would obey."""
    click.echo(printable(text, len(text)), err=err, nl=line)


def new_file(out: Path) -> BinaryIO:
    """Open a file that is not there yet: the work of hours is not overwritten."""
    with _explained(out):
        return out.open("xb")


def grown_file(out: Path) -> BinaryIO:
    """Open a file of lines to add more; a last line that a killed writer did not end is cut off."""
    check_place(out)
    with _explained(out):
        file = open(out, "ab")  # noqa: SIM115 (the caller closes it)
        if out.is_file():
            content = out.read_bytes()
            file.truncate(content.rfind(b"\n") + 1)
        return file


@contextmanager
def _explained(out: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from error
