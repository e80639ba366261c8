# SPDX-License-Identifier: Apache-2.0
"""Operations that move elements: gather, transpose, reverse, sort and top-k."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from npuforge.tile.interpret.failure import failure
from npuforge.tile.interpret.request import Request, Values


def _gather(request: Request) -> Values:
    source, places = request.array(0), request.array(1)
    outside = (places < 0) | (places >= source.size)
    if outside.any():
        raise failure(
            "TL-16",
            request.op.span,
            f"index {int(places[outside][0])} into {source.size} elements",
        )
    return (source[places],)


def _transpose(request: Request) -> Values:
    return (request.array(0).T.copy(),)


def _reverse(request: Request) -> Values:
    return (request.array(0)[::-1].copy(),)


def _sort(request: Request) -> Values:
    """Equal elements keep their order; the first elements for top-k. NaN counts as the largest."""
    source = request.array(0)
    count = request.shapes[0][0]
    if count > source.size:
        raise failure("TL-16", request.op.span, f"the first {count} of {source.size} elements")
    if request.op.attrs["descending"]:
        # Last first, sorted, and read backwards: descending, equal ones in their order.
        order = source.size - 1 - np.argsort(source[::-1], kind="stable")[::-1]
    else:
        order = np.argsort(source, kind="stable")
    return source[order][:count], order[:count].astype(np.int32)


REARRANGEMENTS: Mapping[str, Callable[[Request], Values]] = {
    "gather": _gather,
    "transpose": _transpose,
    "reverse": _reverse,
    "sort": _sort,
    "topk": _sort,
}
