# SPDX-License-Identifier: Apache-2.0
"""What the planner answers with: programs to choose from, and what their tensors stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from npuforge.errors import UsageError
from npuforge.language import Language


class PlanError(UsageError):
    """A graph that cannot be planned: which operation, and why."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor parameter of the program's host function.

    `source` names the graph's source it is given; `result` is the index among the graph's results
    it comes back as. A tensor updated in place has both.
    """

    name: str
    role: Literal["input", "output", "inout"]
    source: str | None = None
    result: int | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to write it: `program` is its source, `why` the reason to try it."""

    title: str
    program: str
    why: str
    language: Language = "tile"


@dataclass(frozen=True, slots=True)
class Plan:
    """Programs that compute the same; the first is the one the cost model prefers."""

    name: str
    variants: tuple[Variant, ...]
    operands: tuple[Operand, ...]
