# SPDX-License-Identifier: Apache-2.0
"""`npuforge bench`: a suite of tasks, whoever writes the kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from npuforge.bench.executors import NAMES as EXECUTORS
from npuforge.bench.settings import Settings
from npuforge.bench.suites import NAMES as SUITES
from npuforge.cli.isolation import isolation_option
from npuforge.cli.model_options import (
    drawn_option,
    embedded_settings,
    model_options,
    model_settings,
)
from npuforge.cli.output import check_place, json_option, threshold_option
from npuforge.errors import UsageError
from npuforge.sandbox import permitted

if TYPE_CHECKING:
    from npuforge.bench.executors import Executor
    from npuforge.bench.store import Store
    from npuforge.cli.bench_outcome import Ending

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
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, help="Attempts at once.")
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
@click.option(
    "--on-nodes",
    metavar="PATH",
    help="With ray: the checkout's path on each node ('$HOME/suite'); else it is sent.",
)
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder.")
@click.option(
    "--resume", is_flag=True, help="Go on with the last run (or that in --out) if there is one."
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a snapshot of the results to FILE: a line for each task.",
)
@click.option(
    "--commit",
    envvar="NPUFORGE_COMMIT",
    metavar="NAME",
    help="What --keep calls the commit, where git is not to be asked.",
)
@click.option(
    "--compare",
    "before",
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE",
    help="Compare with a snapshot, or another run, task by task.",
)
@threshold_option
@click.option("--quiet", is_flag=True, help="No progress.")
@model_options
@drawn_option("--lm-samples")
@isolation_option
@json_option
@click.pass_context
def bench(
    context: click.Context,
    /,
    suite: str,
    jobs: int,
    executor: str,
    on_nodes: str | None,
    out: Path | None,
    resume: bool,
    quiet: bool,
    json_out: str | None,
    keep: Path | None,
    commit: str | None,
    before: Path | None,
    threshold: float,
    **fields: Any,
) -> int:
    """Judge a strategy, or answers, on SUITE: forge, multikernelbench, kernelbench,
    npukernelbench or cannbench.

    The run's folder holds every result; an interrupted run goes on with --resume. Exit status 0
    means that every task was passed; with --compare, that no task was lost. `tile`, `ascendc` and
    `refine` ask a language model; a budget is for each attempt. `lm` is a small model on this
    machine.
    """
    from npuforge.bench import folders  # noqa: PLC0415 (--help needs none of this)
    from npuforge.bench.executors import make  # noqa: PLC0415
    from npuforge.bench.select import selected  # noqa: PLC0415
    from npuforge.bench.store import Store  # noqa: PLC0415
    from npuforge.bench.suites import open_suite  # noqa: PLC0415
    from npuforge.cli.bench_outcome import Ending, earlier  # noqa: PLC0415
    from npuforge.soc.data import load_soc  # noqa: PLC0415

    if keep is not None:
        check_place(keep)
    known = None if before is None else earlier(before, suite)
    load_soc(fields["soc"])  # an unknown one is refused before anything is begun
    ending = Ending(json_out, keep, commit, known, threshold)
    begun = folders.begun(suite, out) if resume else None
    if begun is not None:
        with Store(begun, writing=True) as store:
            _same(context, suite, store.settings, fields)
            _same_address(store.settings, fields)
            return _run(store, make(executor, jobs, on_nodes), quiet, ending)
    writes = fields["strategy"] if fields["answers"] is None else None
    settings = Settings(
        suite=suite,
        **{name: fields[name] for name in _OF_SETTINGS},
        isolation=permitted(),
        model=model_settings(fields) if writes not in (None, "planner", "lm") else None,
        embedded=embedded_settings(fields) if writes == "lm" else None,
    )
    chosen = (settings.tasks, settings.categories, settings.levels)
    found = selected(open_suite(settings).tasks(), *chosen)
    with Store.create(out or folders.new(suite), settings, found) as store:
        return _run(store, make(executor, jobs, on_nodes), quiet, ending)


def _same(context: click.Context, suite: str, stored: Settings, fields: dict[str, Any]) -> None:
    """Results of different settings do not go into one run."""
    given = {
        name: fields[name]
        for name in _OF_SETTINGS
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    for name, value in {"suite": suite, "isolation": permitted(), **given}.items():
        if getattr(stored, name) != value:
            raise UsageError(
                f"the run has {name} {getattr(stored, name)!r}, not {value!r}: "
                "start another without --resume"
            )


def _same_address(stored: Settings, fields: dict[str, Any]) -> None:
    """Ask no model at an address that a run's folder alone names: keys might go there."""
    if stored.model is None:
        return
    from npuforge.models.endpoint import Endpoint  # noqa: PLC0415 (--help needs none of this)

    base = fields["base_url"]
    ours = Endpoint.find({**stored.model.endpoint, "base_url": base})
    theirs = Endpoint.find(stored.model.endpoint)
    if ours.base_url != theirs.base_url:
        raise UsageError(
            f"the run asks a model at {theirs.base_url}: "
            "to go on with it, say --base-url with this address"
        )


def _run(store: Store, executor: Executor, quiet: bool, ending: Ending) -> int:
    from npuforge.bench import runner  # noqa: PLC0415
    from npuforge.cli.bench_progress import BenchProgress  # noqa: PLC0415

    with BenchProgress(store, quiet=quiet) as progress:
        for attempt in runner.run(store, executor, progress.started):
            progress.ended(attempt)
    return ending.write(store)
