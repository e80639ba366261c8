# SPDX-License-Identifier: Apache-2.0
"""The table of operations (`ops.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class OpInfo:
    """One operation: the relation of its operands, and what does it on the device."""

    name: str
    form: str
    dtypes: tuple[str, ...]
    doc: str
    arguments: str
    api: str | None = None
    helper: str | None = None
    mode: str | None = None


@cache
def table() -> Mapping[str, OpInfo]:
    """Every operation by name, in the order of the file."""
    data = tomllib.loads(files(__package__).joinpath("ops.toml").read_text(encoding="utf-8"))
    groups: Mapping[str, list[str]] = data["groups"]
    arguments: Mapping[str, str] = data["arguments"]
    return {
        name: OpInfo(
            name,
            entry["form"],
            tuple(groups[entry["dtypes"]] if isinstance(entry["dtypes"], str) else entry["dtypes"]),
            entry["doc"],
            arguments[entry["form"]],
            entry.get("api"),
            entry.get("helper"),
            entry.get("mode"),
        )
        for name, entry in data["op"].items()
    }
