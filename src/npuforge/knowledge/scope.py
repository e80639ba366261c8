# SPDX-License-Identifier: Apache-2.0
"""Where an entry may be served: its language, types, chips, versions and boundaries."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.situation import Situation
from npuforge.language import Language

VERSIONS = re.compile(r"(>=|<=|<|>|==)(\d+(?:\.\d+)*)")


class Scope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of an entry that decides whether a situation admits it; empty means any."""

    language: Language
    operators: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    soc: tuple[str, ...] = ()
    cann: str = ">=8.0"
    boundary: tuple[Boundary, ...] = ()

    def suits(self, situation: Situation) -> bool:
        """Whether it may be served there. What the situation does not know forbids nothing."""
        return (
            self.language == situation.language
            and _meet(self.operators, situation.operators)
            and _meet(self.dtypes, situation.dtypes)
            and _meet(self.soc, (situation.soc,) if situation.soc else ())
            and (not situation.cann or _version_holds(self.cann, situation.cann))
            and all(boundary.allows(situation) for boundary in self.boundary)
        )


def _meet(own: Sequence[str], known: Sequence[str]) -> bool:
    return not own or not known or bool(set(own) & set(known))


def _version_holds(wanted: str, version: str) -> bool:
    match = VERSIONS.fullmatch(wanted)
    assert match is not None
    have, need = _numbers(version), _numbers(match[2])
    return {
        ">=": have >= need, "<=": have <= need, ">": have > need, "<": have < need,
        "==": have == need,
    }[match[1]]  # fmt: skip


def _numbers(version: str) -> tuple[int, ...]:
    """Without trailing zeros: 8.0 is 8."""
    found = [int(part) for part in re.findall(r"\d+", version)]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)
