# SPDX-License-Identifier: Apache-2.0
"""Compare a result with its reference, and say in one line how it is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from npuforge.dtypes import AnyArray, DType, HostTensor, find
from npuforge.twin import mismatch

_FILE = Path(__file__).with_name("tolerances.toml")
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


def is_looser(tolerance: Tolerance, default: Tolerance) -> bool:
    """Tell whether a tolerance lets anything pass that the default does not."""
    return (
        tolerance.rtol > default.rtol
        or tolerance.atol > default.atol
        or tolerance.mismatches > default.mismatches
    )


def compare(
    got: HostTensor,
    want: HostTensor,
    *,
    tolerance: Tolerance | None = None,
    unwritten: int = 0,
) -> Comparison:
    """Compare `got` with `want`; `unwritten` is the number of elements the kernel never wrote.

    The tolerance is that of the wanted type, and another type or shape is wrong by itself.
    """
    allowed = tolerance or tolerance_for(want.dtype)
    if told := mismatch_of([got], [want]):
        return Comparison(False, None, None, got.data.size, told)
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


def mismatch_of(got: Sequence[HostTensor], want: Sequence[HostTensor]) -> str | None:
    """Say how the shapes and element types differ from what is wanted; None where they do not."""
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        what = f"result {number} has " if len(want) > 1 else ""
        if one.shape != other.shape:
            return f"{what}shape {list(one.shape)} instead of {list(other.shape)}"
        if one.dtype != other.dtype:
            return f"{what}type {one.dtype.name} instead of {other.dtype.name}"
    return None


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
        if pattern := mismatch.describe(left, right, bad):
            parts.append(pattern)
    if unwritten:
        parts.append(f"{unwritten} elements were never written")
    return "; ".join(parts)


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
