# SPDX-License-Identifier: Apache-2.0
"""Makes the shipped knowledge: every lesson is tried, verified on the twin and written as an entry.

    python benchmarks/knowledge_harvest.py [--lessons copies ...] [--only ID ...] [--out FOLDER]

Cold start for one kernel: the kernel itself in 20 cases or more (extremes, odd sizes, idle cores),
then the faulty or slower form of it, which the twin must tell from the kernel as the lesson claims.
An entry that is there already and whose programs did not change keeps its evidence. The exit status
is 1 where a lesson does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from knowledge.compose import Pair, language, lessons, pair

from npuforge import knowledge
from npuforge.dtypes import HostTensor, encode
from npuforge.errors import NpuforgeError
from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.entry import Advice, Entry, Evidence
from npuforge.knowledge.text import dump, read
from npuforge.knowledge.verify import RefusedError, evidence_of
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.tile.source import TileError
from npuforge.twin import launch_file, numerics
from npuforge.twin.execute import RunResult, execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import TensorArgument
from npuforge.twin.launch_file import Case

BASE = Path(knowledge.__file__).parent / "base"
_MARKS = ("// [", "// ]", "# [", "# ]")
_TRIED: dict[tuple[str, str], int] = {}  # kernels that several lessons share are tried once


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lessons", nargs="*", default=[], help="files of lessons, all if none")
    options.add_argument("--only", nargs="*", default=[], help="ids of lessons, all if none")
    options.add_argument("--out", type=Path, default=BASE)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for lesson in lessons(given.lessons):
        if given.only and lesson["id"] not in given.only:
            continue
        try:
            said = _harvest(lesson, given.out)
        except (NpuforgeError, ValueError, KeyError) as error:
            failed += 1
            said = f"REFUSED {type(error).__name__}: {error}"
        print(f"{lesson['id']}: {said}", flush=True)
    print(f"{failed} refused")
    return 1 if failed else 0


def _harvest(lesson: dict[str, Any], folder: Path) -> str:
    made = pair(lesson)
    entry = _entry(lesson, made)
    path = folder / f"{entry.id}.md"
    old = read(path) if path.is_file() else None
    if old is not None and old.verified and old.digest == entry.digest:
        entry = msgspec.structs.replace(entry, evidence=old.evidence)
        path.write_text(dump(_told(entry)), "utf-8")
        return "kept"
    tried = _try(entry, made)
    entry = msgspec.structs.replace(entry, evidence=evidence_of(entry))
    path.write_text(dump(_told(entry)), "utf-8")
    assert entry.evidence is not None
    return f"{tried} cases; {_figures(entry.evidence)}"


def _entry(lesson: dict[str, Any], made: Pair) -> Entry:
    advises = None
    if "subject" in lesson:
        advises = Advice(lesson["subject"], lesson["choice"])
    return Entry(
        id=lesson["id"],
        title=lesson["title"],
        criterion=lesson["criterion"],
        language=language(lesson),
        rationale=lesson["rationale"],
        after=made.after,
        before=made.before,
        claim=lesson["claim"],
        launch=made.launch,
        auto_sync=lesson.get("auto_sync", True),
        operators=tuple(lesson.get("operators", ())),
        dtypes=tuple(lesson.get("dtypes", ())),
        tags=tuple(lesson["tags"]),
        identifiers=tuple(lesson["identifiers"]),
        advises=advises,
        boundary=tuple(msgspec.convert(lesson.get("boundary", []), list[Boundary])),
    )


def _told(entry: Entry) -> Entry:
    """With the measured times at the end of the rationale of a speed-up."""
    evidence = entry.evidence
    if evidence is None or evidence.ratio is None:
        return entry
    figures = (
        f"Measured on the twin: {evidence.before_us:g} us before, {evidence.after_us:g} us after."
    )
    return msgspec.structs.replace(entry, rationale=f"{entry.rationale}\n\n{figures}")


def _try(entry: Entry, made: Pair) -> int:
    """The kernel by itself in every case that its frame knows; what is right is computed here, as
    lessons are our own."""
    code = "".join(line for line in entry.after.splitlines(True) if line.strip() not in _MARKS)
    key = (code, made.trial)
    if key not in _TRIED:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "launch.toml"
            path.write_text(made.trial, "utf-8")
            cases = launch_file.load(path)
        run = _tile(entry) if entry.language == "tile" else _kernel(entry)
        for case in cases:
            _case(entry, case, run(case))
        _TRIED[key] = len(cases)
    return _TRIED[key]


def _kernel(entry: Entry) -> Callable[[Case], RunResult]:
    build = Kernel.build(entry.after)
    if not build.ok:
        raise RefusedError(f"{entry.id}: After does not compile: {build.diagnostics[:2]}")

    def run(case: Case) -> RunResult:
        assert case.launch is not None
        return execute(build, case.launch, mode="check", auto_sync=entry.auto_sync)

    return run


def _tile(entry: Entry) -> Callable[[Case], RunResult]:
    try:
        program = TwinProgram(lower(entry.after))
    except TileError as error:
        raise RefusedError(f"{entry.id}: After does not compile: {error}") from None
    return lambda case: program.launch(_inputs(case), case.attrs, mode="check")


def _inputs(case: Case) -> dict[str, HostTensor]:
    given = case.inputs if case.launch is None else case.launch.inputs
    return {t.name: t.data for t in given if isinstance(t, TensorArgument) and t.data is not None}


def _case(entry: Entry, case: Case, result: RunResult) -> None:
    rules = sorted({found.rule for found in (*result.violations, *result.races)})
    if result.error is not None or rules:
        raise RefusedError(f"{entry.id}: {case.name}: {result.error or ''} {rules}")
    inputs = {name: tensor.values() for name, tensor in _inputs(case).items()}
    for name, expected in case.expected.items():
        got = result.tensors[name]
        want = encode(np.asarray(eval(str(expected.expression), {"np": np, **inputs})), got.dtype)
        compared = numerics.compare(
            got, want, tolerance=expected.tolerance, unwritten=result.unwritten.get(name, 0)
        )
        if not compared.correct:
            raise RefusedError(f"{entry.id}: {case.name}: {name}: {compared.summary}")


def _figures(evidence: Evidence) -> str:
    ratio = f", {evidence.ratio:g} times faster" if evidence.ratio else ""
    return f"after {evidence.after}, before {evidence.before}{ratio}"


if __name__ == "__main__":
    sys.exit(main())
