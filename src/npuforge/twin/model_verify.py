# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model that calls kernels, against a task in KernelBench's form."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox
from npuforge.scratch import scratch_folder
from npuforge.soc.data import load_soc, write_constants
from npuforge.twin import numerics, session_result
from npuforge.twin.execute import Mode
from npuforge.twin.recipes import RUNTIME_LIBRARY
from npuforge.twin.sources.direct import total
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.timing.report import TimingReport, build_report
from npuforge.twin.toolchain import Toolchain
from npuforge.twin.torchbind.candidate import CandidateResult, run_job
from npuforge.twin.verify import CaseReport, Report, Step
from npuforge.verdict import Advice, Race, Verdict, Violation
from npuforge.verdict import Case as CaseVerdict

_TASK_SCRIPT = Path(__file__).parent / "torchbind" / "task_script.py"
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
        with scratch_folder("task") as folder:
            wanted = _reference(task, folder, trials, sandbox)
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


def _reference(task: Path, scratch: Path, trials: int, sandbox: Sandbox) -> Path:
    """Inputs and reference outputs, in a folder that the candidate gets a copy of the inputs of."""
    job = {
        "script": str(_TASK_SCRIPT),
        "task": str(task.resolve()),
        "seed": _SEED,
        "trials": trials,
    }
    folders = [_TASK_SCRIPT.parent, task.resolve().parent]
    done = run_job(job, scratch, {}, {}, "run", folders, sandbox=sandbox, preloaded=True)
    if done.error is not None:
        raise UsageError(f"the reference {task.name} does not run: {done.error}")
    return scratch


def run_candidate(
    answer: ModelAnswer,
    wanted: Path,
    mode: Mode,
    soc: str,
    *,
    seed: int,
    auto_sync: bool = True,
    sandbox: Sandbox | None = None,
) -> tuple[CandidateResult, Seen, list[list[HostTensor]]]:
    """The answer on the inputs in `wanted` (init.pt, inputs*.pt): how it went, what its kernels
    did, and its outputs for each, empty where it did not come so far."""
    build = answer.build()
    assert build.path is not None
    chip = load_soc(soc)
    with scratch_folder("model") as scratch:
        shutil.copy(wanted / "init.pt", scratch)
        inputs = list(wanted.glob("inputs*.pt"))
        for path in inputs:
            shutil.copy(path, scratch)
        job = {
            "model": str(answer.model),
            "class": answer.model_class,
            "seed": seed,
            "cases": 1 if mode == "time" else len(inputs),
        }
        env: dict[str, str] = {}
        tools = answer.toolchain or Toolchain.find()
        if answer.in_process:
            job["runtime"] = str(tools.runtime() / f"lib{RUNTIME_LIBRARY}.so")
            write_constants(scratch / "constants.txt", chip)
            env = {
                "NPUFORGE_MODE": "timed" if mode == "time" else mode,
                "NPUFORGE_CONSTANTS": str(scratch / "constants.txt"),
                "NPUFORGE_RESULT": str(scratch / session_result.RESULT_FILE),
                "NPUFORGE_AUTO_SYNC": str(int(auto_sync)),
            }
        done = run_job(
            job,
            scratch,
            {answer.module: build.path},
            answer.operators,
            mode,
            [answer.root, tools.runtime()],
            sandbox=sandbox,
            env=env,
        )
        seen = Seen()
        if answer.in_process:
            raw = session_result.load(scratch)
            found = session_result.explain(
                raw.findings if raw else [], {str(build.path): build.path}, answer.root
            )
            launches = raw.launches if raw is not None else []
            seen = Seen(found.violations, found.advice, found.races, calls=len(launches))
            seen.timings = [build_report(o.timing, chip) for o in launches if o.timing is not None]
        for _, result in done.calls:
            seen.calls += 1
            seen.violations += [v for v in result.violations if v not in seen.violations]
            seen.advice += [a for a in result.advice if a not in seen.advice]
            seen.races += [r for r in result.races if r not in seen.races]
            if result.timing is not None:
                seen.timings.append(result.timing)
        cases = job["cases"]
        assert isinstance(cases, int)
        given: list[list[HostTensor]] = [[] for _ in range(cases)]
        if done.forged is None:
            given = [tensors(scratch / f"outputs{i}.pt") for i in range(cases)]
    return done, seen, given


def tensors(path: Path) -> list[HostTensor]:
    """Tensors that a process of the sandbox saved; none where it did not."""
    import torch  # noqa: PLC0415 (heavy; only models need it)

    if not path.exists():
        return []
    held = torch.load(path, weights_only=True)
    return [HostTensor.of(item) for item in held if isinstance(item, torch.Tensor)]


def _compare(wanted: Path, given: list[list[HostTensor]], trial: int) -> CaseReport:
    import torch  # noqa: PLC0415

    inputs = [
        item
        for item in torch.load(wanted / f"inputs{trial}.pt", weights_only=True)
        if isinstance(item, torch.Tensor)
    ]
    reference = tensors(wanted / f"outputs{trial}.pt")
    got = given[trial]
    shapes = [list(item.shape) for item in inputs]
    types = [str(item.dtype).removeprefix("torch.") for item in inputs]
    name = f"trial {trial}"
    if [tensor.shape for tensor in got] != [tensor.shape for tensor in reference]:
        entry = CaseVerdict(shapes, types, correct=False)
        expected = ", ".join(str(tensor.shape) for tensor in reference)
        return CaseReport(name, entry, f"output shapes differ; expected {expected}", "")
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
