# SPDX-License-Identifier: Apache-2.0
"""The closed vocabulary of `tags.toml`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables say what each of their words means."""

    operators: tuple[str, ...]
    common: tuple[str, ...]
    facts: dict[str, str]
    tags: dict[str, str]
    causes: dict[str, str]
    bottlenecks: dict[str, str]


@cache
def words() -> Words:
    """The vocabulary, read once."""
    text = files(__package__).joinpath("tags.toml").read_bytes()
    return msgspec.toml.decode(text, type=Words)
