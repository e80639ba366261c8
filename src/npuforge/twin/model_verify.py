# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model that calls kernels, against a task in KernelBench's form."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.sandbox import GIB, MIB, Sandbox
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import read_tensors
from npuforge.scratch import scratch_folder
from npuforge.soc.data import constants_text, load_soc
from npuforge.twin import numerics, session_result
from npuforge.twin.execute import Mode
from npuforge.twin.recipes import RUNTIME_LIBRARY
from npuforge.twin.sources.direct import total
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.timing.report import TimingReport, build_report
from npuforge.twin.toolchain import Toolchain
from npuforge.twin.torchbind.candidate import CandidateResult, run_job
from npuforge.twin.torchbind.conduct import output_file
from npuforge.twin.verify import CaseReport, Report, Step
from npuforge.verdict import Advice, Race, Verdict, Violation
from npuforge.verdict import Case as CaseVerdict

_TASK_SCRIPT = Path(__file__).parent / "torchbind" / "task_script.py"
_MOST_BYTES = 4 * GIB  # of the inputs or results of a case
_SEED = 1024  # the suite's own: candidate and reference build their weights from it


@dataclass(slots=True)
class Seen:
    """What the kernels of one run did."""

    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    timings: list[TimingReport] = field(default_factory=list)
    calls: int = 0


def verify_model(
    answer: ModelAnswer,
    task: Path,
    *,
    steps: Sequence[Step] = ("check", "time"),
    soc: str = "910b2",
    trials: int = 1,
    auto_sync: bool = True,
    sandbox: Sandbox | None = None,
) -> Report:
    """Build the answer, run it and the task's reference on the same inputs, compare, time."""
    if not task.is_file():
        raise UsageError(f"no such task file: {task}")
    started = time.monotonic()
    sandbox = sandbox or Sandbox.detect()
    verdict = Verdict(
        answer.name,
        soc=load_soc(soc).soc,
        compiled=True,
        violations=answer.lint(),
        isolation=sandbox.name,
    )
    build = answer.build()
    reports: list[CaseReport] = []
    timings: list[TimingReport] = []
    if build.ok:
        with scratch_folder("task") as place, SharedFolder(place) as wanted:
            _reference(task, wanted, trials, sandbox)
            for step in steps:
                mode: Mode = "time" if step == "time" else step
                done, seen, given = run_candidate(
                    answer, wanted, mode, soc, seed=_SEED, auto_sync=auto_sync, sandbox=sandbox
                )
                verdict = replace(
                    verdict,
                    violations=_joined(verdict.violations, seen.violations),
                    advice=_joined(verdict.advice, seen.advice),
                    races=_joined(verdict.races, seen.races),
                    error=verdict.error or done.error or _no_kernel(seen),
                )
                if step == "time":
                    timings = seen.timings
                elif done.error is None:
                    reports = [_compare(wanted, given, i) for i in range(trials)]
    refused = [*build.diagnostics, *answer.kernel_diagnostics()]
    checked = [report.verdict.correct for report in reports]
    verdict = replace(
        verdict,
        compiled=build.ok and not refused,
        diagnostics=refused,
        cases=[report.verdict for report in reports],
        correct=all(checked) if checked else None,
        seconds=round(time.monotonic() - started, 3),
        **total(timings),
    )
    longest = max(timings, key=lambda report: report.time_us, default=None)
    return Report(verdict, reports, longest, root=answer.root)


def _no_kernel(seen: Seen) -> str | None:
    return None if seen.calls else "the model launched no kernel"


