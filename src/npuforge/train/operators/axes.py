# SPDX-License-Identifier: Apache-2.0
"""Which axes an operation goes along: the last one, one in the middle, several at once."""

from __future__ import annotations

import random
from collections.abc import Sequence


def some_axes(rng: random.Random, rank: int) -> tuple[int, ...]:
    """Axes to fold, counted from the first; the last one alone most often, seldom all of them."""
    kind = rng.random()
    if rank == 1 or kind < 0.4:
        return (rank - 1,)
    if kind < 0.65:
        return (rng.randrange(rank),)
    if kind < 0.8:  # planes: all axes from one on
        return tuple(range(rng.randrange(1, rank), rank))
    if kind < 0.93:  # all but one, as statistics of channels are
        kept = rng.randrange(rank)
        return tuple(axis for axis in range(rank) if axis != kept)
    first = rng.randrange(rank - 1)
    return (first, first + 1)


def spelled(rng: random.Random, axes: Sequence[int], rank: int) -> str:
    """Axes as they are written: from either end, one of them as a number or a tuple."""
    behind = rank if rng.random() < 0.5 else 0
    if len(axes) == 1 and rng.random() < 0.9:
        return str(axes[0] - behind)
    return "(" + "".join(f"{axis - behind}, " for axis in axes).rstrip() + ")"


def folded(shape: Sequence[int], axes: Sequence[int], *, keep: bool) -> list[int]:
    """The shape that is left."""
    if keep:
        return [1 if axis in axes else extent for axis, extent in enumerate(shape)]
    return [extent for axis, extent in enumerate(shape) if axis not in axes]
