# SPDX-License-Identifier: Apache-2.0
"""CANN Bench as it lies in the user's checkout: operators, their cases, times to compare with."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npuforge.errors import UsageError
from npuforge.untrusted.documents import parse_json, parse_yaml
from npuforge.untrusted.inputs import read_input

_LEVEL = re.compile(r"level(\d+)$")
_FUNCTION = re.compile(r"\s*(\w+)\s*\(")
_SEEDS = 1 << 31


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `shapes`, `dtypes` and `ranges` nest as the suite writes them."""

    number: int
    shapes: list[Any]
    dtypes: list[Any]
    ranges: list[Any]
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operator:
    """A task: `path` is its folder below `tasks` (`level1/exp`), `function` what is called."""

    path: str
    name: str
    category: str
    level: int
    function: str
    inputs: list[str]
    outputs: list[dict[str, Any]]
    thresholds: dict[str, float]
    cases: list[Case] = field(default_factory=list)

    def seed(self, case: int) -> int:
        """The published seed of a case's inputs."""
        digest = hashlib.sha256(f"{self.path}_{case}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % _SEEDS


@dataclass(frozen=True, slots=True)
class Times:
    """What the suite publishes for a case on a chip: its baseline and the hardware's bound."""

    baseline_us: float | None
    bound_us: float | None


def folders(checkout: Path) -> list[Path]:
    """The folders of all operators, level by level."""
    tasks = checkout / "tasks"
    found = [file.parent for file in tasks.glob("level*/*/proto.yaml")]
    if not found:
        raise UsageError(f"{checkout} is no checkout of CANN Bench: no tasks/level*/*/proto.yaml")
    return sorted(found, key=lambda folder: (level_of(folder), folder.name))


def level_of(folder: Path) -> int:
    found = _LEVEL.match(folder.parent.name)
    return int(found[1]) if found else 0


def read_operator(folder: Path) -> Operator:
    """An operator with its cases; `UsageError` says what is wrong with its files."""
    about = _yaml(folder / "proto.yaml").get("operator") or {}
    path = f"{folder.parent.name}/{folder.name}"
    name = str(about.get("name") or folder.name)
    found = _FUNCTION.match(str(about.get("schema") or ""))
    cases = _yaml(folder / "cases.yaml").get("cases") or []
    try:
        return Operator(
            path=path,
            name=name,
            category=str(about.get("category") or "other").lower(),
            level=level_of(folder),
            function=found[1] if found else name.lower(),
            inputs=[str(item["name"]) for item in about.get("inputs") or []],
            outputs=[_output(item) for item in about.get("outputs") or []],
            thresholds={k: float(v) for k, v in (about.get("precision_thresholds") or {}).items()},
            cases=[_case(raw) for raw in cases],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: its description cannot be read: {error!r}") from None


def read_times(checkout: Path, soc: str) -> Mapping[str, Times]:
    """Published times by `level1/exp/3`; nothing for a chip that has none."""
    file = checkout / "tasks" / "metadata" / f"{soc}.json"
    if not file.is_file():
        return {}
    try:
        read = parse_json(read_input(file), file)
        return {
            f"{level}/{operator}/{case}": Times(
                _positive(times.get("baseline_perf_us")), _positive(times.get("t_hw_us"))
            )
            for level, operators in read.items()
            if _LEVEL.match(level)
            for operator, cases in operators.items()
            for case, times in cases.items()
        }
    except (ValueError, AttributeError) as error:
        raise UsageError(f"{file}: times cannot be read: {error}") from None


def _positive(value: Any) -> float | None:
    usable = isinstance(value, int | float) and math.isfinite(value) and value > 0
    return float(value) if usable else None


def _yaml(file: Path) -> dict[str, Any]:
    read = parse_yaml(read_input(file), file)
    if not isinstance(read, dict):
        raise UsageError(f"{file} does not describe an operator")
    return read


def _output(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": str(raw["name"]),
        "compare": bool(raw.get("compare", True)),
        "index_gather": raw.get("index_gather"),
    }


def _case(raw: Mapping[str, Any]) -> Case:
    shapes = raw["input_shape"]
    if shapes and not isinstance(shapes[0], list) and shapes[0] is not None:
        shapes = [shapes]
    dtypes = raw["dtype"]
    dtypes = [dtypes] if isinstance(dtypes, str) else list(dtypes)
    if len(dtypes) == 1:
        dtypes = dtypes * len(shapes)
    return Case(
        number=int(raw["case_id"]),
        shapes=list(shapes),
        dtypes=dtypes,
        ranges=list(raw.get("value_range") or []),
        attributes=dict(raw.get("attrs") or {}),
    )
