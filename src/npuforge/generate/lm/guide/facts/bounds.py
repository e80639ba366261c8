# SPDX-License-Identifier: Apache-2.0
"""Values that are held between bounds: by those that the question gives, and no others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from npuforge.generate.lm.guide.facts.dataflow import Step

_CLAMP, _NONE = "clamp", "None"
_HELD_BY = ("maximum", "minimum")  # what is not below the first bound, nor above the second


def not_bounds(
    step: Step, operation: str, operands: Collection[str], given: Sequence[str]
) -> str | None:
    """What is wrong with a value that is another one between bounds."""
    value = step.value
    if operation != _CLAMP or step.made.leaves != set(operands):
        return None
    bounds = [*given[1:], _NONE, _NONE]
    for instruction, bound in zip(_HELD_BY, bounds, strict=False):
        done = instruction in step.made.instructions
        if done and bound == _NONE:
            return f"{value} has no such bound as {instruction}"
    return None
