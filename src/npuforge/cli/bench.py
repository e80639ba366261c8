# SPDX-License-Identifier: Apache-2.0
"""`npuforge bench`: a suite of tasks, whoever writes the kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from npuforge.bench.executors import NAMES as EXECUTORS
from npuforge.bench.settings import Settings
from npuforge.bench.suites import NAMES as SUITES
from npuforge.cli.model_options import (
    drawn_option,
    embedded_settings,
    model_options,
    model_settings,
)
from npuforge.cli.output import console, json_option, write_json
from npuforge.errors import UsageError

if TYPE_CHECKING:
    from npuforge.bench.store import Store

# Options that are fields of `Settings`: a resumed run has them already.
_OF_SETTINGS = (
    "path",
    "tasks",
    "categories",
    "levels",
    "strategy",
    "answers",
    "samples",
    "shapes",
    "protocol",
    "interface",
    "sizes",
    "cases",
    "soc",
    "limit_s",
)


def _choice(*names: str) -> click.Choice[str]:
    return click.Choice(names)


@click.command()
@click.argument("suite", type=click.Choice(SUITES), metavar="SUITE")
@click.option("--path", metavar="CHECKOUT", help="Your copy of a public suite.")
@click.option("--tasks", metavar="GLOB", help="Only tasks whose names match: 'activation/*elu*'.")
@click.option("--categories", metavar="NAMES", help="Only these categories, with commas.")
@click.option("--levels", metavar="NUMBERS", help="Only these levels, with commas.")
@click.option(
    "--strategy",
    type=_choice("planner", "tile", "ascendc", "refine", "lm"),
    default="planner",
    show_default=True,
    help="Who writes the answers.",
)
@click.option("--answers", metavar="DIR", help="Judge these answers; 'reference': the suite's own.")
@click.option("--samples", type=click.IntRange(min=1), default=1, help="Attempts at each task.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Attempts at once.")
@click.option(
    "--shapes",
    type=_choice("current", "v0", "scaled"),
    default="current",
    show_default=True,
    help="Shapes to time at: the suite's, those of its first release, or scaled down.",
)
@click.option(
    "--protocol",
    type=_choice("repository", "paper"),
    default="repository",
    show_default=True,
    help="Where a suite's repository and its paper differ.",
)
@click.option(
    "--interface",
    type=_choice("kernel", "full"),
    default="full",
    show_default=True,
    help="NPUKernelBench: kernels alone, or with their host code.",
)
@click.option(
    "--sizes",
    type=_choice("static", "dynamic"),
    default="dynamic",
    show_default=True,
    help="NPUKernelBench: an answer for each case, or one for all.",
)
@click.option("--cases", type=click.IntRange(min=1), help="At most so many cases of a task.")
@click.option("--soc", default="910b2", show_default=True, help="Chip to judge for.")
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    default=900.0,
    show_default=True,
    help="Time for one attempt.",
)
@click.option(
    "--executor",
    type=click.Choice(EXECUTORS),
    default="local",
    show_default=True,
    help="Where attempts are made: here, or on a Ray cluster.",
)
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder.")
@click.option(
    "--resume", is_flag=True, help="Go on with the last run (or that in --out) if there is one."
)
@click.option("--quiet", is_flag=True, help="No progress.")
@model_options
@drawn_option("--lm-samples")
@json_option
@click.pass_context
def bench(
    context: click.Context,
    /,
    suite: str,
    jobs: int,
    executor: str,
    out: Path | None,
    resume: bool,
    quiet: bool,
    json_out: str | None,
    **fields: Any,
) -> int:
    """Judge a strategy, or answers, on SUITE: forge, multikernelbench, kernelbench,
    npukernelbench or cannbench.

    The run's folder holds every result; an interrupted run goes on with --resume. Exit status 0
    means that every task was passed. `tile`, `ascendc` and `refine` ask a language model; a budget
    is for each attempt. `lm` is a small model on this machine.
    """
    from npuforge.bench import folders  # noqa: PLC0415 (--help needs none of this)
    from npuforge.bench.executors import make  # noqa: PLC0415
    from npuforge.bench.select import selected  # noqa: PLC0415
    from npuforge.bench.store import Store  # noqa: PLC0415
    from npuforge.bench.suites import open_suite  # noqa: PLC0415

    begun = folders.begun(suite, out) if resume else None
    if begun is not None:
        with Store(begun, writing=True) as store:
            _same(context, suite, store.settings, fields)
            return _run(store, make(executor, jobs), quiet, json_out)
    writes = fields["strategy"] if fields["answers"] is None else None
    settings = Settings(
        suite=suite,
        **{name: fields[name] for name in _OF_SETTINGS},
        model=model_settings(fields) if writes not in (None, "planner", "lm") else None,
        embedded=embedded_settings(fields) if writes == "lm" else None,
    )
    chosen = (settings.tasks, settings.categories, settings.levels)
    found = selected(open_suite(settings).tasks(), *chosen)
    with Store.create(out or folders.new(suite), settings, found) as store:
        return _run(store, make(executor, jobs), quiet, json_out)


def _same(context: click.Context, suite: str, stored: Settings, fields: dict[str, Any]) -> None:
    """Results of different settings do not go into one run."""
    given = {
        name: fields[name]
        for name in _OF_SETTINGS
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    for name, value in {"suite": suite, **given}.items():
        if getattr(stored, name) != value:
            raise UsageError(
                f"the run has {name} {getattr(stored, name)!r}, not {value!r}: "
                "start another without --resume"
            )


def _run(store: Store, executor: Any, quiet: bool, json_out: str | None) -> int:
    from npuforge.bench import report, runner  # noqa: PLC0415
    from npuforge.bench.document import document  # noqa: PLC0415
    from npuforge.bench.suites import open_suite  # noqa: PLC0415
    from npuforge.cli.bench_progress import BenchProgress  # noqa: PLC0415

    settings, tasks = store.settings, store.tasks
    suite = open_suite(settings)
    with BenchProgress(store, quiet=quiet) as progress:
        for attempt in runner.run(store, executor, progress.started):
            progress.ended(attempt)
    attempts = store.attempts()
    scores = suite.scores(attempts)
    page = report.html(settings.suite, settings, tasks, attempts, scores, store.folder)
    (store.folder / "report.html").write_text(page, "utf-8")
    if json_out is not None:
        found = document(settings, tasks, attempts, scores)
        write_json(msgspec.json.format(msgspec.json.encode(found)).decode(), json_out)
    if json_out != "-":
        out = console(json_out)
        out.print(report.table(settings.suite, tasks, attempts, scores))
        out.print(f"{store.folder / 'report.html'}")
    passed = {attempt.task for attempt in attempts if attempt.passed}
    return 0 if all(task.name in passed for task in tasks) else 1
