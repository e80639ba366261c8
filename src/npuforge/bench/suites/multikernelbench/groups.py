# SPDX-License-Identifier: Apache-2.0
"""Cases of a task that lie in a JSON file beside it, a line for each, as rows of a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from npuforge.bench.modules.checks import MOST
from npuforge.bench.modules.protocol import Tolerance
from npuforge.bench.tables import Row, StandIn
from npuforge.bench.tables.smaller import Extents, below, elements, fewer, mapped
from npuforge.untrusted.inputs import read_text

_LARGEST = 16_000_000  # elements beyond which a case is judged at smaller sizes alone
_SHAPES = ("shape", "shapes")
_BOUNDS = ("range", "range_values")


def lines(task: Path) -> list[str]:
    """The cases of a task's file; none where it has no such data."""
    file = task.with_suffix(".json")
    if not file.is_file():
        return []
    return [line for line in read_text(file).splitlines() if line.strip()]


def rows(chosen: Sequence[tuple[int, str]], seed: int, allowed: Tolerance) -> list[Row]:
    """The cases chosen, by their numbers."""
    return [
        {"group": group, "line": line, "seed": seed, "rtol": allowed.rtol, "atol": allowed.atol}
        for group, line in chosen
    ]


def with_stand_ins(full: Sequence[Row]) -> tuple[list[Row], dict[int, StandIn]]:
    """The rows, then smaller versions of those that are large, and which stand in for which."""
    every = list(full)
    stand_ins: dict[int, StandIn] = {}
    for number, row in enumerate(full):
        options = smaller(row)
        if options:
            places = tuple(range(len(every), len(every) + len(options)))
            instead = elements(_shapes(json.loads(row["line"]))) > _LARGEST
            stand_ins[number] = StandIn(places, instead)
            every += options
    return every, stand_ins


def smaller(row: Row) -> list[Row]:
    """The row with fewer elements, in the ways worth trying; empty where it is small enough.

    Attributes that are extents follow them or stay as they are: nobody says which is meant.
    """
    try:
        case = json.loads(row["line"])
        shapes = _shapes(case)
    except (ValueError, TypeError, KeyError, AttributeError):  # for the task itself to refuse
        return []
    if elements(shapes) <= MOST:
        return []
    found: list[Row] = []
    for numbers in fewer(shapes, MOST):
        for following in (True, False):
            inputs = [_resized(given, numbers, following) for given in case["inputs"]]
            option = {**row, "line": json.dumps({**case, "inputs": inputs})}
            if option not in found:
                found.append(option)
    return found


def _shapes(case: dict[str, Any]) -> list[Any]:
    return [given[key] for given in case["inputs"] for key in _SHAPES if given.get(key)]


def _resized(given: dict[str, Any], numbers: Extents, following: bool) -> dict[str, Any]:
    made = dict(given)
    for key, value in given.items():
        if key in _SHAPES:
            made[key] = mapped(value, numbers)
        elif key in _BOUNDS:
            made[key] = below(value, numbers)
        elif key == "value" and following and not isinstance(value, bool):
            made[key] = mapped(value, numbers) if isinstance(value, int | list) else value
    return made
