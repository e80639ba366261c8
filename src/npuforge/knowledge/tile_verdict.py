# SPDX-License-Identifier: Apache-2.0
"""The verdict on a tile program over the cases of an entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.sandbox import Limits, Sandbox
from npuforge.tile import read_program
from npuforge.tile.interpret import interpret
from npuforge.tile.source import TileError
from npuforge.twin import numerics, reference
from npuforge.twin.execute import RunResult
from npuforge.twin.launch import TensorArgument
from npuforge.twin.launch_file import Case
from npuforge.verdict import Case as CaseVerdict
from npuforge.verdict import Diagnostic, Verdict, Violation


@dataclass(frozen=True, slots=True)
class TileJudge:
    """`model` is the program whose meaning gives the right values that a case does not tell: the
    interpreter's, not the twin's."""

    model: str
    cases: Sequence[Case]
    soc: str
    limits: Limits
    sandbox: Sandbox

    def verdict(self, code: str, name: str, timed: bool) -> Verdict:
        """`code` over all cases; `timed` takes the time of the first."""
        verdict = Verdict(name, soc=self.soc, isolation=self.sandbox.name)
        try:
            program = TwinProgram(lower(code, self.soc))
        except TileError as error:
            return replace(
                verdict,
                compiled=False,
                diagnostics=[Diagnostic(None, f.span.line, f.message) for f in error.findings],
                violations=[
                    Violation(f.rule, "error", None, f.span.line, f.message, f.fix)
                    for f in error.findings
                ],
            )
        verdict = replace(verdict, compiled=program.build.ok, violations=program.build.violations)
        if not program.build.ok:
            return replace(verdict, diagnostics=program.build.diagnostics)
        for case in self.cases:
            verdict = self._case(program, case, verdict)
        known = [case.correct for case in verdict.cases]
        verdict = replace(verdict, correct=all(known) if known else None)
        if timed and verdict.error is None:
            first = self.cases[0]
            shapes = {name: tensor.shape for name, tensor in _inputs(first).items()}
            result = program.time(shapes, first.attrs, values=_inputs(first), limits=self.limits)
            fields = result.timing.verdict_fields() if result.timing is not None else {}
            verdict = replace(verdict, error=result.error, **fields)
        return verdict

    def _case(self, program: TwinProgram, case: Case, verdict: Verdict) -> Verdict:
        inputs = _inputs(case)
        try:
            result = program.launch(inputs, case.attrs, mode="check", limits=self.limits)
        except (TileError, UsageError) as error:  # a condition that these sizes break
            result = RunResult(error=str(error))
        shapes = [list(tensor.shape) for tensor in inputs.values()]
        types = [tensor.dtype.name for tensor in inputs.values()]
        entry = CaseVerdict(shapes, types, correct=False)
        if result.error is None:
            entry = self._compared(case, inputs, result, entry)
        return replace(
            verdict,
            violations=[*verdict.violations, *result.violations],
            advice=[*verdict.advice, *result.advice],
            races=[*verdict.races, *result.races],
            error=verdict.error or result.error,
            cases=[*verdict.cases, entry],
        )

    def _compared(
        self, case: Case, inputs: Mapping[str, HostTensor], result: RunResult, entry: CaseVerdict
    ) -> CaseVerdict:
        said = []
        for name, want in self._wanted(case, inputs, result).items():
            own = case.expected[name].tolerance if name in case.expected else None
            compared = numerics.compare(
                result.tensors[name],
                want,
                tolerance=own or case.tolerance,
                unwritten=result.unwritten.get(name, 0),
            )
            said += [f"{name}: {compared.summary}"] if compared.summary else []
        return replace(entry, correct=not said, message="; ".join(said) or None)

    def _wanted(
        self, case: Case, inputs: Mapping[str, HostTensor], result: RunResult
    ) -> dict[str, HostTensor]:
        expressions = {
            name: one.expression
            for name, one in case.expected.items()
            if one.expression is not None
        }
        outputs = [
            TensorArgument(name, tensor.shape, tensor.dtype, "out")
            for name, tensor in result.tensors.items()
        ]
        if unknown := sorted(set(expressions) - set(result.tensors)):
            raise UsageError(f"expected {unknown[0]!r} is no output of the program")
        found = {}
        if set(expressions) != set(result.tensors):
            program = read_program(self.model, self.soc)
            found = interpret(program, inputs, _attributes(case.attrs), self.soc)
        if expressions:
            pairs = list(inputs.items())
            found |= reference.by_expression(expressions, pairs, outputs, sandbox=self.sandbox)
        if missing := sorted(set(result.tensors) - set(found)):
            raise UsageError(f"nothing says what {missing[0]!r} should be")
        return {name: found[name] for name in result.tensors}


def _inputs(case: Case) -> dict[str, HostTensor]:
    found = {}
    for argument in case.inputs:
        if not isinstance(argument, TensorArgument) or argument.data is None:
            raise UsageError(f"{case.name}: {argument.name} is no tensor with data")
        found[argument.name] = argument.data
    return found


def _attributes(given: Mapping[str, Any]) -> dict[str, int | float]:
    wrong = [name for name, value in given.items() if not isinstance(value, int | float)]
    if wrong:
        raise UsageError(f"the attribute {wrong[0]} is no number")
    return dict(given)
