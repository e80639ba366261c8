# SPDX-License-Identifier: Apache-2.0
"""A run on the terminal: by category and level, beside what others published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics import Figures
from npuforge.bench.report.blocks import Block, blocks
from npuforge.bench.report.cells import ours, theirs
from npuforge.bench.report.published import title
from npuforge.bench.report.words import NOTHING, count, fast_p, interval, percent, plain, times
from npuforge.bench.suite import Score
from npuforge.bench.task import Task
from npuforge.page.svg import short

# heading; room that its figures need
_COLUMNS = {
    "tasks": 5,
    "compiled": 8,
    "published": 9,
    "passed": 6,
    "Fast_0.8": 8,
    "Fast_1.0": 8,
    "median": 6,
    "unplanned": 9,
}


def table(
    suite: str, tasks: Sequence[Task], attempts: Sequence[Attempt], scores: Sequence[Score]
) -> RenderableType:
    """The table and what it does not say, a line each."""
    rows = blocks(suite, tasks, attempts)
    shown = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", pad_edge=False)
    shown.add_column("", overflow="fold")
    for name, width in _COLUMNS.items():
        shown.add_column(name, justify="right", no_wrap=True, min_width=width)
    kind = rows[0].kind
    for block in rows:
        if block.kind != kind:
            shown.add_section()
            shown.add_row()
            kind = block.kind
        _add(shown, block)
    lines = [Text(line, style="dim") for line in _remarks(rows[-1].figures)]
    heading = Text(plain(suite), style="bold")
    return Group(heading, shown, *map(_score, scores), *lines)


def _add(shown: Table, block: Block) -> None:
    found = block.figures
    style = "bold" if block.kind == "all" else ""
    shown.add_row(Text(plain(block.title)), *ours(found), style=style)
    for system, result in block.beside:
        if result.k == 1:
            shown.add_row(Text(f"  {title(system, result)}"), *theirs(result), style="dim")


def _score(score: Score) -> Text:
    best = "" if score.of is None else f" of {short(score.of)}"
    value = NOTHING if score.value is None else short(score.value)
    note = f"  {plain(score.note)}" if score.note else ""
    return Text.assemble((f"{plain(score.name)} ", "bold"), f"{value}{best}", (note, "dim"))


def _remarks(found: Figures) -> Iterator[str]:
    if found.passed.low is not None:
        yield f"passed: {found.passed_tasks} tasks, 95 % interval {interval(found.passed)}"
    for k, value in found.pass_at.items():
        if k > 1:
            yield f"pass@{k} {percent(value)}, compile@{k} {percent(found.compile_at[k])}"
    if found.speedup_mean.value is not None:
        sources = ", ".join(f"{plain(name)} {n}" for name, n in found.baselines.items())
        mean = times(found.speedup_mean.value)
        yield f"speed-up over eager PyTorch: geometric mean {mean}; baselines: {sources}"
        yield fast_p(found)
    if found.untimed:
        yield f"{count(found.untimed, 'passed task')} without a speed-up: not in Fast_x"
    if found.weak:
        yield f"{count(found.weak, 'task')} passed by the suite's own check alone"
    if found.violations or found.races:
        yield f"found: {count(found.violations, 'violation')}, {count(found.races, 'race')}"
    for kind, number in found.cheats.items():
        yield f"cheat {plain(kind)}: {count(number, 'attempt')}"
    others = [
        f"{state} {number}"
        for state, number in found.states.items()
        if number and state not in ("judged", "unplanned")
    ]
    if others:
        yield f"attempts: {', '.join(others)}"
