# SPDX-License-Identifier: Apache-2.0
"""Runs as a table in Markdown, with the commands that make them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from npuforge.bench.report.blocks import Block, blocks
from npuforge.bench.report.cells import ours, theirs
from npuforge.bench.report.command import command, title
from npuforge.bench.report.published import Result
from npuforge.bench.report.published import title as system_title
from npuforge.bench.report.run import Run
from npuforge.bench.report.words import plain
from npuforge.errors import UsageError

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
_MOST = 2  # published results below a row: the best
_COLUMNS = (
    "", "tasks", "compiled", "own check", "passed", "Fast_0.8", "Fast_1.0", "median", "not planned",
)  # fmt: skip


def table(runs: Sequence[Run]) -> str:
    """A row for each run, one for each part that others published on, and theirs below it."""
    lines = [_line(_COLUMNS), _line(["---", *["--:"] * (len(_COLUMNS) - 1)])]
    for run in runs:
        parts = blocks(run.settings.suite, run.tasks, run.attempts)
        total = parts[-1]
        lines += _rows(total, f"**{_cell(title(run.settings))}**")
        for part in parts[:-1]:
            if part.kind == "scope" or (part.kind == "level" and part.beside):
                lines += _rows(part, f"its {_cell(part.title)}")
    commands = "\n".join(command(run.settings, public=True) for run in runs)
    return "\n".join(lines) + f"\n\n```\n{commands}\n```"


def put(text: str, made: str) -> str:
    """The text with what is between the markers replaced."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(END) < text.index(BEGIN):
        raise UsageError(f"there must be one {BEGIN} and, after it, one {END}")
    start, rest = text.split(BEGIN)
    return f"{start}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}"


def _rows(block: Block, name: str) -> Iterator[str]:
    yield _line([name, *ours(block.figures)])
    single = [(system, result) for system, result in block.beside if result.k == 1]
    best = sorted(single, key=lambda entry: -_worth(entry[1]))[:_MOST]
    for system, result in best:
        yield _line([f"*{_cell(system_title(system, result))}*", *theirs(result)])


def _worth(result: Result) -> float:
    known = (result.pass_, result.accuracy, result.fast.get("1.0"))
    return next((value for value in known if value is not None), 0.0)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(words: str) -> str:
    """Foreign text in a cell: what Markdown would read as markup is escaped."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", plain(words))
