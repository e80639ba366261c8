# SPDX-License-Identifier: Apache-2.0
"""`npuforge run`, `check` and `profile`: a kernel, an operator project or a program on the twin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from npuforge.cli.isolation import isolation_option
from npuforge.cli.output import check_place, console, json_option, write_json, write_text
from npuforge.errors import UsageError
from npuforge.scratch import scratch_folder

if TYPE_CHECKING:
    from npuforge.twin.sources.direct import DirectProgram
    from npuforge.twin.verify import Report, Step

Command = TypeVar("Command", bound=Callable[..., Any])


def _options(command: Command) -> Command:
    for option in reversed(
        (
            click.argument("path", type=click.Path(path_type=Path)),
            click.option(
                "--launch",
                "launch_file",
                type=click.Path(path_type=Path),
                help="Launch file (TOML or YAML): blocks, arguments, inputs, expected outputs; "
                "for a model answer the task's Python file.",
            ),
            click.option("--soc", default="910b2", show_default=True, help="Chip to check for."),
            click.option("--entry", help="Kernel (or operator) when the source has several."),
            click.option(
                "-I",
                "--include",
                "include_dirs",
                multiple=True,
                type=click.Path(path_type=Path),
                help="Folder outside of PATH's own that its sources may include from.",
            ),
            click.option(
                "--setup", help="Command run in a copy of a program's folder before the program."
            ),
            click.option(
                "--verify", help="Command run after the program; status 0 means right results."
            ),
            click.option(
                "--golden",
                multiple=True,
                metavar="PATTERN",
                help="Files of a program that only --verify reads (besides those called golden).",
            ),
            click.option(
                "--auto-sync/--no-auto-sync",
                default=True,
                help="Model the compiler's automatic synchronisation (default: on).",
            ),
            isolation_option,
            json_option,
        )
    ):
        command = option(command)
    return command


@click.command()
@_options
def run(**options: Any) -> int:
    """Run PATH and compare its results: values only, no rules, no time."""
    return _main("run", **options)


@click.command()
@_options
def check(**options: Any) -> int:
    """Run PATH, compare its results, and look for broken rules and races."""
    return _main("check", **options)


@click.command()
@_options
@click.option(
    "--trace", type=click.Path(path_type=Path), help="Write a timeline for Chrome or Perfetto."
)
def profile(**options: Any) -> int:
    """Model the time PATH takes on the chip, pipe by pipe."""
    return _main("time", **options)


def _main(step: Step, *, json_out: str | None, trace: Path | None = None, **options: Any) -> int:
    with ExitStack() as held:
        made = None
        if trace is not None:
            check_place(trace)
            made = held.enter_context(scratch_folder("trace")) / "trace.json"
        report = _report(step, json_out=json_out, trace=made, **options)
        if made is not None and made.is_file():
            write_text(made.read_bytes(), str(trace))
    return _finish(report, json_out)


def _report(
    step: Step,
    *,
    path: Path,
    launch_file: Path | None,
    soc: str,
    entry: str | None,
    include_dirs: tuple[Path, ...],
    setup: str | None,
    verify: str | None,
    golden: tuple[str, ...],
    auto_sync: bool,
    json_out: str | None,
    trace: Path | None,
) -> Report:
    from npuforge.soc.data import load_soc  # noqa: PLC0415 (--help needs none of this)
    from npuforge.twin import launch_file as launches  # noqa: PLC0415
    from npuforge.twin.sources import recognise  # noqa: PLC0415
    from npuforge.twin.sources.direct import DirectProgram  # noqa: PLC0415
    from npuforge.twin.sources.model_answer import ModelAnswer  # noqa: PLC0415
    from npuforge.twin.verify import verify as verify_cases  # noqa: PLC0415
    from npuforge.twin.verify import verify_program  # noqa: PLC0415

    chip = load_soc(soc).soc
    source = recognise(path, entry=entry, soc=chip, include_dirs=include_dirs, golden=golden)
    if isinstance(source, DirectProgram):
        _refuse_launch(source, launch_file)
        with _patience(json_out):
            report = verify_program(
                source,
                steps=(step,),
                soc=chip,
                setup=setup,
                command=verify,
                auto_sync=auto_sync,
                trace=trace,
            )
    elif isinstance(source, ModelAnswer):
        from npuforge.twin.model_verify import verify_model  # noqa: PLC0415 (imports torch)

        if launch_file is None or launch_file.suffix != ".py":
            raise UsageError(f"{path} needs --launch TASK.py: Model, get_inputs, get_init_inputs")
        with _patience(json_out):
            report = verify_model(source, launch_file, steps=(step,), soc=chip, auto_sync=auto_sync)
    else:
        if setup is not None or verify is not None or golden:
            raise UsageError("--setup, --verify and --golden are for programs with their own main")
        if launch_file is None:
            raise UsageError(f"{path} needs --launch FILE: it does not say what to run it with")
        cases = launches.load(launch_file)
        with _patience(json_out):
            report = verify_cases(
                source, cases, steps=(step,), soc=chip, auto_sync=auto_sync, trace=trace
            )
    return report


def _refuse_launch(program: DirectProgram, launch_file: Path | None) -> None:
    if launch_file is not None:
        raise UsageError(f"{program.main.name} has its own main; it takes no --launch")


def _finish(report: Report, json_out: str | None) -> int:
    if json_out is not None:
        write_json(report.verdict.to_json(), json_out)
    if json_out != "-":
        from npuforge.cli.report import show  # noqa: PLC0415 (rich is slow to import)

        show(report, console(json_out))
    return report.verdict.exit_status


@contextmanager
def _patience(json_out: str | None) -> Iterator[None]:
    """The first use on a machine builds the runtime, which takes a while: say so, on a terminal."""
    from npuforge.twin.toolchain import Toolchain  # noqa: PLC0415

    out = console("-")
    if not out.is_terminal or json_out == "-":
        Toolchain.find().runtime()
        yield
        return
    with out.status("starting") as status:

        def progress(what: str, done: int, total: int) -> None:
            status.update(f"building the runtime, once per machine: {done} of {total} ({what})")

        Toolchain.find().runtime(progress)
        status.update("building and running")
        yield
