# SPDX-License-Identifier: Apache-2.0
"""An answer on the twin: built, bound by the suite's own binding, run on cases, judged, timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats.kinds import KINDS, cheat, once
from npuforge.bench.suites.npukernelbench.answers import kernel_name, operator_name
from npuforge.bench.suites.npukernelbench.known import known
from npuforge.bench.suites.npukernelbench.smaller import fresh, smaller
from npuforge.bench.tables import Row, spread
from npuforge.bench.tables.outcome import CaseOutcome, Sample
from npuforge.bench.tables.solve import LAUNCH_LIMITS
from npuforge.bench.task import Task
from npuforge.eager import Baseline, baseline
from npuforge.errors import UsageError
from npuforge.printable import one_line
from npuforge.sandbox import GIB, Limits
from npuforge.sandbox.messages import Count, Text, Word, decode
from npuforge.sandbox.python import PACKAGE_ROOT
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import Shape
from npuforge.scratch import scratch_folder
from npuforge.spec.graph import EagerOp, Graph
from npuforge.spec.session import operator_name as graph_name
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.timing.report import TimingReport
from npuforge.twin.torchbind.candidate import CandidateResult, run_job
from npuforge.twin.torchbind.extension import build_extension
from npuforge.untrusted.inputs import read_source
from npuforge.verdict import Case, Diagnostic

ADAPTER = Path(__file__).with_name("adapter.py")
_SCRIPT = Path(__file__).with_name("answer_script.py")
_LIMITS = Limits(cpu_s=7200.0, wall_s=14400.0, memory_bytes=12 * GIB, processes=8)
_MOST_JSON = 256 << 20
_FRESH = 2


class _Cheat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Word
    evidence: Text


class _Judged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Result of our own check on values around zero."""

    strict: bool
    told: Text = ""
    max_abs: float | None = None
    max_rel: float | None = None


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case as the script in the sandbox tells it."""

    calls: Count = 0
    more: Count = 0
    shapes: Annotated[list[Shape], Meta(max_length=10_000)] = []
    dtypes: Annotated[list[Word], Meta(max_length=10_000)] = []
    eager: Annotated[list[EagerOp], Meta(max_length=20_001)] = []
    published: bool | None = None
    message: Text = ""
    strict: bool | None = None
    told: Text = ""
    max_abs: float | None = None
    max_rel: float | None = None
    signed: _Judged | None = None
    cheats: Annotated[list[_Cheat], Meta(max_length=100)] = []
    unusable: Text | None = None
    error: Text | None = None


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    """For the answers to one task."""

    task: Task
    soc: str
    static: bool = False  # answers are for one size alone
    reference: bool = False  # the suite's own: what they cannot do is a weakness, no cheat

    def judge(self, project: Path, rows: Sequence[Row]) -> Sample:
        """`UsageError` where the suite's own binding is at fault."""
        sample = Sample()
        try:
            source = OperatorSource.open(project, soc=self.soc)
            host = source.build_host()
        except UsageError as error:
            sample.compiled, sample.problem = False, str(error)
            return sample
        if not host.ok:
            sample.compiled, sample.diagnostics = False, list(host.diagnostics)
            sample.problem = "the host code does not compile"
            return sample
        try:
            operators = {source.operator.type: source, operator_name(self.task): source}
        except UsageError as error:
            sample.compiled, sample.problem = False, str(error)
            return sample
        with scratch_folder("binding") as work:
            binding = self._binding(work)
        with scratch_folder("answer") as place, SharedFolder(place) as folder:
            done, lines = self._run(folder, binding, operators, rows)
        _judged(sample, source.kernel_diagnostics(), rows, lines, done, self._baseline)
        found = _cheats(lines, len(rows)) if sample.precise else []
        if found and self.reference:
            sample.sound = False
            sample.problem = f"{found[0].kind}: {found[0].evidence}"
        else:
            sample.cheats += found
        return sample

    def _binding(self, work: Path) -> Path:
        """The suite's binding, with the names put in that it leaves open."""
        text = read_source(self.task.place / "validation" / "pybind.cpp")
        text = text.replace("aclnnCustomOp", f"aclnn{operator_name(self.task)}")
        file = work / "pybind.cpp"
        file.write_text(text.replace("custom_pybind_api", kernel_name(self.task)), "utf-8")
        built = build_extension([file], "kernel_gen_ops")
        if built.path is None:
            first = built.diagnostics[0].message if built.diagnostics else "unknown"
            raise UsageError(f"the suite's binding does not compile: {first}")
        return built.path

    def _run(
        self,
        folder: SharedFolder,
        binding: Path,
        operators: dict[str, OperatorSource],
        rows: Sequence[Row],
    ) -> tuple[CandidateResult, list[_Line]]:
        taken = [smaller(row) or row for row in rows]
        job: dict[str, Any] = {
            "script": str(_SCRIPT),
            "adapter": str(ADAPTER),
            "package": str(PACKAGE_ROOT),
            "place": str(self.task.place.resolve()),
            "rows": taken,
            "fresh": [] if self.static else self._fresh(taken),
            "calls": known()["calls"],
        }
        done = run_job(
            job,
            folder,
            {"kernel_gen_ops": binding},
            operators,
            "check",
            [PACKAGE_ROOT],
            [self.task.place.resolve() / "validation"],
            _LIMITS,
            launch_limits=LAUNCH_LIMITS,
            timed=True,
            preloaded=True,
        )
        return done, _lines(folder, len(taken) + len(job["fresh"]))

    def _fresh(self, rows: Sequence[Row]) -> list[Row]:
        """The first and the last case at sizes of our own."""
        found = [fresh(row) for row in spread(rows, _FRESH)]
        return [row for row in found if row is not None]

    def _baseline(self, line: _Line) -> Baseline | None:
        if not line.eager:
            return None
        name = graph_name(operator_name(self.task))
        return baseline(Graph(name, [], [], [], [], eager=line.eager), self.soc)


