# SPDX-License-Identifier: Apache-2.0
"""Operators of several steps on one shape: chains of statistics, masked work, long blocks."""

from __future__ import annotations

from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables
from npuforge.train.operators.work import Work


def statistics(sketch: Sketch) -> list[str]:
    """Two to four statistics, each of what the one before left."""
    rng = sketch.rng
    work = _begun(sketch, (2, 2, 3, 3, 4), steady=0.7)
    for _ in range(rng.choice((1, 2, 2, 3))):
        if rng.random() < 0.5:
            work.pointwise()
        work.measured()
        if rng.random() < 0.3:  # another one of the same value
            work.measured()
        work.applied()
    return work.ended()


def masked(sketch: Sketch) -> list[str]:
    """A mask or two, with element-wise work and a statistic around them."""
    rng = sketch.rng
    work = _begun(sketch, (1, 2, 2, 2, 3, 3, 4), steady=0.8)
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.4:
            work.pointwise()
        work.masked()
        if rng.random() < 0.35:
            work.measured()
            work.applied()
    return work.ended()


def blocks(sketch: Sketch) -> list[str]:
    """Steps of every kind, and an end, as blocks of networks have."""
    rng = sketch.rng
    work = _begun(sketch, (2, 2, 2, 3, 3, 4), steady=0.9)
    if rng.random() < 0.7:
        work.axes = (len(work.shape) - 1,)
    for _ in range(rng.choice((3, 4, 4, 5, 5))):
        kind = rng.random()
        if kind < 0.35:
            work.pointwise()
        elif kind < 0.5:
            work.measured()
            work.applied()
        elif kind < 0.7:
            axes = work.along_one()
            weight = sketch.tensor(work.shape[-1:], work.dtype)
            work.put(rng.choice(tables().calm.stages), d=axes, w=weight)
        elif kind < 0.85:
            work.again()
        else:
            work.masked()
    return work.ended()


def _begun(sketch: Sketch, ranks: tuple[int, ...], steady: float) -> Work:
    rng = sketch.rng
    shape = sketch.shape(rng.choice(ranks), most=1 << 21)
    return Work(sketch, shape, rng.choice((1, 1, 2, 2, 3)), steady)
