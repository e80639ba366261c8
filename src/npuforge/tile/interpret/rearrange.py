# SPDX-License-Identifier: Apache-2.0
"""Operations that move elements: gather, scatter, transpose, reverse, sort and top-k."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from npuforge.dtypes import AnyArray
from npuforge.tile.interpret.failure import failure
from npuforge.tile.interpret.request import Request, Values


def _gather(request: Request) -> Values:
    source, places = request.array(0), request.array(1)
    _inside(request, places, source.size)
    return (source[places],)


def _inside(request: Request, places: AnyArray, size: int) -> None:
    outside = (places < 0) | (places >= size)
    if outside.any():
        raise failure(
            "TL-16", request.op.span, f"index {int(places[outside][0])} into {size} elements"
        )


_COMBINE: Mapping[str, Callable[[AnyArray, AnyArray], AnyArray]] = {
    "scatter": lambda _, new: new,
    "scatter_add": lambda old, new: old + new,
    "scatter_mul": lambda old, new: old * new,
    "scatter_max": np.maximum,
    "scatter_min": np.minimum,
}


def _scatter(request: Request) -> Values:
    target, places, source = (request.array(place) for place in range(3))
    _inside(request, places, target.size)
    result = target.copy()
    combine = _COMBINE[request.op.name]
    for place, value in zip(places, source, strict=True):
        result[place] = combine(result[place], value)
    return (result,)


def _compact(request: Request) -> Values:
    source, chosen = request.array(0), request.array(1)
    kept = source[chosen]
    result = np.frombuffer(b"\x7f" * source.nbytes, source.dtype).copy()  # what nobody may read
    result[: kept.size] = kept
    return result, np.asarray([kept.size], np.int32)


def _gather_blocks(request: Request) -> Values:
    """Rows are whole blocks; what stands behind the end of a row counts as zero."""
    source, places = request.array(0), request.array(1)
    lanes = 32 // source.itemsize
    rows = source.reshape(-1, source.shape[-1])
    padded = np.pad(rows, ((0, 0), (0, -rows.shape[1] % lanes)))
    blocks = padded.reshape(-1, lanes)
    _inside(request, places, len(blocks))
    return (blocks[places].reshape(request.shapes[0]),)


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
    **dict.fromkeys(_COMBINE, _scatter),
    "compact": _compact,
    "gather_blocks": _gather_blocks,
    "transpose": _transpose,
    "reverse": _reverse,
    "sort": _sort,
    "topk": _sort,
}
