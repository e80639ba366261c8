# SPDX-License-Identifier: Apache-2.0
"""One random operator by seed and number: the same every time, on every machine."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

from npuforge.train.operators.families import AS_GIVEN, FAMILIES
from npuforge.train.operators.sketch import Sketch

_WIDE = 0.15


@dataclass(frozen=True, slots=True)
class Drawn:
    """A module's text, in the form of a file with `Model` and `get_inputs`."""

    seed: int
    index: int
    family: str
    source: str


def draw(seed: int, index: int, families: Collection[str] = ()) -> Drawn:
    """The operator of that number, of one of these families, or of any where none is named."""
    rng = random.Random(f"npuforge operator {seed} {index}")
    names = [name for name in FAMILIES if not families or name in families]
    family = rng.choices(names, [FAMILIES[name][1] for name in names])[0]
    sketch = Sketch(rng, wide=family not in AS_GIVEN and rng.random() < _WIDE)
    results = FAMILIES[family][0](sketch)
    return Drawn(seed, index, family, sketch.text(results))
