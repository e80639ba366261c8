# SPDX-License-Identifier: Apache-2.0
"""The numbers of the model of eager execution, read from `model.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

Unit = Literal["elements", "outputs", "window", "macs", "rows", "axis"]


@dataclass(frozen=True, slots=True)
class Class:
    """Kernels that behave alike: `launch_us` each, then their work or the memory's time.

    Work is `ns` for each unit and `step_us` for each step that waits for the one before. Units:

    * elements of the largest tensor, or of the outputs; window: outputs times elements of a window;
      macs: multiplications of a product;
    * rows: elements of the rows that the busiest core gets, a step for each of them;
    * axis: elements, and a step for each place along the axis (argument `axis`).

    `passes` is how often the bytes move. `outer` names the class for axes other than the last.
    `wide` multiplies the work of eight-byte elements, `half` that of products of two-byte ones. A
    `strided` class reads tensors that are not contiguous as they are, or else becomes `relayout`.
    """

    name: str
    ops: tuple[str, ...]
    launch_us: float
    ns: float
    step_us: float = 0.0
    unit: Unit = "elements"
    passes: float = 1.0
    axis: int = 1
    outer: str | None = None
    wide: float = 1.0
    half: float = 1.0
    strided: bool = False
    relayout: str | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """Where times were taken: memory beyond what the cache holds, vector cores and their clock.

    `read_gbps` is for kernels that write next to nothing, `hbm_gbps` for mixed traffic.
    """

    hbm_gbps: float
    read_gbps: float
    cache_bytes: float
    cores: int
    mhz: float


@dataclass(frozen=True, slots=True)
class Parameters:
    """Everything in the file; the costs of classes are those on `fitted_on`."""

    classes: Mapping[str, Class]
    machines: Mapping[str, Machine]
    free: frozenset[str]
    cache_gbps: float
    fitted_on: Machine
    kinds: Mapping[str, str] = field(default_factory=dict)

    def class_of(self, name: str) -> Class:
        """The class of the operation called `name` (without overload); "other" if none has it."""
        return self.classes[self.kinds.get(name, "other")]

    def known(self, name: str) -> bool:
        return name in self.free or name in self.kinds


def make(table: Mapping[str, Any]) -> Parameters:
    """The parameters of a parsed file."""
    classes = {
        name: Class(name=name, **{**fields, "ops": tuple(fields.get("ops", ()))})
        for name, fields in table["class"].items()
    }
    machines = {name: Machine(**fields) for name, fields in table["machine"].items()}
    return Parameters(
        classes=classes,
        machines=machines,
        free=frozenset(table["free"]["ops"]),
        fitted_on=machines[table["fitted_on"]],
        cache_gbps=float(table["memory"]["cache_gbps"]),
        kinds={op: kind.name for kind in classes.values() for op in kind.ops},
    )


@cache
def load() -> Parameters:
    """The parameters the package carries."""
    return make(tomllib.loads(Path(__file__).with_name("model.toml").read_text("utf-8")))
