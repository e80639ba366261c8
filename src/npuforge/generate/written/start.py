# SPDX-License-Identifier: Apache-2.0
"""What `refine` starts from: a person's program, or the planner's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.generate.planned import PlannedWriter
from npuforge.generate.workbench import Workbench
from npuforge.generate.written.answer import joined
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.dialect import Dialect
from npuforge.generate.written.dialects.kernel import KernelDialect
from npuforge.generate.written.dialects.project import ProjectDialect
from npuforge.generate.written.dialects.tile import TileDialect
from npuforge.generate.written.feedback import of_time
from npuforge.language import Language
from npuforge.lower.formats import msopgen
from npuforge.lower.handwritten import Interface
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan import Operand, planner
from npuforge.untrusted.inputs import read_source

_MOST_BYTES = 400_000
_SOURCES = (".cpp", ".cc", ".cxx", ".asc")


@dataclass(frozen=True, slots=True)
class Start:
    """A program and the language it is in; `operands` are its own where it is the planner's."""

    code: str
    dialect: Dialect
    operands: tuple[Operand, ...] | None = None


def from_path(path: Path) -> Start:
    """A tile program, a kernel's source, or an operator project."""
    if path.is_dir():
        texts = {
            file.relative_to(path).as_posix(): _text(file)
            for folder in ("op_host", "op_kernel")
            for file in sorted((path / folder).glob("*"))
            if file.suffix in (".h", ".hpp", *_SOURCES)
        }
        if not texts:
            raise UsageError(f"{path} has no op_host and op_kernel")
        return Start(joined(texts), ProjectDialect())
    if path.suffix == ".py":
        return Start(_text(path), TileDialect())
    if path.suffix in _SOURCES:
        return Start(_text(path), KernelDialect())
    raise UsageError(f"{path} is neither a tile program, a kernel's source nor an operator project")


def from_planner(bench: Workbench, language: Language) -> Start:
    """The planner's best program, as it wrote it or as the AscendC made from it."""
    chosen = PlannedWriter(planner.plan)(bench)
    winner = chosen.winner
    if winner is None or not isinstance(winner.program, TwinProgram):
        raise UsageError("none of the planner's programs could be built")
    operands = chosen.plan.operands
    if language == "tile":
        return Start(winner.variant.program, TileDialect(), operands)
    lowered = winner.program.lowered
    kernel = msopgen.kernel_source(lowered.host)
    return Start(kernel, KernelDialect(given=Interface(lowered)), operands)


def expert(bench: Workbench) -> Attempt | None:
    """The planner's program as an attempt; None where it has none that is right."""
    try:
        chosen = PlannedWriter(planner.plan)(bench)
    except UsageError:
        return None
    timing = chosen.timed.timing if chosen.timed is not None else None
    if chosen.winner is None or chosen.proof is None or timing is None or not chosen.proof.holds:
        return None
    said = of_time(timing, chosen.proof.advice)
    return Attempt("planner", said, chosen.winner, chosen.proof, chosen.timed, chosen.trace)


def _text(path: Path) -> str:
    return read_source(path, _MOST_BYTES)
