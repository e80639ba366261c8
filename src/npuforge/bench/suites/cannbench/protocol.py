# SPDX-License-Identifier: Apache-2.0
"""CANN Bench's numbers, read from `protocol.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import msgspec

_FILE = Path(__file__).with_name("protocol.toml")
_OTHERS = "float32"


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    guard: float
    most_of_mean: float
    most_of_reference: float


class Bounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an element type is held to."""

    mean: float
    small: float
    small_error: float
    cancelled: float


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    compile: float
    accuracy: float
    performance: float
    proxy_factor: float
    proxy_least_us: float


class Here(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    judged_elements: int
    checked_elements: int
    tuned: int


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    gate: Gate
    types: dict[str, Bounds]
    score: Weights
    here: Here

    def bounds(self, dtype: str) -> Bounds:
        """Those of the type; float32's for a type without its own."""
        return self.types.get(dtype, self.types[_OTHERS])


@cache
def load() -> Protocol:
    return msgspec.convert(tomllib.loads(_FILE.read_text("utf-8")), Protocol)
