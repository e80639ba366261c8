# SPDX-License-Identifier: Apache-2.0
"""Record items with the npuforge of one tree: the only file here that imports from that tree.

`python worker.py TREE PYTHON`, with PYTHONPATH at the tree's sources, reads a job a line on its
standard input. It answers each with a line: the item's texts by path. Jobs and answers are JSON.
The calls used are few, so that older and newer trees have them. If one moves, name both places.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import npuforge
from npuforge.cli import main as command_line
from npuforge.errors import NpuforgeError
from npuforge.generate import generate
from npuforge.lower.compiler import Lowered, lower
from npuforge.lower.formats import emit
from npuforge.lower.tiling import compute_tiling
from npuforge.plan import Plan
from npuforge.plan import planner as planning
from npuforge.spec.graph import Graph

Texts = dict[str, str]
_SOC = "910b2"
_FORMAT = "msopgen"
# Fields of a verdict that follow from the run, the machine, or the version of the file.
_UNSTEADY = ("seconds", "isolation", "isolation_means", "format")
_WARM_UP = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(2, 3)]
"""


@dataclass(slots=True)
class RecordingPlanner:
    """The tree's planner, which keeps what it was asked and what it answered."""

    __name__ = "planner"
    planned: list[tuple[Graph, Plan]] = field(default_factory=list)

    def __call__(self, graph: Graph, soc: str) -> Plan:
        plan = planning.plan(graph, soc)
        self.planned.append((graph, plan))
        return plan


def record_module(job: Mapping[str, Any]) -> Texts:
    """Record what `npuforge generate` makes of a module when it has time for every variant."""
    planner = RecordingPlanner()
    texts: Texts = {}
    try:
        outcome = generate(Path(job["file"]), soc=_SOC, strategy=planner, tune_s=math.inf)
    except NpuforgeError as error:
        texts["refused.txt"] = f"{type(error).__name__}: {error}\n"
    else:
        texts["verdict.json"] = steady(outcome.verdict.to_json())
        texts["times.txt"] = "".join(
            f"{candidate.variant.title}: {candidate.state} {candidate.time_us} us"
            f"{f' ({candidate.note})' if candidate.note else ''}\n"
            for candidate in outcome.candidates
        )
    for graph, plan in planner.planned:
        texts |= planned_texts(graph, plan)
    return texts


def planned_texts(graph: Graph, plan: Plan) -> Texts:
    """Return every variant's program, its AscendC, and its tiling at the sizes asked for."""
    operands = [f"{o.role} {o.name}: source {o.source}, result {o.result}" for o in plan.operands]
    variants = [f"{number} {v.title}: {v.why}" for number, v in enumerate(plan.variants, 1)]
    texts = {"plan.txt": "\n".join([*variants, *operands, ""])}
    extents = {source.name: tuple(source.type.shape) for source in graph.sources}
    shapes = {o.name: extents[o.source] for o in plan.operands if o.source is not None}
    for number, variant in enumerate(plan.variants, 1):
        folder = f"variant{number}"
        texts[f"{folder}/program.tile.py"] = variant.program
        made = lowered_texts(variant.program, {"tiling": shapes}, {})
        texts |= {f"{folder}/{path}": text for path, text in made.items()}
    return texts


def lowered_texts(
    program: str,
    launches: Mapping[str, Mapping[str, tuple[int, ...]]],
    attributes: Mapping[str, Mapping[str, Any]],
) -> Texts:
    """Return the operator project of a program, and its tiling for the shapes of each launch."""
    try:
        lowered = lower(program, _SOC)
        texts = dict(emit(lowered, _FORMAT))
    except NpuforgeError as error:
        return {"refused.txt": f"{type(error).__name__}: {error}\n"}
    for name, shapes in launches.items():
        texts[f"{name}.txt"] = tiling_text(lowered, shapes, attributes.get(name, {}))
    return texts


