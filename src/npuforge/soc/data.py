# SPDX-License-Identifier: Apache-2.0
"""Loads chip descriptions and writes the flat file that the C++ parts read.

A chip's values are its architecture's values overlaid with its own, flattened to dotted keys
(`hbm.read_gbps`). Instruction costs become `cost.<op>.<field>`, the instructions of library calls
`recipe.<op>.<field>`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from npuforge.errors import UsageError

_DATA = Path(__file__).parent
_ARCHITECTURE_PREFIX = "dav-"
Value = str | int | float


@dataclass(frozen=True)
class Soc:
    """One chip: `values` holds every constant by its dotted key."""

    soc: str
    name: str
    architecture: str
    values: Mapping[str, Value]

    def number(self, key: str) -> float:
        """The constant `key`, which must be there and be a number."""
        value = self.values.get(key)
        if not isinstance(value, int | float):
            raise UsageError(f"chip {self.soc} has no number for {key}")
        return float(value)

    @property
    def aiv_cores(self) -> int:
        return int(self.number("cores.aiv"))

    @property
    def aic_cores(self) -> int:
        return int(self.number("cores.aic"))

    @property
    def clock_ghz(self) -> float:
        return self.number("clock.mhz") / 1000.0

    @property
    def hbm_gbps(self) -> float:
        return self.number("hbm.read_gbps")

    @property
    def l2_gbps(self) -> float:
        return self.number("l2.gbps")


def available() -> list[str]:
    """Names accepted by `load_soc`, sorted."""
    return sorted(
        path.stem for path in _DATA.glob("*.toml") if not path.stem.startswith(_ARCHITECTURE_PREFIX)
    )


def load_soc(name: str) -> Soc:
    """The chip called `name` ("910b2", "Ascend910B2" and "ascend910b2c" are all understood)."""
    return _load(_canonical(name))


def constants_text(soc: Soc) -> str:
    """Return every constant of `soc`, one `key value` per line, sorted by key."""
    return "".join(f"{key} {_text(value)}\n" for key, value in sorted(soc.values.items()))


def _canonical(name: str) -> str:
    key = name.strip().lower().removeprefix("ascend")
    if key in available():
        return key
    # Variants of one chip (B2C, B4-1, 910_9362 ...) share its constants.
    for known in sorted(available(), key=len, reverse=True):
        if key.startswith(known):
            return known
    raise UsageError(f"unknown chip {name!r}; known: {', '.join(available())}")


@cache
def _load(key: str) -> Soc:
    chip = _read(_DATA / f"{key}.toml")
    architecture = str(chip["architecture"])
    shared = _read(_DATA / f"{architecture}.toml")
    values: dict[str, Value] = dict(_flatten(shared, ""))
    values.update(_flatten(chip, ""))
    values.update(_costs(_read(_DATA / f"{architecture}-costs.toml")))
    values.update(_recipes(_read(_DATA / f"{architecture}-library.toml")))
    return Soc(soc=key, name=str(chip["name"]), architecture=architecture, values=values)


def _read(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return tomllib.load(file)


def _flatten(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Value]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _costs(table: Mapping[str, Any]) -> dict[str, Value]:
    costs = {f"cost.default.{field}": value for field, value in table["default"].items()}
    for row in table["row"]:
        fields = {key: value for key, value in row.items() if key != "ops"}
        for op in row["ops"]:
            for field, value in _flatten(fields, ""):
                key = f"cost.{op}.{field}"
                if key in costs:
                    raise ValueError(f"{op} has two cost rows")
                costs[key] = value
    return costs


def _recipes(table: Mapping[str, Any]) -> dict[str, Value]:
    recipes: dict[str, Value] = {}
    for row in table["row"]:
        for op in row["ops"]:
            for field in ("elements", "rows"):
                if row.get(field):
                    recipes[f"recipe.{op}.{field}"] = " ".join(row[field])
            if row.get("widened"):
                recipes[f"recipe.{op}.widened"] = 1
    return recipes


def _text(value: Value) -> str:
    return repr(value) if isinstance(value, float) else str(value)
