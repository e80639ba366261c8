# SPDX-License-Identifier: Apache-2.0
"""What wrong results have in common: where they lie, and how they differ.

A kernel that forgets its tail, reads with the wrong stride or scales twice leaves its mark. The
first pattern that explains every wrong element is said, the special ones first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from npuforge.dtypes import AnyArray

Mask = npt.NDArray[np.bool_]
_CLOSE = 1e-3
_FEW = 4  # elements below which nothing can be told
_MOST = 1 << 20  # elements looked at
_LARGEST_SHIFT = 4096


@dataclass(frozen=True, slots=True)
class Wrong:
    """Results beside what was wanted, and which elements are off; all of one shape."""

    got: AnyArray
    want: AnyArray
    off: Mask

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.off))


def describe(got: AnyArray, want: AnyArray, off: Mask) -> str | None:
    """Where and how results are wrong; None where none is, or where nothing stands out."""
    if not off.any():
        return None
    if np.iscomplexobj(got):
        return next(_places(Wrong(got, want, off)), None)
    wrong = Wrong(got.astype(np.float64), want.astype(np.float64), off)
    found = (next(_places(wrong), None), next(_values(wrong), None))
    return "; ".join(part for part in found if part is not None) or None


def _values(wrong: Wrong) -> Iterator[str]:
    """How the wrong elements differ."""
    got, want = wrong.got[wrong.off][:_MOST], wrong.want[wrong.off][:_MOST]
    if bool((got == 0).all()) and bool((want != 0).any()):
        yield "they are all zero: the value is never computed or never stored"
    if bool(np.isnan(got).all()):
        yield "they are all not-a-number: data that nobody wrote is used, or 0/0 and inf-inf occur"
    finite = np.isfinite(got) & np.isfinite(want)
    if not bool(finite.all()):
        some = int(np.count_nonzero(~np.isfinite(got) & np.isfinite(want)))
        if some == got.size:
            yield "they are all infinite or not-a-number: an intermediate overflows"
        return
    if got.size < _FEW:
        return
    yield from _by_one_number(got, want)
    shift = _shift(wrong)
    if shift is not None:
        side = "later" if shift > 0 else "earlier"
        yield f"every element is the one wanted {abs(shift)} places {side}"
    if wrong.got.ndim == 2 and _turned(wrong):
        yield "rows and columns are exchanged"
    relative = np.abs(got - want) / np.maximum(np.abs(want), 1e-30)
    if bool((relative < 2.0**-7).all()):
        yield "they are slightly off: rounded to half precision, or a coarse approximation"


def _by_one_number(got: AnyArray, want: AnyArray) -> Iterator[str]:
    large = np.abs(want) > 1e-6 * np.abs(want).max()
    if np.unique(want[large]).size >= _FEW:
        ratio = _constant(got[large] / want[large])
        if ratio is not None and abs(ratio - 1) > _CLOSE:
            yield (
                "their signs are turned"
                if abs(ratio + 1) < _CLOSE
                else f"they are {ratio:.4g} times what is wanted"
            )
        apart = _constant(got - want)
        if apart is not None:
            yield f"they are off by the constant {apart:.4g}"
        if bool((got == got[0]).all()):
            yield f"they are all {got[0]:.4g}: one value is spread over what should differ"


def _constant(values: AnyArray) -> float | None:
    middle = float(np.median(values))
    scale = max(abs(middle), 1e-12)
    return middle if bool((np.abs(values - middle) <= _CLOSE * scale).all()) else None


def _shift(wrong: Wrong) -> int | None:
    """By how many places results stand beside where they belong."""
    got, want = wrong.got.reshape(-1)[:_MOST], wrong.want.reshape(-1)[:_MOST]
    if got.size < 4 * _FEW or np.unique(want).size < want.size // 2:
        return None
    places = np.flatnonzero(wrong.off.reshape(-1)[: got.size])
    at = int(places[places.size // 2]) if places.size else 0
    for place in np.flatnonzero(np.isclose(want, got[at], rtol=1e-6, atol=0)):
        shift = int(place) - at
        if shift == 0 or abs(shift) > min(_LARGEST_SHIFT, got.size // 2):
            continue
        low, high = max(0, -shift), min(got.size, got.size - shift)
        inside = slice(low, high)
        moved = np.isclose(got[inside], want[low + shift : high + shift], rtol=1e-5, atol=0)
        if float(moved.mean()) > 0.9:
            return shift
    return None


def _turned(wrong: Wrong) -> bool:
    turned = wrong.want.T.reshape(wrong.want.shape)
    return bool(np.allclose(wrong.got, turned, rtol=1e-5, atol=0)) and not bool(
        np.allclose(wrong.want, turned)
    )


def _places(wrong: Wrong) -> Iterator[str]:
    """Where the wrong elements lie, the most telling first."""
    off = wrong.off.reshape(-1)
    count, size = wrong.count, off.size
    if count == size:
        yield "every element is wrong"
        return
    column = _columns(wrong)
    if column is not None:
        yield column
    if count < _FEW:
        places = ", ".join(str(tuple(map(int, place))) for place in np.argwhere(wrong.off)[:_FEW])
        yield f"all wrong ones are at {places}" if count > 1 else "all others are right"
        return
    rules: tuple[Callable[[Wrong], str | None], ...] = (_rows, _ends)
    for rule in rules:
        said = rule(wrong)
        if said is not None:
            yield said


def _columns(wrong: Wrong) -> str | None:
    """The same columns of every row that has any."""
    if wrong.off.ndim < 2 or wrong.off.shape[-1] < _FEW:
        return None
    rows = wrong.off.reshape(-1, wrong.off.shape[-1])
    bad = rows.any(axis=1)
    columns = rows[bad].all(axis=0)
    if bad.sum() < 2 or not np.array_equal(rows[bad], np.broadcast_to(columns, rows[bad].shape)):
        return None
    found = np.flatnonzero(columns)
    width = rows.shape[1]
    whose = "every row" if bad.all() else f"{int(bad.sum())} of {bad.size} rows"
    if found.size == width:
        return None  # whole rows
    if found[-1] - found[0] + 1 != found.size:
        return f"the same {found.size} of {width} columns of {whose}"
    if found[-1] == width - 1:
        return f"the last {found.size} of {width} columns of {whose}: the tail of a row"
    if found[0] == 0:
        return f"the first {found.size} of {width} columns of {whose}"
    return f"columns {found[0]} to {found[-1]} of {width}, of {whose}"


def _rows(wrong: Wrong) -> str | None:
    """Whole rows, and which."""
    if wrong.off.ndim < 2:
        return None
    rows = wrong.off.reshape(-1, wrong.off.shape[-1])
    bad = rows.any(axis=1)
    if bad.all() or not bool(rows[bad].mean() > 0.5):
        return None
    found = np.flatnonzero(bad)
    if found.size >= 3:
        steps = np.unique(np.diff(found))
        if steps.size == 1 and steps[0] > 1:
            return f"one row in {steps[0]}, from row {found[0]} on"
    if found[-1] - found[0] + 1 != found.size:
        return f"{found.size} of {bad.size} rows, the first is row {found[0]}"
    if found[-1] == bad.size - 1:
        return f"all rows from {found[0]} of {bad.size} on: a tail, or cores without their share"
    if found.size == 1:
        return f"row {found[0]} of {bad.size}"
    return f"rows {found[0]} to {found[-1]} of {bad.size}"


def _ends(wrong: Wrong) -> str | None:
    """A stretch of elements in memory's order."""
    off = wrong.off.reshape(-1)
    found = np.flatnonzero(off)
    first, last = int(found[0]), int(found[-1])
    if found.size >= _FEW and np.unique(np.diff(found)).size == 1 and found[1] - found[0] > 1:
        return f"one element in {int(found[1] - found[0])}, from element {first} on"
    if found.size < 0.5 * (last - first + 1):
        return None
    if last == off.size - 1 and first == 0:
        return None
    if last == off.size - 1:
        return f"all from element {first} of {off.size} on: a tail, or cores without their share"
    if first == 0:
        return f"the first {last + 1} of {off.size} elements"
    return f"elements {first} to {last} of {off.size}"