def tiling_text(
    lowered: Lowered, shapes: Mapping[str, tuple[int, ...]], attributes: Mapping[str, Any]
) -> str:
    """Return the numbers that the host function decides for these shapes, one a line."""
    try:
        tiling = compute_tiling(lowered, shapes, attributes)
    except NpuforgeError as error:
        return f"refused: {error}\n"
    head = {"blocks": tiling.blocks, "key": tiling.key, "workspace_bytes": tiling.workspace_bytes}
    given = {f"shape {name}": list(shape) for name, shape in shapes.items()}
    outputs = {f"output {name}": list(shape) for name, shape in tiling.output_shapes.items()}
    lines = {**given, **outputs, **head, **tiling.values}
    return "".join(f"{name} = {value!r}\n" for name, value in lines.items())


def record_program(job: Mapping[str, Any]) -> Texts:
    """Record a tile program: its AscendC, and for each launch tiling, verdict and modelled time."""
    source = Path(job["file"]).read_text("utf-8")
    launches: dict[str, Any] = {f"tiling{n}": one for n, one in enumerate(job["launches"], 1)}
    shapes = {
        name: {one["name"]: tuple(one["shape"]) for one in launch["input"]}
        for name, launch in launches.items()
    }
    attributes = {name: launch.get("attrs", {}) for name, launch in launches.items()}
    texts = lowered_texts(source, shapes, attributes)
    if "refused.txt" in texts:
        return texts
    with tempfile.TemporaryDirectory(prefix="replay-") as place:
        project = Path(place) / "project"
        for path, text in texts.items():
            if path.removesuffix(".txt") not in launches:
                file = project / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
        for number, launch in enumerate(launches.values(), 1):
            file = Path(place) / f"launch{number}.yaml"
            file.write_text(json.dumps(launch), "utf-8")  # JSON is YAML
            texts |= judged(project, file, str(number))
    return texts


def record_kernel(job: Mapping[str, Any]) -> Texts:
    """Record the verdict and the modelled time of an AscendC kernel of the tree's own."""
    return judged(Path(job["file"]), Path(job["launch"]), "")


def judged(path: Path, launch: Path, suffix: str) -> Texts:
    """Return the verdicts of `npuforge check` and `profile`."""
    texts: Texts = {}
    with tempfile.TemporaryDirectory(prefix="replay-") as place:
        for command in ("check", "profile"):
            out = Path(place) / f"{command}.json"
            status = command_line(
                [command, str(path), "--launch", str(launch), "--soc", _SOC, "--json", str(out)]
            )
            said = steady(out.read_text("utf-8")) if out.exists() else f"exit status {status}\n"
            texts[f"{command}{suffix}.json"] = said
    return texts


def steady(verdict: str) -> str:
    """Return a verdict without the fields that differ between runs or machines."""
    entries = json.loads(verdict)
    kept = {name: value for name, value in entries.items() if name not in _UNSTEADY}
    return json.dumps(kept, indent=1) + "\n"


RECORDERS: Mapping[str, Callable[[Mapping[str, Any]], Texts]] = {
    "module": record_module,
    "program": record_program,
    "kernel": record_kernel,
}


def warm_up() -> None:
    """Generate a module twice, and refuse to record where that fails.

    The first module of a process is captured with as many threads as there are processors, all
    others with one. Sums differ by that, so no item is the first.
    """
    with tempfile.TemporaryDirectory(prefix="replay-") as place:
        module = Path(place) / "warm_up.py"
        module.write_text(_WARM_UP, "utf-8")
        for _ in range(2):
            outcome = generate(module, soc=_SOC, tune_s=0)
            if not outcome.verdict.ok:
                sys.exit(f"x + 1 is not verified: {outcome.verdict.error}")


def main(tree: Path, python: str) -> None:
    sys.executable = python  # what sandboxed Python programs are run with
    used = Path(npuforge.__file__ or "").resolve()
    if not used.is_relative_to(tree.resolve() / "src"):
        sys.exit(f"{used} would be recorded instead of {tree}")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the tree prints is progress, and no answer
    warm_up()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = {"texts": RECORDERS[job["kind"]](job)}
        except Exception as error:  # a fault of the tree belongs to what it does
            answer = {"texts": {"fault.txt": f"{type(error).__name__}: {error}\n"}}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
