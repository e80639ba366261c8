# SPDX-License-Identifier: Apache-2.0
"""Strategies by name: what is asked for, and who writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from npuforge.errors import UsageError
from npuforge.generate.writer import Writer
from npuforge.generate.written.advice import Knowledge
from npuforge.generate.written.dialect import Dialect
from npuforge.generate.written.dialects.kernel import KernelDialect
from npuforge.generate.written.dialects.passes import ModelLoweredDialect
from npuforge.generate.written.dialects.project import ProjectDialect
from npuforge.generate.written.dialects.tile import TileDialect
from npuforge.generate.written.loop import Search
from npuforge.generate.written.roles import Role
from npuforge.generate.written.task import Prompts
from npuforge.generate.written.writer import ModelWriter, Refiner
from npuforge.language import Language
from npuforge.models import Client

MODEL_STRATEGIES = ("tile", "ascendc", "refine")
Interface = Literal["kernel", "full"]
Lowering = Literal["compiler", "model"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A strategy that asks a model, and what it is told.

    `interface` is what `ascendc` writes: a kernel, or host code too. `lowering` is who lowers what
    `tile` writes. `refine` starts from `start`, or else from the planner's program in `language`.
    """

    strategy: str
    interface: Interface = "kernel"
    lowering: Lowering = "compiler"
    language: Language = "tile"
    start: Path | None = None
    search: Search = field(default_factory=Search)
    roles: frozenset[Role] = frozenset()
    prompts: Prompts = None


def writer_for(asked: Asked, client: Client, knowledge: Knowledge | None = None) -> Writer:
    """Who writes; `UsageError` for a strategy there is not."""
    if asked.strategy not in MODEL_STRATEGIES:
        known = ", ".join(MODEL_STRATEGIES)
        raise UsageError(f"no strategy {asked.strategy!r} asks a model; those that do: {known}")
    writer = ModelWriter(
        asked.strategy,
        client,
        _dialect(asked, client),
        asked.search,
        asked.prompts,
        asked.roles,
        knowledge,
    )
    if asked.strategy == "refine":
        return Refiner(writer, asked.language, asked.start)
    return writer


def _dialect(asked: Asked, client: Client) -> Dialect:
    if asked.strategy == "ascendc":
        return KernelDialect() if asked.interface == "kernel" else ProjectDialect()
    return TileDialect() if asked.lowering == "compiler" else ModelLoweredDialect(client)
