# SPDX-License-Identifier: Apache-2.0
"""The command line: `npuforge COMMAND`.

A command is a click command in a module of its own, named in `COMMANDS` with the line that
`npuforge --help` shows; its module is imported only when the command is used. A command returns its
exit status (None is 0) and raises `NpuforgeError` for bad input. Whatever it raises becomes one
line on standard error and an exit status, see `failure`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from npuforge import __version__
from npuforge.cli.failure import close_output, failure, tell
from npuforge.cli.values import bound_values, check_argument
from npuforge.interruption import ended_by_signals

# name: (module:attribute, help line)
COMMANDS: dict[str, tuple[str, str]] = {
    "generate": ("npuforge.cli.generate:generate", "A PyTorch module to a proven operator."),
    "run": ("npuforge.cli.twin:run", "Run a kernel, an operator or a program; compare results."),
    "check": ("npuforge.cli.twin:check", "The same, and look for broken rules and races."),
    "profile": ("npuforge.cli.twin:profile", "Model the time it takes on the chip."),
    "lower": ("npuforge.cli.lower:lower", "Compile a tile program to AscendC, in many forms."),
    "bench": ("npuforge.cli.bench:bench", "Judge a strategy or answers on a suite of tasks."),
    "compare": ("npuforge.cli.compare:compare", "What changed between two runs of a benchmark."),
    "knowledge": (
        "npuforge.cli.knowledge:knowledge",
        "Entries that ran: search, add, distill, undo.",
    ),
    "dataset": ("npuforge.cli.dataset:dataset", "Records to train on, from operators that ran."),
    "train": ("npuforge.cli.train:train", "Train a model that writes kernels."),
    "evaluate": (
        "npuforge.cli.evaluate:evaluate",
        "CR and ER at k of a model on unseen operators.",
    ),
    "doctor": (
        "npuforge.cli.doctor:doctor",
        "What works on this machine, and how to fix the rest.",
    ),
}


class LazyGroup(click.Group):
    """A group that knows its commands' help lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names in the order of the table, which is the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        bound_values(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The table itself; nothing is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
def npuforge() -> None:
    """AscendC kernels written, run, checked and timed without an NPU."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with ended_by_signals():
            for argument in arguments:
                check_argument(argument)
            if "_NPUFORGE_COMPLETE" in os.environ:  # a shell asks what could follow
                npuforge.main(arguments, prog_name="npuforge")
            # Not click's own `main`: it has other statuses for a closed pipe and for Ctrl-C.
            with npuforge.make_context("npuforge", list(arguments)) as context:
                result = npuforge.invoke(context)
            close_output()
    except click.exceptions.Exit as end:  # --help, --version
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except (Exception, KeyboardInterrupt) as error:  # every end has its status
        return tell(failure(error, arguments), arguments)
    return result if isinstance(result, int) else 0
