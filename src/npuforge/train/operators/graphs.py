# SPDX-License-Identifier: Apache-2.0
"""Random graphs of element-wise operations over given values."""

from __future__ import annotations

from collections.abc import Sequence

from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def chain(sketch: Sketch, value: str, steps: int) -> str:
    """So many operations in a row on one value."""
    return graph(sketch, [value], steps)


def graph(sketch: Sketch, values: Sequence[str], steps: int) -> str:
    """A value that depends on all of `values`, by about so many operations; now and then one takes
    an earlier value again."""
    rng, offered = sketch.rng, tables().pointwise
    waiting = list(values)
    rng.shuffle(waiting)
    current = waiting.pop()
    known = [current]
    while waiting or steps > 0:
        steps -= 1
        if waiting and (steps < len(waiting) or rng.random() < 0.5):
            other = waiting.pop()
            if waiting and rng.random() < 0.3:
                third = waiting.pop()
                made = sketch.fill(rng.choice(offered.ternary), a=current, b=other, c=third)
            else:
                first, second = (current, other) if rng.random() < 0.6 else (other, current)
                made = sketch.fill(rng.choice(offered.binary), a=first, b=second)
        elif len(known) > 1 and rng.random() < 0.25:
            earlier = rng.choice(known[:-1])
            made = sketch.fill(rng.choice(offered.binary), a=current, b=earlier)
        else:
            made = sketch.fill(rng.choice(offered.unary), a=current)
        current = sketch.let(made)
        known.append(current)
    return current