def _joined(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [*first, *(finding for finding in second if finding not in first)]


def _reference(task: Path, folder: SharedFolder, trials: int, sandbox: Sandbox) -> None:
    """Leave inputs and reference outputs in a folder; the candidate gets a copy of the inputs."""
    job = {
        "script": str(_TASK_SCRIPT),
        "task": str(task.resolve()),
        "seed": _SEED,
        "trials": trials,
    }
    done = run_job(
        job,
        folder,
        {},
        {},
        "run",
        [_TASK_SCRIPT.parent],
        [task],
        sandbox=sandbox,
        preloaded=True,
    )
    if done.error is not None:
        raise UsageError(f"the reference {task.name} does not run: {done.error}")


def run_candidate(
    answer: ModelAnswer,
    wanted: SharedFolder,
    mode: Mode,
    soc: str,
    *,
    seed: int,
    auto_sync: bool = True,
    sandbox: Sandbox | None = None,
) -> tuple[CandidateResult, Seen, list[list[HostTensor]]]:
    """The answer on the inputs in `wanted` (init.pt, inputs0.pt, ...): how it went, what its
    kernels did, and its outputs for each, empty where it did not come so far."""
    build = answer.build()
    assert build.path is not None
    chip = load_soc(soc)
    with scratch_folder("model") as scratch, SharedFolder(scratch) as folder:
        cases = _copy_inputs(wanted, folder)
        cases = 1 if mode == "time" else cases
        job: dict[str, Any] = {
            "model": str(answer.model),
            "class": answer.model_class,
            "seed": seed,
            "cases": cases,
        }
        env: dict[str, str] = {}
        tools = answer.toolchain or Toolchain.find()
        if answer.in_process:
            job["runtime"] = str(tools.runtime() / f"lib{RUNTIME_LIBRARY}.so")
            folder.write("constants.txt", constants_text(chip).encode())
            env = {
                "NPUFORGE_MODE": "timed" if mode == "time" else mode,
                "NPUFORGE_CONSTANTS": str(scratch / "constants.txt"),
                "NPUFORGE_RESULT": str(scratch / session_result.RESULT_FILE),
                "NPUFORGE_AUTO_SYNC": str(int(auto_sync)),
            }
        done = run_job(
            job,
            folder,
            {answer.module: build.path},
            answer.operators,
            mode,
            [tools.runtime()],
            [answer.root],
            sandbox=sandbox,
            env=env,
            most_bytes=_most_outputs(wanted, cases),
        )
        seen = Seen()
        if answer.in_process:
            raw = session_result.load(folder)
            found = session_result.explain(
                raw.findings if raw else [], {str(build.path): build.path}, answer.root
            )
            launches = raw.launches if raw is not None else []
            seen = Seen(found.violations, found.advice, found.races, calls=len(launches))
            summaries = [one.summary for one in launches]
            seen.timings = [build_report(one, chip) for one in summaries if one is not None]
        for _, result in done.calls:
            seen.calls += 1
            seen.violations += [v for v in result.violations if v not in seen.violations]
            seen.advice += [a for a in result.advice if a not in seen.advice]
            seen.races += [r for r in result.races if r not in seen.races]
            if result.timing is not None:
                seen.timings.append(result.timing)
        given: list[list[HostTensor]] = [[] for _ in range(cases)]
        if done.forged is None:
            given[: len(done.outputs)] = done.outputs[:cases]
    return done, seen, given


def _copy_inputs(wanted: SharedFolder, folder: SharedFolder) -> int:
    """Give the candidate what it is called with, unread; return the number of calls."""
    wanted.copy("init.pt", folder, _MOST_BYTES)
    number = 0
    while wanted.holds(f"inputs{number}.pt"):
        wanted.copy(f"inputs{number}.pt", folder, _MOST_BYTES)
        number += 1
    return number


def _most_outputs(wanted: SharedFolder, cases: int) -> int:
    """Twice what the reference returns: an answer may return wider elements, which are wrong."""
    sizes = [wanted.size(output_file(number)) or 0 for number in range(cases)]
    return 2 * max(sizes, default=0) + 64 * MIB


def tensors(folder: SharedFolder, name: str) -> list[HostTensor]:
    """Return the tensors that a reference's process saved."""
    try:
        return [item for item in read_tensors(folder, name, _MOST_BYTES) if item is not None]
    except HostileFileError as error:
        raise UsageError(f"the reference does not run: {error}") from None


def _compare(wanted: SharedFolder, given: list[list[HostTensor]], trial: int) -> CaseReport:
    inputs = tensors(wanted, f"inputs{trial}.tensors")
    reference = tensors(wanted, output_file(trial))
    got = given[trial]
    shapes = [list(item.shape) for item in inputs]
    types = [item.dtype.name for item in inputs]
    name = f"trial {trial}"
    if mismatch := numerics.mismatch_of(got, reference):
        return CaseReport(name, CaseVerdict(shapes, types, correct=False), mismatch, "")
    compared = [numerics.compare(g, w) for g, w in zip(got, reference, strict=True)]
    known = [c.max_abs for c in compared if c.max_abs is not None]
    relative = [c.max_rel for c in compared if c.max_rel is not None]
    entry = CaseVerdict(
        shapes,
        types,
        correct=all(c.correct for c in compared),
        max_abs=max(known, default=None),
        max_rel=max(relative, default=None),
    )
    return CaseReport(name, entry, "; ".join(c.summary for c in compared if c.summary), "")
