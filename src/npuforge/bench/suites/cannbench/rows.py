# SPDX-License-Identifier: Apache-2.0
"""A case as a row for the sandbox: plain JSON, in full size or scaled down."""

from __future__ import annotations

import math
from typing import Any

from npuforge.bench.suites.cannbench.checkout import Case, Operator
from npuforge.bench.tables.smaller import below, elements, fewer, mapped


def row(operator: Operator, case: Case) -> dict[str, Any]:
    """All that makes a case: how inputs are made, what is called with them, how it is judged."""
    return {
        "case": case.number,
        "function": operator.function,
        "inputs": operator.inputs,
        "outputs": operator.outputs,
        "thresholds": operator.thresholds,
        "seed": operator.seed(case.number),
        "shapes": case.shapes,
        "dtypes": case.dtypes,
        "ranges": plain(case.ranges),
        "attributes": plain(case.attributes),
    }


def scaled(given: dict[str, Any], most: int) -> list[dict[str, Any]]:
    """The row with fewer elements, in the ways worth trying; empty where it is small enough.

    Whole numbers that were below an extent stay below it.
    """
    if elements(given["shapes"]) <= most:
        return []
    found: list[dict[str, Any]] = []
    for numbers in fewer(given["shapes"], most):
        shapes = mapped(given["shapes"], numbers)
        option = {**given, "shapes": shapes, "ranges": below(given["ranges"], numbers)}
        if option not in found:
            found.append(option)
    return found


def plain(value: Any) -> Any:
    """What JSON can say: infinities and not-a-number become text in a wrapping of their own."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
