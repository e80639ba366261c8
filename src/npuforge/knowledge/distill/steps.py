# SPDX-License-Identifier: Apache-2.0
"""The steps in order; each sees what the ones before it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from npuforge.knowledge.distill.decision import Bench, Decision
from npuforge.knowledge.distill.pairs import conflicts, redundant
from npuforge.knowledge.distill.single import broken, flawed, idle, misapplied

Step = Literal["broken", "misapplied", "flawed", "idle", "conflict", "redundant"]
STEPS: tuple[Step, ...] = ("broken", "misapplied", "flawed", "idle", "conflict", "redundant")


def distill(
    bench: Bench, steps: Sequence[Step] = STEPS, *, dry: bool = False, everything: bool = False
) -> Iterator[Decision]:
    """Every decision as soon as it is taken, which is when it is done, unless `dry`. `everything`
    runs all entries again, not only those whose evidence is of another version."""
    known: Mapping[Step, Callable[[Bench], Iterator[Decision]]] = {
        "broken": partial(broken, everything=everything),
        "misapplied": misapplied,
        "flawed": flawed,
        "idle": idle,
        "conflict": conflicts,
        "redundant": redundant,
    }
    for step in STEPS:
        if step not in steps:
            continue
        for decision in known[step](bench):
            if decision.puts and not dry:
                bench.store.change(decision.kind, decision.why, decision.puts)
            yield decision
