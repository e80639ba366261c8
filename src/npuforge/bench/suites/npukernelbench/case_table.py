# SPDX-License-Identifier: Apache-2.0
"""A task's table of cases, typed as the suite types it: as a data frame."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from npuforge.bench.tables import Row
from npuforge.errors import UsageError
from npuforge.untrusted.inputs import read_text

# What pandas takes for a missing value, and for a truth value.
_MISSING = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
}
_TRUE = {"True", "TRUE", "true"}
_FALSE = {"False", "FALSE", "false"}


def rows(path: Path) -> list[Row]:
    """The cases in order; `UsageError` says what is wrong with the table."""
    try:
        lines = io.StringIO(read_text(path), newline="")
        table = list(csv.reader(lines, delimiter=";"))
    except (UsageError, csv.Error) as error:
        raise UsageError(f"the table of cases cannot be read: {error}") from None
    table = [line for line in table if line]
    if len(table) < 2:
        raise UsageError("the table of cases is empty")
    names, *cases = table
    if "case_id" not in names:
        raise UsageError("the table of cases has no column case_id")
    if any(len(line) > len(names) for line in cases):
        raise UsageError("a line of the table of cases has more fields than there are columns")
    filled = [[*line, *[""] * (len(names) - len(line))] for line in cases]
    turned = zip(*filled, strict=True)
    columns = {name: _typed(list(column)) for name, column in zip(names, turned, strict=True)}
    if _all_numbers(columns.values()):
        # A row of a frame with numbers only has one type.
        columns = {name: [float(v) for v in column] for name, column in columns.items()}
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _all_numbers(columns: Any) -> bool:
    kinds = {type(value) for column in columns for value in column}
    return kinds == {int, float}


def _typed(texts: Sequence[str]) -> list[Any]:
    """A column: whole numbers, numbers, truth values (which become 0 and 1), or texts."""
    known = [text for text in texts if text not in _MISSING]
    if known and all(text in _TRUE | _FALSE for text in known):
        if len(known) == len(texts):
            return [int(text in _TRUE) for text in texts]
        return [text in _TRUE if text not in _MISSING else math.nan for text in texts]
    numbers = _converted(known, float)
    if known and numbers is not None:
        if len(known) < len(texts):
            return [float(text) if text not in _MISSING else math.nan for text in texts]
        whole = _converted(known, int)
        if whole is not None:
            return whole
        return [int(n) for n in numbers] if all(n.is_integer() for n in numbers) else numbers
    return [text if text not in _MISSING else math.nan for text in texts]


def _converted(texts: Sequence[str], kind: Callable[[str], Any]) -> list[Any] | None:
    try:
        return [kind(text) for text in texts]
    except ValueError:
        return None
