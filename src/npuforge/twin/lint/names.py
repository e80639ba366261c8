# SPDX-License-Identifier: Apache-2.0
"""The lint's tables of names, loaded once."""

from __future__ import annotations

import difflib
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def tables() -> Mapping[str, Mapping[str, Any]]:
    """The content of `names.toml`."""
    return tomllib.loads(_resource("names.toml"))


@cache
def std_refused() -> Mapping[str, str]:
    """Refused names of `std`, with their group."""
    return {name: group for group, names in tables()["std"].items() for name in names}


@cache
def libc_refused() -> Mapping[str, str]:
    """Refused functions of the C library, with their group."""
    return {name: group for group, names in tables()["libc"].items() for name in names}


@cache
def api_names() -> frozenset[str]:
    """Every public name of AscendC, on any architecture."""
    return frozenset(_resource("api_names.txt").split())


@cache
def nearest(name: str) -> tuple[str, ...]:
    """Up to three names of this architecture that look like this one."""
    by_lower = {known.lower(): known for known in _resource("api_calls.txt").split()}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.75)
    return tuple(by_lower[match] for match in close)


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
