# SPDX-License-Identifier: Apache-2.0
"""`npuforge dataset build`: records to train on, from operators that ran."""

from __future__ import annotations

import math
import time
from collections import Counter
from pathlib import Path

import click

from npuforge.cli.isolation import isolation_option
from npuforge.cli.jobs import jobs_option
from npuforge.cli.output import new_file, say
from npuforge.errors import UsageError
from npuforge.fileformat import RECORD


@click.group()
def dataset() -> None:
    """Records to train on, grown from operators that were verified on the twin."""


@dataset.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder; resumed.")
@click.option(
    "--operators",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="How many random operators are drawn.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="What operators are drawn from."
)
@click.option("--soc", default="910b2", show_default=True, help="The chip kernels are for.")
@click.option(
    "--lessons",
    type=click.FloatRange(0.0, 1.0),
    default=1.0,
    show_default=True,
    help="Share of operators that give repairs and preferences, too.",
)
@click.option(
    "--variants",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Graphs like each operator's that are planned and interpreted.",
)
@click.option(
    "--proven",
    type=click.FloatRange(0.0, 1.0),
    default=1.0,
    show_default=True,
    help="Share of operators that are verified on the twin; the others are interpreted.",
)
@click.option(
    "--families",
    default="",
    metavar="NAMES",
    help="Families that operators are drawn of, commas between them; of all by default.",
)
@isolation_option
@jobs_option
@click.option(
    "--limit",
    "limit_s",
    type=float,
    default=math.inf,
    metavar="SECONDS",
    help="Stop growing after so long.",
)
def build(
    out: Path,
    operators: int,
    seed: int,
    soc: str,
    lessons: float,
    variants: int,
    proven: float,
    families: str,
    jobs: int,
    limit_s: float,
) -> None:
    """Grow random operators and put their records together.

    Run it again to go on where it was stopped; the records follow from seed and number of operators
    alone.
    """
    from npuforge.soc.data import load_soc  # noqa: PLC0415
    from npuforge.train.dataset.assemble import assemble  # noqa: PLC0415 (imports torch)
    from npuforge.train.dataset.build import Settings, grow_all, parts  # noqa: PLC0415
    from npuforge.train.dataset.documents import document_records  # noqa: PLC0415
    from npuforge.train.evaluate.structures import evaluated, fingerprint  # noqa: PLC0415
    from npuforge.train.operators.families import FAMILIES  # noqa: PLC0415

    started = time.monotonic()
    before: list[int] = []

    def progress(done: int, total: int) -> None:
        before.append(done)
        seconds = time.monotonic() - started
        rate = (done - before[0]) / seconds if seconds > 1 else 0.0
        left = f", {(total - done) / rate / 60:.0f} min left" if rate else ""
        say(f"{done} of {total} operators{left}")

    named = tuple(name for name in families.split(",") if name)
    if unknown := sorted(set(named) - FAMILIES.keys()):
        raise UsageError(f"no family {unknown[0]}; there are {', '.join(FAMILIES)}")
    load_soc(soc)  # an unknown one is refused before anything is begun
    settings = Settings(
        seed=seed,
        soc=soc,
        avoid=fingerprint(),
        lessons=lessons,
        variants=variants,
        proven=proven,
        families=named,
    )
    grow_all(out, settings, operators, evaluated(), jobs, progress, limit_s)
    counts = assemble(parts(out), document_records(), evaluated(), out)
    total = sum(counts.records.values())
    say(f"{total} records of {counts.grown} operators: {out}/README.md")


@dataset.command()
@click.argument("tasks", type=click.Path(path_type=Path, dir_okay=False))
@click.argument(
    "answered", type=click.Path(path_type=Path, dir_okay=False), nargs=-1, required=True
)
@click.option(
    "--kernels",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Kernel records: right answers where the model has none.",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="A new file."
)
@isolation_option
@jobs_option
def prefer(
    tasks: Path, answered: tuple[Path, ...], kernels: Path | None, out: Path, jobs: int
) -> None:
    """Preferences from a model's own answers (`npuforge evaluate sample MODEL TASKS`)."""
    from npuforge.train.dataset.prefer import (  # noqa: PLC0415 (imports torch)
        Asked,
        preferences,
        question_of,
    )
    from npuforge.train.dataset.record import Chat, GrownTask  # noqa: PLC0415
    from npuforge.train.evaluate.answers import Answers  # noqa: PLC0415
    from npuforge.train.records import read_lines  # noqa: PLC0415

    known = {one.name: one for one in read_lines(answered, Answers, "sampled")}
    right = {
        question_of(one.messages[:-1]): one.messages[-1].content
        for one in (read_lines([kernels], Chat, "kernel") if kernels is not None else [])
    }
    asked = [
        Asked(task, known[task.task.name].answers, right.get(question_of(task.prompt)))
        for task in read_lines([tasks], GrownTask, "task")
        if task.task.name in known
    ]
    if not asked:
        raise UsageError(f"no answers to tasks of {tasks} in {', '.join(map(str, answered))}")
    counts: Counter[str] = Counter()
    with new_file(out) as file:
        for number, found in enumerate(preferences(asked, jobs), 1):
            for pair in found:
                file.write(RECORD.encode(pair) + b"\n")
                counts[pair.why] += 1
            file.flush()
            if number % 50 == 0:
                say(f"{number} of {len(asked)} tasks, {sum(counts.values())} pairs")
    shown = ", ".join(f"{count} {why}" for why, count in counts.most_common())
    say(f"{sum(counts.values())} pairs of {len(asked)} tasks ({shown}): {out}")
