# SPDX-License-Identifier: Apache-2.0
"""From a module to a proven operator: capture, have it written and judged, put together.

One process of the module captures it and then computes references, while programs are written and
built here.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from npuforge.eager import baseline, compared
from npuforge.errors import UsageError
from npuforge.generate.calls import model_shape
from npuforge.generate.cases import choose
from npuforge.generate.description import module_text
from npuforge.generate.events import Observer, StageDone, StageStarted, silent
from npuforge.generate.interrupts import Interrupts
from npuforge.generate.outcome import Outcome, Stage
from npuforge.generate.reference import WORKER, ModuleProcess, References
from npuforge.generate.workbench import Chosen, Workbench
from npuforge.generate.writer import Writer
from npuforge.scratch import new_folder, remove, scratch_folder
from npuforge.soc.data import load_soc
from npuforge.spec.session import ModuleSession
from npuforge.twin.toolchain import Toolchain
from npuforge.untrusted.inputs import read_source
from npuforge.verdict import Verdict

DEFAULT_TUNE_S = 8.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked for."""

    soc: str = "910b2"
    form: str = "msopgen"
    tune_s: float = DEFAULT_TUNE_S
    interrupts: Interrupts = field(default_factory=Interrupts)


def from_file(
    file: Path,
    writer: Writer,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    observer: Observer = silent,
    refused: Collection[str] = (),
) -> Outcome:
    """Generate from a module's file or a description (TOML); its code runs in the sandbox only.

    A module that dispatches one of the operations that are `refused` is refused at once.
    """
    started = time.monotonic()
    with scratch_folder("described") as place:
        if file.suffix == ".toml":
            file = _described(file, place)
        with ModuleSession(file, then=WORKER, refused=refused) as session:
            text = read_source(file)
            return from_process(session, text, writer, settings, observer, started=started)


def _described(file: Path, folder: Path) -> Path:
    """The module's file that a description stands for."""
    name, text = module_text(file)
    module = folder / f"{name}.py"
    module.write_text(text, "utf-8")
    return module


def from_process(
    module: ModuleProcess,
    reference: str,
    writer: Writer,
    settings: Settings,
    observer: Observer = silent,
    *,
    started: float | None = None,
) -> Outcome:
    """Generate from a module that is being captured; `reference` is its text."""
    started = started or time.monotonic()
    chip = load_soc(settings.soc).soc
    if writer.forms is not None and settings.form not in writer.forms:
        listed = ", ".join(writer.forms)
        raise UsageError(f"{writer.name} cannot write {settings.form}; formats: {listed}")
    began = time.monotonic()
    observer(StageStarted("capture"))
    Toolchain.find().runtime()
    graph = module.graph
    seconds = time.monotonic() - began
    observer(StageDone("capture", seconds))
    cases = [*choose(graph), *writer.cases(graph, reference)]
    references = References(module, cases)
    scratch = new_folder("work")
    bench = Workbench(
        graph, reference, cases, references, chip, settings.tune_s, observer, scratch,
        interrupts=settings.interrupts,
    )  # fmt: skip
    bench.stages.append(Stage("capture", round(seconds, 3)))
    for name, value in graph.scalars.items():
        bench.notes.append(f"the argument {name} is fixed at {value}")
    try:
        chosen = writer(bench)
    finally:
        remove(scratch)
    settings.interrupts.finish()
    known = baseline(graph, chip)
    verdict = compared(_verdict(chosen, writer.name, chip), known)
    files: dict[str, str] = {}
    if chosen.winner is not None and chosen.winner.program is not None:
        files = chosen.winner.program.files(
            settings.form,
            lambda host: model_shape(host, chosen.plan, graph, module.signature, reference),
        )
    return Outcome(
        name=chosen.plan.name,
        graph=graph,
        plan=chosen.plan,
        reference=reference,
        candidates=chosen.candidates,
        verdict=replace(
            verdict,
            seconds=round(time.monotonic() - started, 3),
            interrupted=settings.interrupts.asked,
        ),
        form=settings.form,
        files=files,
        timing=chosen.timed.timing if chosen.timed is not None else None,
        trace=chosen.trace,
        notes=tuple(bench.notes),
        stages=tuple(bench.stages),
        baseline=known,
        used=chosen.used,
    )


def _verdict(chosen: Chosen, strategy: str, chip: str) -> Verdict:
    verdict = Verdict(chosen.plan.name, strategy=strategy, soc=chip, compiled=True)
    proof = chosen.proof
    if proof is None:
        diagnostics = [d for trial in chosen.trials for d in trial.diagnostics]
        return replace(verdict, compiled=False, diagnostics=diagnostics)
    timing = chosen.timed.timing if chosen.timed is not None else None
    return replace(
        verdict,
        violations=proof.violations,
        advice=proof.advice,
        races=proof.races,
        cases=proof.cases,
        correct=proof.correct,
        error=proof.error,
        isolation=proof.isolation,
        **(timing.verdict_fields() if timing is not None else {}),
    )
