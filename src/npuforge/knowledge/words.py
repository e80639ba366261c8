# SPDX-License-Identifier: Apache-2.0
"""The closed vocabulary of `tags.toml`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`facts` and `tags` say what each of them means."""

    operators: tuple[str, ...]
    facts: dict[str, str]
    tags: dict[str, str]


@cache
def words() -> Words:
    """The vocabulary, read once."""
    text = files(__package__).joinpath("tags.toml").read_bytes()
    return msgspec.toml.decode(text, type=Words)
