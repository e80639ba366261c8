# SPDX-License-Identifier: Apache-2.0
"""How a suite checks a module: from its TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from npuforge.bench.settings import Settings


class Tolerance(msgspec.Struct, frozen=True):
    """`torch.allclose(reference, result, rtol, atol)`; by element type where suites differ."""

    rtol: float
    atol: float


class ModuleProtocol(msgspec.Struct, frozen=True, kw_only=True):
    """`seeding`: `stream` seeds once, then builds the model and draws the inputs of all trials;
    `trials` draws a seed for each trial first. `uncloned`: the answer gets the tensors that the
    reference was called with, changed by it or not. `fresh`: other sizes an answer must work for:
    `aligned` ones, or `any`. `equal_nan`: NaN is right where the reference has it. `exact`: so is
    what is near the result in double precision, for PyTorch rounds between operations.
    `first_release` is the commit whose shapes `v0` means.
    """

    trials: int
    seed: int
    seeding: Literal["stream", "trials"]
    uncloned: bool = False
    equal_nan: bool = False
    exact: bool = False
    first_release: str | None = None
    fresh: Literal["aligned", "any"] = "aligned"
    tolerances: dict[str, dict[str, Tolerance]]

    def tolerance(self, settings: Settings, dtype: str) -> Tolerance:
        """For results of that type, as the paper or the repository says."""
        table = self.tolerances[settings.protocol]
        return table.get(dtype) or table["default"]


def load(file: Path) -> ModuleProtocol:
    return msgspec.toml.decode(file.read_bytes(), type=ModuleProtocol)
