# SPDX-License-Identifier: Apache-2.0
"""A program of a search that runs by itself: with its tiling structure, and a launch file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from npuforge.errors import UsageError
from npuforge.generate.cases import operand_shapes
from npuforge.generate.program import Program
from npuforge.generate.tuning import Trial
from npuforge.generate.written.dialects.kernel import interface_of
from npuforge.generate.written.task import Task
from npuforge.lower.handwritten import WORKSPACE_BYTES, HandwrittenProgram, Interface
from npuforge.lower.kernel_source import parameters
from npuforge.lower.tiling import compute_tiling
from npuforge.twin.sources.operator import SYSTEM_WORKSPACE

_TYPES = {"int64_t": "int64", "float": "float32"}
_INCLUDE = '#include "kernel_operator.h"'
_GET = re.compile(r"\bGET_TILING_DATA\s*\(")


def standing_alone(program: Program | None, code: str, task: Task) -> str:
    """A tile program is that already; a kernel gets the structure that its host would give."""
    if not _is_kernel(code):
        return code
    expected = _interface(program, task)
    name = expected.lowered.host.tiling_struct
    text = _GET.sub(f"GET_TILING_DATA_WITH_STRUCT({name}, ", code)
    return text.replace(_INCLUDE, f"{_INCLUDE}\n\n{expected.structure}", 1)


def launch_of(
    task: Task, trial: Trial, shapes: Sequence[Sequence[int]] | None, expected: Mapping[str, str]
) -> str:
    """A launch file for inputs of these shapes (of the proof's first case without)."""
    inputs = [p for p in task.signature.parameters if p.operand.role != "output"]
    sizes = task.bench.cases[0].options[0]
    known = operand_shapes(task.plan(), task.bench.graph, sizes)
    if shapes is not None and len(shapes) == len(inputs):
        known = {p.operand.name: tuple(s) for p, s in zip(inputs, shapes, strict=True)}
    lines: list[str] = []
    if trial.variant.language == "tile":
        for parameter in inputs:
            lines += ["[[input]]", *_tensor(parameter.operand.name, known, parameter.dtype), ""]
        return "\n".join(lines)
    outputs = [p.operand.name for p in task.signature.parameters if p.operand.role != "input"]
    if missing := [name for name in outputs if name not in expected]:
        raise UsageError(f"nobody says what {missing[0]} should be")
    lowered = _interface(trial.program, task).lowered
    tiling = compute_tiling(lowered, known)
    lines += [f"blocks = {tiling.blocks}", ""]
    seen: set[str] = set()
    for _, tensor in parameters(lowered.host):
        if tensor.name in seen:
            raise UsageError(f"{tensor.name} is updated in place: no launch file says that")
        seen.add(tensor.name)
        where = {tensor.name: tiling.output_shapes.get(tensor.name) or known.get(tensor.name, ())}
        lines += ["[[argument]]", *_tensor(tensor.name, where, tensor.dtype.name)]
        lines += [f'role = "{tensor.role}"', ""] if tensor.role != "in" else [""]
    fields = [[f.name, _TYPES[f.type], tiling.values[f.name]] for f in lowered.host.fields]
    lines += [
        "[[argument]]",
        'kind = "workspace"',
        f"bytes = {WORKSPACE_BYTES + SYSTEM_WORKSPACE}",
        "",
    ]
    lines += ["[[argument]]", 'kind = "tiling"', f"fields = {json.dumps(fields)}", ""]
    lines += ["[expected]", *(f"{name} = {json.dumps(expected[name])}" for name in outputs)]
    return "\n".join([*lines, ""])


def _tensor(name: str, shapes: Mapping[str, Sequence[int]], dtype: str) -> list[str]:
    return [f'name = "{name}"', f"shape = {list(shapes[name])}", f'dtype = "{dtype}"']


def _interface(program: Program | None, task: Task) -> Interface:
    if isinstance(program, HandwrittenProgram):
        return Interface(program.lowered)
    return interface_of(task)


def _is_kernel(code: str) -> bool:
    return "__global__" in code
