# SPDX-License-Identifier: Apache-2.0
"""Everything the results of a run depend on."""

from __future__ import annotations

from typing import Literal

import msgspec

from npuforge.generate.lm.settings import EmbeddedSettings
from npuforge.sandbox import Isolation

Shapes = Literal["current", "v0", "scaled"]
Interface = Literal["kernel", "full"]
Sizes = Literal["static", "dynamic"]
Protocol = Literal["repository", "paper"]

REFERENCE = "reference"  # as `answers`: those the suite itself brings


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which model writes, and how it is asked; `endpoint` holds what was said of it (never its
    key), the rest is as in `generate.written.strategy`."""

    endpoint: dict[str, str | int | float | None]
    rounds: int = 30
    candidates: int = 1
    beam: int = 1
    patience: int = 6
    enough: float = 0.95
    search: Literal["beam", "evolve"] = "beam"
    language: Literal["tile", "ascendc"] = "tile"
    roles: tuple[str, ...] = ()
    prompts: str | None = None
    knowledge: Literal["full", "identifiers", "meaning", "plain", "raw", "off"] = "full"
    store: str | None = None
    learn: bool = False


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """A run is resumed only with the settings it began with.

    `strategy` names who writes; with `answers` (a folder, or `reference`) nobody does. `shapes` are
    those timed: the suite's current ones, those of its first release, or scaled down.
    `protocol` chooses where a suite's paper and its repository differ. `interface` and `sizes` are
    NPUKernelBench's two axes. `cases` limits the cases taken of a task with many, evenly spread.
    `isolation` says whether workers may run strangers' code where files are not protected.
    `model` goes with strategies that ask one, `embedded` with `lm`.
    `tasks`, `categories` and `levels` say which tasks were asked for, as on the command line.
    """

    suite: str
    path: str | None = None
    tasks: str | None = None
    categories: str | None = None
    levels: str | None = None
    strategy: str = "planner"
    answers: str | None = None
    samples: int = 1
    shapes: Shapes = "current"
    protocol: Protocol = "repository"
    interface: Interface = "full"
    sizes: Sizes = "dynamic"
    cases: int | None = None
    soc: str = "910b2"
    limit_s: float = 900.0
    isolation: Isolation = "strong"
    model: ModelSettings | None = None
    embedded: EmbeddedSettings | None = None
