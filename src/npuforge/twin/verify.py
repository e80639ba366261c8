# SPDX-License-Identifier: Apache-2.0
"""Bring a kernel or an operator to a verdict: build, run every case, compare, time the first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.sandbox import Limits, Sandbox
from npuforge.soc.data import load_soc
from npuforge.twin import data, numerics, reference
from npuforge.twin.execute import Mode, RunResult, execute
from npuforge.twin.launch import TensorArgument
from npuforge.twin.launch_file import Case
from npuforge.twin.numerics import Comparison
from npuforge.twin.sources.direct import DirectProgram, total
from npuforge.twin.sources.subject import Prepared, Subject
from npuforge.twin.timing.report import TimingReport
from npuforge.verdict import Advice, Race, Verdict, Violation
from npuforge.verdict import Case as CaseVerdict

Step = Literal["run", "check", "time"]


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One case in full: the verdict's entry, and what people want to see beside it."""

    name: str
    verdict: CaseVerdict
    summary: str
    printed: str


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict, and what it leaves out."""

    verdict: Verdict
    cases: list[CaseReport] = field(default_factory=list)
    timing: TimingReport | None = None
    timing_note: str | None = None
    root: Path = Path()
    printed: str = ""


def verify(
    subject: Subject,
    cases: Sequence[Case],
    *,
    steps: Sequence[Step] = ("check", "time"),
    soc: str = "910b2",
    limits: Limits | None = None,
    auto_sync: bool = True,
    trace: Path | None = None,
    sandbox: Sandbox | None = None,
) -> Report:
    """The verdict on `subject` over `cases`.

    `check` looks for broken rules and races in every case and compares outputs; `run` only
    compares; `time` models the first case. A case at fault (wrong shape, bad reference) raises.
    """
    if not cases:
        raise UsageError("there is no case to run")
    judge = _Judge(subject, soc, limits, auto_sync, trace, sandbox or Sandbox.detect())
    return judge.verdict(cases, steps)


def verify_program(
    program: DirectProgram,
    *,
    steps: Sequence[Step] = ("check", "time"),
    soc: str = "910b2",
    setup: str | None = None,
    command: str | None = None,
    arguments: Sequence[str] = (),
    limits: Limits | None = None,
    auto_sync: bool = True,
    trace: Path | None = None,
) -> Report:
    """The verdict on a program with its own `main`: its exit status judges its results.

    `setup` is a command run before it in its folder, `command` one run after it that judges what it
    wrote, `arguments` what the program is called with.
    """
    started = time.monotonic()
    sandbox = program.sandbox or Sandbox.detect()
    build = program.build()
    verdict = Verdict(
        program.name,
        soc=load_soc(soc).soc,
        compiled=build.ok,
        diagnostics=build.diagnostics,
        violations=program.lint(),
        isolation=sandbox.name,
    )
    printed = ""
    timings: list[TimingReport] = []
    for step in steps if build.ok else ():
        done = program.run(
            build,
            mode="timed" if step == "time" else step,
            soc=soc,
            setup=setup,
            verify=None if step == "time" else command,
            arguments=arguments,
            limits=limits,
            auto_sync=auto_sync,
            trace=trace if step == "time" else None,
        )
        printed = printed or done.printed
        timings = timings or done.timings
        verdict = replace(
            verdict,
            violations=[*verdict.violations, *done.violations],
            advice=[*verdict.advice, *done.advice],
            races=[*verdict.races, *done.races],
            correct=verdict.correct if done.correct is None else done.correct,
            error=verdict.error or done.error,
        )
    verdict = replace(verdict, seconds=round(time.monotonic() - started, 3), **total(timings))
    longest = max(timings, key=lambda report: report.time_us, default=None)
    return Report(verdict, timing=longest, root=program.root, printed=printed)


@dataclass(slots=True)
class _Judge:
    subject: Subject
    soc: str
    limits: Limits | None
    auto_sync: bool
    trace: Path | None
    sandbox: Sandbox
    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    error: str | None = None

    def verdict(self, cases: Sequence[Case], steps: Sequence[Step]) -> Report:
        started = time.monotonic()
        chip = load_soc(self.soc).soc
        verdict = Verdict(self.subject.name, soc=chip, compiled=True, isolation=self.sandbox.name)
        reports: list[CaseReport] = []
        timed: RunResult | None = None
        for number, case in enumerate(cases):
            ready = self.subject.prepare(case)
            if ready.build is not None:
                self._keep(self.violations, ready.build.violations)
            if ready.diagnostics or (ready.build is not None and not ready.build.ok):
                verdict = replace(verdict, compiled=False, diagnostics=ready.diagnostics)
                break
            if ready.error is not None:
                self.error = self.error or _at(case, cases, ready.error)
                reports.append(CaseReport(case.name, _case(ready, None), ready.error, ""))
                continue
            if "check" in steps or "run" in steps:
                mode: Mode = "check" if "check" in steps else "run"
                reports.append(self._run(case, ready, mode, cases))
            if "time" in steps and number == 0:
                timed = self._execute(ready, "time")
                if timed.error is not None:
                    self.error = self.error or _at(case, cases, timed.error)
        reports = [
            replace(report, verdict=replace(report.verdict, message=report.summary or None))
            for report in reports
        ]
        known = [report.verdict.correct for report in reports]
        correct = None if all(c is None for c in known) else all(c is not False for c in known)
        timing = timed.timing if timed is not None else None
        verdict = replace(
            verdict,
            violations=self.violations,
            advice=self.advice,
            races=self.races,
            cases=[report.verdict for report in reports],
            correct=correct,
            error=self.error,
            seconds=round(time.monotonic() - started, 3),
            **(timing.verdict_fields() if timing is not None else {}),
        )
        note = timed.timing_note if timed is not None else None
        return Report(verdict, reports, timing, note, self.subject.root)

    def _execute(self, ready: Prepared, mode: Mode) -> RunResult:
        assert ready.build is not None
        assert ready.launch is not None
        return execute(
            ready.build,
            ready.launch,
            mode=mode,
            soc=self.soc,
            limits=self.limits,
            auto_sync=self.auto_sync,
            trace=self.trace if mode == "time" else None,
            sandbox=self.sandbox,
        )

    def _run(self, case: Case, ready: Prepared, mode: Mode, cases: Sequence[Case]) -> CaseReport:
        result = self._execute(ready, mode)
        self._keep(self.violations, result.violations)
        self._keep(self.advice, result.advice)
        self._keep(self.races, result.races)
        if result.error is not None:
            self.error = self.error or _at(case, cases, result.error)
            entry = replace(_case(ready, None), correct=False)
            return CaseReport(case.name, entry, result.error, result.printed)
        compared = _compare(case, ready, result, self.sandbox)
        summary = "; ".join(f"{name}: {c.summary}" for name, c in compared.items() if c.summary)
        if loosened := _loosened(case, ready.launch.outputs if ready.launch else ()):
            summary = f"{summary}; {loosened}" if summary else loosened
        return CaseReport(case.name, _case(ready, compared), summary, result.printed)

    @staticmethod
    def _keep(store: list[Any], found: Sequence[Any]) -> None:
        """Cases repeat what they find; each thing is said once."""
        store += [finding for finding in found if finding not in store]


def _at(case: Case, cases: Sequence[Case], text: str) -> str:
    return text if len(cases) == 1 else f"{case.name}: {text}"


def _case(ready: Prepared, compared: dict[str, Comparison] | None) -> CaseVerdict:
    shapes = [list(tensor.shape) for _, tensor in ready.inputs]
    types = [tensor.dtype.name for _, tensor in ready.inputs]
    if not compared:
        return CaseVerdict(shapes, types)
    return CaseVerdict(
        shapes,
        types,
        correct=all(c.correct for c in compared.values()),
        max_abs=_largest([c.max_abs for c in compared.values()]),
        max_rel=_largest([c.max_rel for c in compared.values()]),
    )


def _largest(values: Sequence[float | None]) -> float | None:
    """None (not finite) wins: it is the worst."""
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) and known else None


def _compare(
    case: Case, ready: Prepared, result: RunResult, sandbox: Sandbox
) -> dict[str, Comparison]:
    assert ready.launch is not None
    wanted = _expected(case, ready, ready.launch.outputs, sandbox)
    compared = {}
    for name, want in wanted.items():
        own = case.expected[name].tolerance if name in case.expected else None
        compared[name] = numerics.compare(
            result.tensors[name],
            want,
            tolerance=own or case.tolerance,
            unwritten=result.unwritten.get(name, 0),
        )
    return compared


def _loosened(case: Case, outputs: Sequence[TensorArgument]) -> str:
    """Return what the case compares more loosely than by default; empty for nothing."""
    stated: dict[str, None] = {}
    for tensor in outputs:
        own = case.expected[tensor.name].tolerance if tensor.name in case.expected else None
        used, default = own or case.tolerance, numerics.tolerance_for(tensor.dtype)
        if used is not None and numerics.is_looser(used, default):
            stated[
                f"compared with rtol {used.rtol:g}, atol {used.atol:g}, mismatches "
                f"{used.mismatches:g}, looser than rtol {default.rtol:g}, atol {default.atol:g} of "
                f"{tensor.dtype.name}"
            ] = None
    return "; ".join(stated)


def _expected(
    case: Case, ready: Prepared, outputs: Sequence[TensorArgument], sandbox: Sandbox
) -> dict[str, HostTensor]:
    found: dict[str, HostTensor] = {}
    if case.reference is not None:
        found |= reference.by_function(
            case.reference.file,
            case.reference.function,
            ready.inputs,
            outputs,
            attrs=ready.attrs,
            sandbox=sandbox,
        )
    by_name = {tensor.name: tensor for tensor in outputs}
    expressions: dict[str, str] = {}
    for name, entry in case.expected.items():
        if name not in by_name:
            raise UsageError(f"expected {name!r} is no output; outputs: {', '.join(by_name)}")
        if entry.expression is not None:
            expressions[name] = entry.expression
        elif entry.tensor is not None:
            found[name] = entry.tensor
        elif entry.file is not None:
            tensor = by_name[name]
            found[name] = data.read(entry.folder, entry.file, name, tensor.shape, tensor.dtype)
    if expressions:
        found |= reference.by_expression(expressions, ready.inputs, outputs, sandbox=sandbox)
    return found