def _lines(folder: SharedFolder, cases: int) -> list[_Line]:
    """Return the lines of the cases that the run came to; none where one is damaged."""
    try:
        lines = (folder.find("cases.jsonl", _MOST_JSON) or b"").splitlines()
        return [decode(line, _Line, "the line of a case") for line in lines[:cases]]
    except HostileFileError:
        return []


def _judged(
    sample: Sample,
    refused: list[Diagnostic],
    rows: Sequence[Row],
    lines: Sequence[_Line],
    done: CandidateResult,
    known_baseline: Any,
) -> None:
    """What the run in the sandbox said, as the sample's."""
    sample.compiled, sample.diagnostics = not refused, refused
    sample.isolation = done.isolation
    for _, call in done.calls:
        sample.violations += [v for v in call.violations if v not in sample.violations]
        sample.advice += [a for a in call.advice if a not in sample.advice]
        sample.races += [r for r in call.races if r not in sample.races]
    timings = _timings(done, lines)
    for row, line, timing in zip(rows, lines, timings, strict=False):
        outcome = _outcome(int(row["case_id"]), line)
        outcome.scaled = smaller(row) is not None
        if not outcome.scaled:  # the time of another size is no figure of this case
            outcome.timing = timing
            outcome.baseline = known_baseline(line)
        sample.cases.append(outcome)
        if line.signed is not None and line.signed.strict is False:
            sample.sound = False
            sample.problem = (
                f"case {outcome.number} with values around zero: {one_line(line.signed.told)}"
            )
    stopped = done.error or "the run ended early"
    for row in rows[len(lines) :]:
        lost = Case([], [], False, message=stopped)
        sample.cases.append(CaseOutcome(int(row["case_id"]), lost, False, False, stopped))


def _cheats(lines: Sequence[_Line], own: int) -> list[Cheat]:
    """What counts where the suite's check gives credit; `own` lines are of the suite's cases.

    Other sizes must do by the judgements that those of the table do by.
    """
    found: list[Cheat] = []
    exact = all(line.strict for line in lines[:own])
    for line in lines[own:]:
        if line.unusable is not None or (line.published and (line.strict or not exact)):
            continue
        told = one_line(line.error or line.message or line.told)
        shapes = ", ".join(str(list(shape)) for shape in line.shapes)
        found.append(cheat("tested-shapes-only", f"{shapes}: {told}"))
    found += [
        cheat(one.kind, one_line(one.evidence))
        for line in lines[:own]
        for one in line.cheats
        if one.kind in KINDS
    ]
    return once(found)


def _outcome(number: int, line: _Line) -> CaseOutcome:
    shapes = [list(shape) for shape in line.shapes]
    case = Case(shapes, line.dtypes, None, line.max_abs, line.max_rel)
    if line.unusable is not None:
        told = one_line(line.unusable)
        unusable = replace(case, message=told)
        return CaseOutcome(number, unusable, failure=told, unusable=True)
    failure = None if line.error is None else one_line(line.error)
    if failure is None and line.calls == 0:
        failure = "no kernel was launched"
    published = bool(line.published) and failure is None
    strict = bool(line.strict) and failure is None
    if failure is None and not published:
        failure = one_line(line.message) or "wrong"
    elif failure is None and not strict:
        failure = f"passes the suite's check, not ours: {one_line(line.told)}"
    case = replace(case, correct=published and strict, message=failure)
    return CaseOutcome(number, case, published, strict, failure)


def _timings(done: CandidateResult, lines: Sequence[_Line]) -> list[TimingReport | None]:
    """The time of each case that is one operator call; no guess where calls went astray."""
    succeeded = [call for _, call in done.calls if call.error is None]
    if sum(line.calls + line.more for line in lines) != len(succeeded):
        return [None] * len(lines)
    found: list[TimingReport | None] = []
    for line in lines:
        own, succeeded = succeeded[: line.calls], succeeded[line.calls + line.more :]
        found.append(own[0].timing if len(own) == 1 else None)
    return found
