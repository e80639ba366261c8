# SPDX-License-Identifier: Apache-2.0
"""What the commands share on their way out: the `--json` option and the console."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar

import click

from npuforge.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """Add `--json OUT`; the command gets `json_out`, a path, "-" or None."""
    return click.option(
        "--json", "json_out", metavar="OUT", help='Write JSON to OUT; "-" is standard output.'
    )(command)


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


def write_text(text: str, out: str) -> None:
    """Write a file that the user named."""
    try:
        Path(out).write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from error


def console(json_out: str | None) -> Console:
    """Where people read: standard output, or standard error when JSON has standard output."""
    from rich.console import Console  # noqa: PLC0415 (rich is slow to import; --help needs none)

    return Console(stderr=json_out == "-", highlight=False, soft_wrap=True)


def new_file(out: Path) -> BinaryIO:
    """A file that is not there yet: the work of hours is not overwritten."""
    return _opened(out, "xb")


def grown_file(out: Path) -> BinaryIO:
    """A file that gets more lines, whether it is there or not."""
    return _opened(out, "ab")


def _opened(out: Path, mode: Literal["xb", "ab"]) -> BinaryIO:
    try:
        return out.open(mode)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from error
