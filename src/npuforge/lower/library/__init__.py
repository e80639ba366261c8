# SPDX-License-Identifier: Apache-2.0
"""Device helper functions that the compiler inserts, as source, into the kernels it emits.

A helper is a file `<Name>.h`; `index.toml` says what it needs. A family is one file whose name and
text hold a placeholder (`@Op@Row.h`), instantiated textually (`AddRow`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from npuforge.errors import UsageError
from npuforge.lower.scratch import scratch_size
from npuforge.tile.expr import Const

_FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"@(\w+)@")
_LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


@dataclass(frozen=True, slots=True)
class Helper:
    """One function: its source without licence line, and what a call of it needs."""

    name: str
    source: str
    needs: tuple[str, ...]
    dtypes: tuple[str, ...]
    scratch: str
    doc: str

    def scratch_bytes(self, **sizes: int) -> int:
        """Bytes of `work` for a call with these sizes (rows, cols, pitch, n, k, size)."""
        size = scratch_size(self.scratch, {name: Const(value) for name, value in sizes.items()})
        assert isinstance(size, Const)
        return int(size.value)


@dataclass(frozen=True, slots=True)
class CastPath:
    """How one element type becomes another: the types on the way and a rounding mode per step."""

    source: str
    target: str
    through: tuple[str, ...]
    modes: tuple[str, ...]


def names() -> tuple[str, ...]:
    """Every helper, families instantiated."""
    return tuple(_index())


def helper(name: str) -> Helper:
    """One helper by name."""
    try:
        return _index()[name]
    except KeyError:
        raise UsageError(f"no device helper is called {name}") from None


def closure(wanted: Iterable[str]) -> list[str]:
    """Sources of the helpers and of all they need, each once, callees first."""
    order: dict[str, Helper] = {}

    def visit(name: str) -> None:
        if name in order:
            return
        found = helper(name)
        for needed in found.needs:
            visit(needed)
        order[name] = found

    for name in wanted:
        visit(name)
    return [found.source for found in order.values()]


@cache
def casts() -> dict[tuple[str, str], tuple[str, ...]]:
    """(source, target) of the conversions that are one Cast instruction, and their modes."""
    table = tomllib.loads((_FOLDER / "casts.toml").read_text())["cast"]
    return {(row["from"], row["to"]): tuple(row["modes"]) for row in table}


@cache
def cast_paths() -> dict[tuple[str, str], CastPath]:
    """(source, target) of the conversions that take several Cast instructions."""
    table = tomllib.loads((_FOLDER / "casts.toml").read_text())["path"]
    return {
        (row["from"], row["to"]): CastPath(
            row["from"], row["to"], tuple(row["through"]), tuple(row["modes"])
        )
        for row in table
    }


@cache
def _index() -> dict[str, Helper]:
    table = tomllib.loads((_FOLDER / "index.toml").read_text())
    return {found.name: found for key, entry in table.items() for found in _instances(key, entry)}


def _instances(key: str, entry: Mapping[str, Any]) -> Iterable[Helper]:
    text = (_FOLDER / f"{key}.h").read_text().removeprefix(_LICENCE).strip() + "\n"
    placeholder = _PLACEHOLDER.search(key)
    for value in entry.get("ops", [""]):
        substitutions = dict(entry.get("with", {}).get(value, {}))
        if placeholder is not None:
            substitutions[placeholder[1]] = value
        dtypes = entry.get("dtypes_of", {}).get(value, entry["dtypes"])
        yield Helper(
            name=_fill(key, substitutions),
            source=_fill(text, substitutions),
            needs=tuple(_fill(name, substitutions) for name in entry.get("needs", [])),
            dtypes=tuple(dtypes),
            scratch=entry.get("scratch", "0"),
            doc=_fill(entry["doc"], substitutions),
        )


def _fill(text: str, substitutions: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: substitutions[match[1]], text)
