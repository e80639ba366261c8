# SPDX-License-Identifier: Apache-2.0
"""Tasks that are tables of cases: planned, run and judged row by row.

    table = Table("exp", ADAPTER, place=folder, rows=rows)
    solved = solve(table, strategies.writer("planner"), soc="910b2")

A suite gives rows (plain JSON) and an adapter: a Python file of ours that runs in the sandbox only,
where it loads the suite's own reference and checker. It defines `open_task(place: str)`, which
returns an object with

* `init(row) -> list`: what the reference is made with: numbers, names, tensors, lists of them;
* `model(row, init) -> Callable`: the reference, a module or a function;
* `arguments(row) -> list`: what the reference is called with, the same kinds of things;
* `check(row, arguments, wanted, given) -> (bool, str, dict[str, float | None])`: the suite's own
  check of `given` against `wanted`, what the reference returned for `arguments`: whether it passes,
  a line to show, and figures to keep. `given` is nested as `wanted` is;
* `drawn(row) -> list`, where `arguments` seeds by itself, as its suite does: the same kinds of
  things by whatever random numbers come next.

Tensors are made on torch's default device (`torch.get_default_device()` where a device is asked
for), which is `meta` while a graph is captured. The caller seeds torch, numpy and random before
each of them, with a number that depends on the row alone. Arguments are always fresh ones.

`solve` groups rows by everything but extents (nesting, types, ranks, attributes). For a row that no
program accepts yet, its graph is captured, planned, built and proven on shapes and values of our
own (`strict`); every row then runs on the twin in check mode with the adapter's arguments and is
judged by the suite (`published`) and by us; a large row may have a smaller one stand in for it
(`StandIn`). Each row has its time and its eager baseline. Rows whose graph cannot be captured or
planned say why (`unplanned`).
"""

from npuforge.bench.tables.result import Program, RowResult, Solved
from npuforge.bench.tables.solve import solve
from npuforge.bench.tables.table import Row, StandIn, Table, spread

__all__ = ["Program", "Row", "RowResult", "Solved", "StandIn", "Table", "solve", "spread"]
