# SPDX-License-Identifier: Apache-2.0
"""A strategy's programs for a task's table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from npuforge.bench.suites.npukernelbench.judged import ADAPTER
from npuforge.bench.suites.npukernelbench.smaller import smaller
from npuforge.bench.tables import Row, StandIn, Table, solve
from npuforge.bench.tables.outcome import Sample
from npuforge.bench.tables.planned import sample_of, samples_of, write
from npuforge.bench.task import Task
from npuforge.generate.writer import Writer
from npuforge.spec.session import operator_name
from npuforge.untrusted.inputs import read_source

# The suite's score does not look at time: the cost model's favourite is taken as it is.
_CANDIDATES = 1


def planned(
    task: Task, rows: Sequence[Row], writer: Writer, soc: str, place: Path, *, static: bool
) -> list[Sample]:
    """One sample for the table, or one for each row where sizes are static."""
    fewer = {number: found for number, row in enumerate(rows) if (found := smaller(row))}
    stand_ins = {
        number: StandIn((len(rows) + place,), instead=True) for place, number in enumerate(fewer)
    }
    every = [*rows, *fewer.values()]
    name = operator_name(task.place.name)
    module = task.place / "validation" / "module.py"
    text = read_source(module) if module.is_file() else ""
    table = Table(name, ADAPTER, task.place, every, stand_ins=stand_ins, text=text)
    solved = solve(table, writer, soc=soc, static=static, candidates=_CANDIDATES)
    write(solved, place / "answer", "npukb")
    cases = [int(row["case_id"]) for row in rows]
    return samples_of(solved, cases) if static else [sample_of(solved, cases)]
