# SPDX-License-Identifier: Apache-2.0
"""Kernels in AscendC: the model writes the device side, host code is made for it.

The setting that Hawk measures, with one source. Examples are what the compiler makes of tile
programs of like structure: kernels that are proven, and that nobody else has published.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from npuforge.generate.tuning import Trial
from npuforge.generate.written import ascendc, feedback
from npuforge.generate.written.answer import ascendc_kernel
from npuforge.generate.written.dialect import Made
from npuforge.generate.written.prompts import render
from npuforge.generate.written.structure import examples_like
from npuforge.generate.written.task import Task
from npuforge.language import Language
from npuforge.lower.compiler import lower
from npuforge.lower.formats import msopgen
from npuforge.lower.handwritten import HandwrittenProgram, Interface, interface
from npuforge.models import Message, Reply
from npuforge.plan import Variant
from npuforge.tile import chip_constants, texts

EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class KernelDialect:
    """A `Dialect`; `given` is an interface that there is already, with host code that stays."""

    given: Interface | None = None
    language: Language = "ascendc"
    fence: str = "cpp"
    form: str = "the whole kernel file in one ```cpp block"
    forms: tuple[str, ...] | None = ("msopgen", "mkb", "npukb")

    def brief(self, task: Task) -> list[Message]:
        expected = self.given or interface_of(task)
        system = render(
            "ascendc_system",
            task.prompts,
            reference=ascendc.page(),
            examples=[kernel_example(n) for n in examples_like(task.bench.graph, EXAMPLES)],
        )
        asked = render(
            "kernel_task",
            task.prompts,
            module=task.bench.reference.strip(),
            entry=expected.entry,
            structure=expected.structure,
            all_extents=self.given is None,
            parameters=task.signature.parameters,
            **chip_constants(task.bench.chip),
        )
        return [Message("system", system), Message("user", asked)]

    def code(self, reply: Reply) -> str:
        return ascendc_kernel(reply)

    def make(self, task: Task, title: str, code: str) -> Made:
        variant = Variant(title, code, "", self.language)
        expected = self.given or interface_of(task)
        problem = ascendc.departure(code, expected.name, expected.entry)
        if problem is not None:
            refused = Trial(variant, True, problem=problem.message, diagnostics=(problem,))
            return refused, feedback.not_built("does not compile", [problem], code)
        program = HandwrittenProgram(expected.holding(code))
        if not program.build.ok:
            told = tuple(program.build.diagnostics)
            said = told[0].message if told else program.build.log
            trial = Trial(variant, True, program, problem=said, diagnostics=told)
            return trial, feedback.not_built("does not compile", told, code)
        return Trial(variant, True, program), None


def interface_of(task: Task) -> Interface:
    """What the kernel of a task is called and called with."""
    signature = task.signature
    extents = {parameter.operand.name: parameter.extents for parameter in signature.parameters}
    for parameter in signature.parameters:
        if parameter.operand.role != "output":
            name = parameter.operand.name
            extents[name] = tuple(f"{name}.shape[{n}]" for n in range(len(parameter.shape)))
    return interface(signature.name, signature.text(), extents, task.bench.chip)


@cache
def kernel_example(name: str) -> str:
    """The AscendC that the compiler makes of a tile example."""
    return msopgen.kernel_source(lower(texts.examples()[name]).host)
