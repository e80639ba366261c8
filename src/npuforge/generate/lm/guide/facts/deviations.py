# SPDX-License-Identifier: Apache-2.0
"""A variance is made of deviations from a mean: its own, or those that are there already.

A question that norms by hand has the deviations as a value of their own, which is no ancestor of
the variance. Whoever subtracts a mean from them again, or squares what no mean was subtracted from,
has another number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from npuforge.generate.lm.guide.facts.dataflow import Step

_VARIANCE = re.compile(r"^(?:var|std)\b")
_SUBTRACTION = "sub"


def not_deviations(
    step: Step, operations: Mapping[str, str], operands: Mapping[str, Sequence[str]]
) -> str | None:
    """What is wrong with what a variance was made of, as far as it came."""
    if not _VARIANCE.match(operations[step.value]):
        return None
    of = operands[step.value][0]
    there = {one for one in step.made.leaves if _deviates(one, of, operations, operands)}
    subtracts = _SUBTRACTION in step.made.instructions
    if there and (subtracts or len(step.made.leaves) > 1):
        return f"{min(there)} deviates from a mean as it is"
    known = step.made.leaves and step.value not in step.made.leaves
    if step.whole and known and not there and not subtracts:
        return f"{step.value} is made of deviations from a mean"
    return None


def _deviates(
    name: str, of: str, operations: Mapping[str, str], operands: Mapping[str, Sequence[str]]
) -> bool:
    given = operands.get(name, ())
    return operations.get(name) == "sub.Tensor" and len(given) > 1 and given[0] == of
