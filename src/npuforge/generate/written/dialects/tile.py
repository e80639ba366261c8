# SPDX-License-Identifier: Apache-2.0
"""Programs in the tile language, which the compiler lowers.

After AscendCraft: the language's page and worked examples of like structure are shown. Unlike
there, lowering is the compiler's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from npuforge.generate.tuning import Trial, tune
from npuforge.generate.written import feedback
from npuforge.generate.written.answer import tile_program
from npuforge.generate.written.dialect import Made
from npuforge.generate.written.prompts import render
from npuforge.generate.written.structure import examples_like
from npuforge.generate.written.task import Task
from npuforge.language import Language
from npuforge.lower.on_twin import TwinProgram
from npuforge.models import Message, Reply
from npuforge.plan import Variant
from npuforge.tile import chip_constants, texts
from npuforge.verdict import Diagnostic

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class TileDialect:
    """A `Dialect`."""

    language: Language = "tile"
    fence: str = "python"
    form: str = "the whole program in one ```python block"
    forms: tuple[str, ...] | None = None

    def brief(self, task: Task) -> list[Message]:
        known = texts.examples()
        system = render(
            "tile_system",
            task.prompts,
            reference=texts.reference(),
            examples=[known[name] for name in examples_like(task.bench.graph, _EXAMPLES)],
        )
        asked = render(
            "tile_task",
            task.prompts,
            module=task.bench.reference.strip(),
            signature=task.signature.text(),
            parameters=task.signature.parameters,
            **chip_constants(task.bench.chip),
        )
        return [Message("system", system), Message("user", asked)]

    def code(self, reply: Reply) -> str:
        return tile_program(reply)

    def make(self, task: Task, title: str, code: str) -> Made:
        bench = task.bench
        plan = task.plan(Variant(title, code, ""))
        (trial,) = tune(plan, bench.graph, bench.chip, math.inf, given=bench.references.given)
        if trial.program is None:
            return trial, feedback.not_built("does not parse", trial.diagnostics, code)
        assert isinstance(trial.program, TwinProgram)
        host = trial.program.lowered.program.host
        departures = list(task.signature.departures(host))
        if departures:
            told = tuple(Diagnostic(None, None, text) for text in departures)
            refused = Trial(trial.variant, True, problem=departures[0], diagnostics=told)
            return refused, feedback.not_built("does not parse", told, code)
        if not trial.program.build.ok:
            told = tuple(trial.program.build.diagnostics)
            return trial, feedback.not_built("does not compile", told, trial.program.source)
        return trial, None
