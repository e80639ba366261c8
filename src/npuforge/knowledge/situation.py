# SPDX-License-Identifier: Apache-2.0
"""What is known about a task when its program fails: enough to tell which entries concern it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from npuforge.dtypes import find
from npuforge.language import Language


class Situation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`operators` are structures of the graph, `facts` the numbers that `tags.toml` lists. What is
    empty is not known. `cause` is how the last program failed."""

    language: Language
    operators: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    soc: str = ""
    cann: str = ""
    cause: str = ""
    bottleneck: str = ""
    facts: dict[str, int] = {}

    def words(self, fact: str) -> tuple[str, ...]:
        """What is known of a fact whose values are words."""
        known: Mapping[str, tuple[str, ...]] = {
            "dtype": self.dtypes,
            "operator": self.operators,
            "soc": (self.soc,) if self.soc else (),
            "language": (self.language,),
        }
        return known[fact]


def facts_of(tensors: Sequence[tuple[Sequence[int], str]]) -> dict[str, int]:
    """The facts of tensors, each a shape and the name of its element type."""
    if not tensors:
        return {}
    counted = [(_product(shape), tuple(shape), find(dtype)) for shape, dtype in tensors]
    elements, shape, dtype = max(counted, key=lambda one: one[0])
    row = shape[-1] if shape else 1
    return {
        "elements": elements,
        "row": row,
        "row_bytes": dtype.bytes_for(row),
        "rows": elements // row if row else 0,
        "rank": len(shape),
        "tensors": len(tensors),
    }


def _product(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
