# SPDX-License-Identifier: Apache-2.0
"""Runs as a table in Markdown, with the commands that make them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
_RULE = f"| --- |{' --: |' * (len(_COLUMNS) - 1)}"


@dataclass(frozen=True, slots=True)
class Section:
    """A run's rows, the first with its title, and the command that makes them."""

    rows: tuple[str, ...]
    command: str

    @property
    def title(self) -> str:
        return self.rows[0].split(" | ")[0]


def section(run: Run) -> Section:
    """A row for the run, one for each part that others published on, and theirs below it."""
    parts = blocks(run.settings.suite, run.tasks, run.attempts)
    rows = [*_rows(parts[-1], f"**{_cell(title(run.settings))}**")]
    for part in parts[:-1]:
        if part.kind == "scope" or (part.kind == "level" and part.beside):
            rows += _rows(part, f"its {_cell(part.title)}")
    return Section(tuple(rows), command(run.settings, public=True))


def put(text: str, made: Sequence[Section]) -> str:
    """The text with these sections in the table between the markers; others stay as they are."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(END) < text.index(BEGIN):
        raise UsageError(f"there must be one {BEGIN} and, after it, one {END}")
    start, rest = text.split(BEGIN)
    old, after = rest.split(END)
    sections = {one.title: one for one in (*_sections(old), *made)}
    return f"{start}{BEGIN}\n{_table(sections.values())}\n{END}{after}"


def _table(sections: Iterable[Section]) -> str:
    lines = [_line(_COLUMNS), _RULE]
    lines += [row for one in sections for row in one.rows]
    commands = "\n".join(one.command for one in sections)
    return "\n".join(lines) + f"\n\n```\n{commands}\n```"


def _sections(table: str) -> list[Section]:
    """What `_table` wrote."""
    rows = [line for line in table.splitlines() if line.startswith("| ") and line != _RULE]
    commands = [line for line in table.splitlines() if line.startswith("npuforge ")]
    firsts = [number for number, row in enumerate(rows) if row.startswith("| **")]
    if len(firsts) != len(commands):
        raise UsageError("the table and its commands do not belong together")
    spans = pairwise([*firsts, len(rows)])
    return [
        Section(tuple(rows[first:end]), made)
        for (first, end), made in zip(spans, commands, strict=True)
    ]


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
