# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from npuforge.dtypes import AnyArray, DType, find
from npuforge.tile.interpret.cast import cast
from npuforge.tile.interpret.failure import failure
from npuforge.tile.interpret.request import Request, Values

_FLOAT32 = find("float32")
# What a reduction of nothing gives.
_NEUTRAL = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_FUNCTIONS: Mapping[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _rounded(values: AnyArray, dtype: DType) -> AnyArray:
    return cast(values.astype(np.float32), _FLOAT32, dtype, "none")


def _reduce(what: str) -> Callable[[Request], Values]:
    def reduced(request: Request) -> Values:
        axis = request.op.attrs["axis"]
        wide = request.array(0).astype(np.float64)
        result = _FUNCTIONS[what].reduce(
            wide, axis=axis if isinstance(axis, int) else None, initial=_NEUTRAL[what]
        )
        return (_rounded(np.asarray(result), request.dtype).reshape(request.shapes[0]),)

    return reduced


def _arg(find_place: Callable[..., Any]) -> Callable[[Request], Values]:
    def reduced(request: Request) -> Values:
        rows = np.atleast_2d(request.array(0))
        if rows.shape[1] == 0 and rows.shape[0] > 0:
            raise failure("TL-08", request.op.span, f"tl.{request.op.name} of nothing")
        places = np.asarray(find_place(rows, axis=1)) if rows.size else np.zeros(0, np.int64)
        values = np.take_along_axis(rows, places[:, np.newaxis], axis=1)[:, 0]
        return values.reshape(request.shapes[0]), places.astype(np.int32).reshape(request.shapes[1])

    return reduced


def _neighbours(what: str, lanes: int | None) -> Callable[[Request], Values]:
    """Each group of neighbours becomes one element; the last group may be short."""

    def reduced(request: Request) -> Values:
        group = lanes or 256 // request.dtype.bits
        wide = request.array(0).astype(np.float64)
        short = -len(wide) % group
        padded = np.concatenate([wide, np.full(short, _NEUTRAL[what])])
        result = _FUNCTIONS[what].reduce(padded.reshape(-1, group), axis=1)
        return (_rounded(np.asarray(result), request.dtype),)

    return reduced


def _scan(what: str) -> Callable[[Request], Values]:
    def scanned(request: Request) -> Values:
        axis = request.op.attrs["axis"]
        assert isinstance(axis, int)
        wide = request.array(0).astype(np.float64)
        result = _FUNCTIONS[what].accumulate(wide, axis=axis)
        return (_rounded(np.asarray(result), request.dtype),)

    return scanned


REDUCTIONS: Mapping[str, Callable[[Request], Values]] = {
    "reduce_sum": _reduce("sum"),
    "reduce_max": _reduce("max"),
    "reduce_min": _reduce("min"),
    "reduce_prod": _reduce("prod"),
    "argmax": _arg(np.argmax),
    "argmin": _arg(np.argmin),
    "block_reduce_sum": _neighbours("sum", None),
    "block_reduce_max": _neighbours("max", None),
    "block_reduce_min": _neighbours("min", None),
    "pair_reduce_sum": _neighbours("sum", 2),
    "cumsum": _scan("sum"),
    "cumprod": _scan("prod"),
    "cummax": _scan("max"),
    "cummin": _scan("min"),
}
