# SPDX-License-Identifier: Apache-2.0
"""The `--isolation` option of every command that runs strangers' code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from npuforge.sandbox import Sandbox, permit
from npuforge.sandbox.means import ISOLATIONS, Isolation

Command = TypeVar("Command", bound=Callable[..., Any])


def isolation_option(command: Command) -> Command:
    """Add `--isolation`; without "weak" the command ends here if files cannot be protected."""
    return click.option(
        "--isolation",
        type=click.Choice(ISOLATIONS),
        default="strong",
        show_default=True,
        callback=_permit,
        expose_value=False,
        help="weak: run strangers' code even where your files cannot be protected from it.",
    )(command)


def _permit(context: click.Context, _: click.Parameter, value: Isolation) -> None:
    if not context.resilient_parsing:
        permit(value)
        Sandbox.detect()
