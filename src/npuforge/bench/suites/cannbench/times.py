# SPDX-License-Identifier: Apache-2.0
"""What a case's time is compared with, and whose figure that is.

The suite's file of times is cut off: since June 2026 a baseline is at most ten times the hardware's
bound, and one that nobody measured is that very number. The figures as they were measured are part
of this package (`npuforge.eager`), without case numbers; where several of one operator have the
same shapes and types, the shortest that agrees with the suite's file is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from npuforge.bench.suites.cannbench import score
from npuforge.bench.suites.cannbench.checkout import Case, Operator, Times
from npuforge.eager.table import rows

_NEAR = 0.006  # the suite's file is rounded to a hundredth of a microsecond


@dataclass(frozen=True, slots=True)
class Anchor:
    """A case's baseline and bound; `source` says whose the baseline is.

    `measured`: as it was measured. `published`: from the suite's file, where it is not cut off.
    `proxy`: nobody measured one, it follows from the bound. `cut` is the file's own figure.
    """

    baseline_us: float | None
    source: Literal["measured", "published", "proxy"] | None
    cut_us: float | None
    bound_us: float | None


def anchor(operator: Operator, case: Case, times: Times | None, soc: str) -> Anchor:
    """What the case is compared with on the chip."""
    if times is None or times.bound_us is None:
        return Anchor(None, None, None, None)
    limit = score.proxy(times.bound_us)
    cut = times.baseline_us
    if cut is not None and cut < limit * (1.0 - _NEAR):
        return Anchor(cut, "published", cut, times.bound_us)
    alike = [
        us for us in _measured(operator, case, soc) if us >= (cut or limit) * (1.0 - _NEAR) - 0.01
    ]
    if alike:
        return Anchor(min(alike), "measured", cut or limit, times.bound_us)
    return Anchor(cut or limit, "proxy", cut or limit, times.bound_us)


def _measured(operator: Operator, case: Case, soc: str) -> list[float]:
    shapes, dtypes = zip(*_flat(case.shapes, case.dtypes), strict=True) if case.shapes else ((), ())
    folder = operator.path.rsplit("/", 1)[-1]
    return [
        row.us
        for row in rows()
        if row.suite == "cannbench"
        and row.name == folder
        and row.machine == soc
        and row.shapes == shapes
        and row.dtypes == dtypes
    ]


def _flat(shapes: Any, dtypes: Any) -> Iterator[tuple[tuple[int, ...], str]]:
    """Every tensor's shape and type."""
    if shapes is None:
        return
    if isinstance(shapes, list) and all(isinstance(extent, int) for extent in shapes):
        kind = dtypes
        while isinstance(kind, list) and kind:
            kind = kind[0]
        yield tuple(shapes), str(kind)
        return
    for number, item in enumerate(shapes):
        several = isinstance(dtypes, list) and number < len(dtypes)
        yield from _flat(item, dtypes[number] if several else dtypes)
