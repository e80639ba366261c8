# SPDX-License-Identifier: Apache-2.0
"""Operator projects in AscendC: the model writes host and device side."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from npuforge.generate.tuning import Trial
from npuforge.generate.written import ascendc, feedback
from npuforge.generate.written.answer import files_in, joined, project_files
from npuforge.generate.written.dialect import Made
from npuforge.generate.written.dialects.kernel import EXAMPLES
from npuforge.generate.written.project import FORM, ProjectProgram
from npuforge.generate.written.prompts import render
from npuforge.generate.written.structure import examples_like
from npuforge.generate.written.task import Task
from npuforge.language import Language
from npuforge.lower.compiler import lower
from npuforge.lower.formats import msopgen
from npuforge.lower.names import pascal
from npuforge.models import Message, Reply
from npuforge.plan import Variant
from npuforge.tile import chip_constants, texts


@dataclass(frozen=True, slots=True)
class ProjectDialect:
    """A `Dialect`; a program is the project's files, one after the other under their paths."""

    language: Language = "ascendc"
    fence: str = "cpp"
    form: str = "all files in full, each in a ```cpp block after its line ==== path ===="
    forms: tuple[str, ...] | None = (FORM,)

    def brief(self, task: Task) -> list[Message]:
        system = render(
            "ascendc_system",
            task.prompts,
            reference=ascendc.page(),
            examples=[project_example(n) for n in examples_like(task.bench.graph, EXAMPLES)],
        )
        name = task.signature.name
        asked = render(
            "project_task",
            task.prompts,
            module=task.bench.reference.strip(),
            name=name,
            operator=pascal(name),
            parameters=task.signature.parameters,
            **chip_constants(task.bench.chip),
        )
        return [Message("system", system), Message("user", asked)]

    def code(self, reply: Reply) -> str:
        return joined(project_files(reply))

    def make(self, task: Task, title: str, code: str) -> Made:
        variant = Variant(title, code, "", self.language)
        folder = Path(tempfile.mkdtemp(dir=task.bench.scratch)) / task.signature.name
        program = ProjectProgram(files_in(code), task.signature, task.bench.chip, folder)
        if not program.build.ok:
            told = tuple(program.build.diagnostics)
            said = told[0].message if told else program.build.log
            trial = Trial(variant, True, program, problem=said, diagnostics=told)
            shown = feedback.not_built("does not compile", told, "", files_in(code))
            return trial, shown
        return Trial(variant, True, program), None


def project_example(name: str) -> str:
    """The project that the compiler makes of a tile example."""
    return joined(msopgen.sources(lower(texts.examples()[name])))
