# SPDX-License-Identifier: Apache-2.0
"""The model of eager execution against measured times.

    python benchmarks/calibration/eager.py [--all] [--suite NAME] [--task PART] [--verbose]

A quarter of the rows is held out of the fit (`eager_fit.py`) and reported here; `--all` takes every
row. Operations that only one or two rows have are never held out: nothing else would fit them.
"""

from __future__ import annotations

import zlib
from argparse import ArgumentParser
from collections import Counter
from functools import cache

from agreement import Comparison, print_table, spearman

from npuforge.eager.kernels import kernels
from npuforge.eager.model import modelled
from npuforge.eager.parameters import load
from npuforge.eager.table import Row, rows

_RARE = 3  # a class in fewer rows is fitted, not tested


def recorded_rows() -> list[Row]:
    return [row for row in rows() if row.operations]


def held_out(row: Row) -> bool:
    """Whether the fit must not see the row; a matter of its name and shapes alone."""
    if any(_rows_of_class()[kind] < _RARE for kind in _classes(row)):
        return False
    return zlib.crc32(f"{row.suite} {row.name} {row.shapes}".encode()) % 4 == 0


def _classes(row: Row) -> set[str]:
    return {k.kind for entry in row.operations for k in kernels(entry, load(), 48)}


@cache
def _rows_of_class() -> Counter[str]:
    return Counter(kind for row in recorded_rows() for kind in _classes(row))


def main() -> None:
    options = ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--all", action="store_true")
    options.add_argument("--suite")
    options.add_argument("--task")
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    parameters = load()
    found = [
        Comparison(
            f"{row.name[-24:]} {'x'.join(map(str, row.shapes[0]))}",
            row.us,
            modelled(row.operations, parameters, parameters.machines[row.machine]).us,
            ", ".join(sorted(_classes(row)))[:60],
        )
        for row in recorded_rows()
        if (given.all or held_out(row))
        and given.suite in (None, row.suite)
        and (given.task or "") in row.name
    ]
    if given.verbose:
        print_table(sorted(found, key=lambda row: abs(row.error)))
        return
    errors = sorted(abs(row.error) for row in found)
    within = sum(0.5 <= row.modelled_us / row.measured_us <= 2 for row in found) / len(found)
    correlation = spearman([(row.measured_us, row.modelled_us) for row in found])
    print(
        f"{len(found)} rows: median error {errors[len(errors) // 2]:.1%}, within a factor of two "
        f"{within:.1%}, Spearman {correlation:.3f}"
    )


if __name__ == "__main__":
    main()
