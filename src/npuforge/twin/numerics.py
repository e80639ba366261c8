# SPDX-License-Identifier: Apache-2.0
"""Compare a result with its reference, and say in one line how it is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from npuforge.dtypes import AnyArray, DType, HostTensor, find

_FILE = Path(__file__).with_name("tolerances.toml")
# Elements looked at when a constant factor between result and reference is searched for.
_SCALE_SAMPLE = 4096
# A factor shows in nearly all elements: a zero stays right under any.
_NEARLY_ALL = 0.9
# Relative error is meaningless next to zero: below this share of the largest value it is not taken.
_SMALL = 1e-6


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`|got - want| <= atol + rtol * |want|`; `mismatches` is the share that may exceed it."""

    rtol: float
    atol: float
    mismatches: float = 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The numerical error of one output; `summary` is empty for a correct one."""

    correct: bool
    max_abs: float | None
    max_rel: float | None
    mismatches: int
    summary: str


@cache
def _table() -> Mapping[str, Tolerance]:
    with _FILE.open("rb") as file:
        return {name: Tolerance(**entry) for name, entry in tomllib.load(file).items()}


def tolerance_for(dtype: str | DType) -> Tolerance:
    """What `tolerances.toml` says for this element type."""
    return _table().get(find(dtype).name, _table()["exact"])


def compare(
    got: HostTensor,
    want: HostTensor,
    *,
    tolerance: Tolerance | None = None,
    unwritten: int = 0,
) -> Comparison:
    """`got` against `want`; `unwritten` is the number of elements the kernel never wrote."""
    allowed = tolerance or tolerance_for(got.dtype)
    if got.shape != want.shape:
        text = f"shape {list(got.shape)} instead of {list(want.shape)}"
        return Comparison(False, None, None, got.data.size, text)
    if got.data.size == 0:
        return Comparison(True, 0.0, 0.0, 0, "")
    left, right = _wide(got), _wide(want)
    with np.errstate(all="ignore"):
        error = np.abs(left - right)
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        error = np.where(same, 0, error)
        bad = ~(error <= allowed.atol + allowed.rtol * np.abs(right)) & ~same
        # An infinite reference allows an infinite error in the formula; only equality is right.
        bad |= np.isinf(right) & ~same
    count = int(bad.sum())
    never = got.dtype.kind == "bool" and unwritten > 0
    correct = count <= allowed.mismatches * bad.size and not never
    max_abs = float(error.max())
    max_rel = _relative(error, right)
    summary = "" if correct else describe(left, right, bad, unwritten)
    return Comparison(correct, _finite(max_abs), _finite(max_rel), count, summary)


def describe(left: AnyArray, right: AnyArray, bad: npt.NDArray[np.bool_], unwritten: int) -> str:
    """One line: how many, where first, and the pattern the mismatches follow."""
    count = int(bad.sum())
    parts = [f"{count} of {bad.size} elements differ" if count else "elements agree"]
    if count:
        flat = int(np.argmax(bad))
        index = tuple(int(i) for i in np.unravel_index(flat, bad.shape))
        where = index[0] if len(index) == 1 else list(index)
        got, want = left.reshape(-1)[flat], right.reshape(-1)[flat]
        parts.append(f"first at {where}: {_number(got)} instead of {_number(want)}")
        if pattern := _pattern(left, right, bad):
            parts.append(pattern)
    if unwritten:
        parts.append(f"{unwritten} elements were never written")
    return "; ".join(parts)


def _pattern(left: AnyArray, right: AnyArray, bad: npt.NDArray[np.bool_]) -> str:
    positions = np.flatnonzero(bad)
    got, want = left.reshape(-1), right.reshape(-1)
    if not np.any(got[positions]):
        return "the wrong elements are all zero"
    if np.isnan(got[positions]).all():
        return "the wrong elements are all NaN"
    if positions.size >= _NEARLY_ALL * bad.size and (factor := _factor(got, want)):
        return f"every element is {factor:.6g} times the reference"
    if positions[-1] == bad.size - 1 and positions[-1] - positions[0] + 1 == positions.size:
        if positions.size < bad.size:
            return f"only the tail from element {positions[0]} on is wrong"
        return "every element is wrong"
    steps = np.diff(positions)
    if steps.size and (steps == steps[0]).all() and steps[0] > 1:
        return f"every {_ordinal(int(steps[0]))} element from {int(positions[0])} on is wrong"
    return _rows(bad)


def _ordinal(number: int) -> str:
    return f"{number}{ {2: 'nd', 3: 'rd'}.get(number, 'th') }"


def _rows(bad: npt.NDArray[np.bool_]) -> str:
    if bad.ndim < 2 or bad.shape[-1] == 1:
        return ""
    table = bad.reshape(-1, bad.shape[-1])
    columns: npt.NDArray[np.bool_] = np.asarray(table.all(axis=0))
    if columns.any() and not columns.all() and not table[:, ~columns].any():
        first = int(np.argmax(columns))
        if columns[first:].all():
            return f"in every row the elements from column {first} on are wrong"
    wrong = np.flatnonzero(table.any(axis=1))
    if wrong.size == table.shape[0]:
        return ""
    steps = np.diff(wrong)
    if steps.size and (steps == steps[0]).all():
        every = "row" if steps[0] == 1 else f"{_ordinal(int(steps[0]))} row"
        return f"wrong in every {every} from row {int(wrong[0])} to row {int(wrong[-1])}"
    return f"wrong in {wrong.size} of {table.shape[0]} rows"


def _factor(got: AnyArray, want: AnyArray) -> float | None:
    step = max(1, got.size // _SCALE_SAMPLE)
    usable = np.abs(want[::step]) > 0
    if usable.sum() < 2 or np.iscomplexobj(got):
        return None
    with np.errstate(all="ignore"):
        ratios = got[::step][usable] / want[::step][usable]
    middle = float(np.median(ratios))
    if not np.isfinite(middle) or middle == 0 or not np.allclose(ratios, middle, rtol=1e-2):
        return None
    return middle


def _relative(error: AnyArray, right: AnyArray) -> float:
    size = np.abs(right)
    finite = np.isfinite(size)
    if not finite.any():
        return float(error.max())
    floor = float(size[finite].max()) * _SMALL
    counted = finite & (size > floor)
    if not counted.any():
        return float(error.max())
    return float((error[counted] / size[counted]).max())


def _wide(tensor: HostTensor) -> AnyArray:
    """Values in a type that holds them and their differences exactly enough."""
    kind = tensor.dtype.kind
    if kind == "complex":
        return tensor.values().astype(np.complex128)
    if kind in ("int", "uint") and tensor.dtype.bits == 64:
        return tensor.values().astype(np.longdouble)
    return tensor.values().astype(np.float64)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _number(value: Any) -> str:
    return f"{complex(value):.6g}" if np.iscomplexobj(value) else f"{float(value):.6g}"
