# SPDX-License-Identifier: Apache-2.0
"""The kinds of cheating, from `kinds.toml`."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import msgspec

from npuforge.bench.attempt import Cheat

Notice = Literal["source", "conduct", "values", "sizes"]
_LONGEST = 200


class Kind(msgspec.Struct, frozen=True):
    """`meaning` is one line; `noticed` says where it shows."""

    meaning: str
    noticed: list[Notice]


KINDS: dict[str, Kind] = msgspec.toml.decode(
    files("npuforge.bench.cheats").joinpath("kinds.toml").read_bytes(), type=dict[str, Kind]
)


def cheat(kind: str, evidence: str) -> Cheat:
    """`KeyError` for a kind that is not in the list."""
    assert KINDS[kind]
    return Cheat(kind, evidence[:_LONGEST])


def once(found: list[Cheat]) -> list[Cheat]:
    """Each finding once, in order."""
    return list(dict.fromkeys(found))
