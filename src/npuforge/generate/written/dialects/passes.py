# SPDX-License-Identifier: Apache-2.0
"""The tile language, lowered by the model in AscendCraft's four passes instead of the compiler.

Host, initialisation, computation, alignment: each pass gets its mapping rules, the page about
AscendC, an example of like structure before and after, and what the passes before it wrote. What a
pass answers is compiled on the twin, and errors go back before the next pass begins.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npuforge.generate.tuning import Trial
from npuforge.generate.written import ascendc, feedback
from npuforge.generate.written.answer import AnswerError, files_in, joined, project_files
from npuforge.generate.written.dialect import Made
from npuforge.generate.written.dialects.project import project_example
from npuforge.generate.written.dialects.tile import TileDialect
from npuforge.generate.written.project import FORM, ProjectProgram
from npuforge.generate.written.prompts import render
from npuforge.generate.written.structure import examples_like
from npuforge.generate.written.task import Task
from npuforge.language import Language
from npuforge.lower.names import pascal
from npuforge.models import Client, Message, Reply
from npuforge.plan import Variant
from npuforge.tile import read_program, texts
from npuforge.tile.check import check_program
from npuforge.tile.source import TileError
from npuforge.verdict import Diagnostic

PASSES = ("host", "initialisation", "computation", "alignment")


@dataclass(frozen=True, slots=True)
class ModelLoweredDialect:
    """A `Dialect`; `tries` is how often a pass may answer before it counts as failed."""

    client: Client
    tries: int = 4
    language: Language = "tile"
    fence: str = "python"
    form: str = TileDialect().form
    forms: tuple[str, ...] | None = (FORM,)

    def brief(self, task: Task) -> list[Message]:
        return TileDialect().brief(task)

    def code(self, reply: Reply) -> str:
        return TileDialect().code(reply)

    def make(self, task: Task, title: str, code: str) -> Made:
        variant = Variant(title, code, "")
        told = _refusals(task, title, code)
        if told:
            trial = Trial(variant, True, problem=told[0].message, diagnostics=told)
            return trial, feedback.not_built("does not parse", told, code)
        files: dict[str, str] = {}
        for name in PASSES:
            made, problem = self._pass(task, name, code, files)
            if made is None:
                trial = Trial(variant, True, problem=problem)
                words = f"The {name} pass of its lowering failed {self.tries} times: {problem}"
                return trial, feedback.Feedback("does not compile", words)
            files = made
        return Trial(variant, True, self._program(task, files)), None

    def _pass(
        self, task: Task, name: str, code: str, before: Mapping[str, str]
    ) -> tuple[dict[str, str] | None, str]:
        """The files after a pass, or what was wrong with its last answer."""
        example = examples_like(task.bench.graph, 1)[0]
        own = task.signature.name
        system = render("pass_system", task.prompts, reference=ascendc.page())
        asked = render(
            f"pass_{name}",
            task.prompts,
            program=code,
            name=own,
            operator=pascal(own),
            example=texts.examples()[example],
            lowered=project_example(example),
            files=joined(before),
        )
        brief = [Message("system", system), Message("user", asked)]
        messages = brief
        files = dict(before)
        problem = ""
        for number in range(self.tries):
            reply = self.client.ask(messages, purpose=f"pass {name}", seed=number)
            try:
                files = {**files, **project_files(reply)}
            except AnswerError as error:
                problem = str(error)
                continue
            problem = self._problem(task, name, files)
            if not problem:
                return files, ""
            text = render("pass_repair", task.prompts, files=joined(files), feedback=problem)
            messages = [*brief, Message("user", text)]
        return None, problem

    def _problem(self, task: Task, name: str, files: Mapping[str, str]) -> str:
        """What the compiler has against the files so far; empty for nothing."""
        program = self._program(task, files)
        if name == "host":
            told = program.host_problems()
        else:
            told = [] if program.build.ok else program.build.diagnostics
            if not told and not program.build.ok:
                return "It does not compile, and the compiler does not say why."
        if not told:
            return ""
        return feedback.not_built("does not compile", told, "", dict(files)).text

    def _program(self, task: Task, files: Mapping[str, str]) -> ProjectProgram:
        folder = Path(tempfile.mkdtemp(dir=task.bench.scratch)) / task.signature.name
        return ProjectProgram(files_in(joined(files)), task.signature, task.bench.chip, folder)


def _refusals(task: Task, title: str, code: str) -> tuple[Diagnostic, ...]:
    """What the language has against a program."""
    try:
        program = read_program(code, task.bench.chip)
        check_program(program)
    except TileError as error:
        return tuple(
            Diagnostic(f"{title}.tile.py", found.span.line, f"{found.rule}: {found.message}")
            for found in error.findings
        )
    return tuple(Diagnostic(None, None, text) for text in task.signature.departures(program.host))
