# SPDX-License-Identifier: Apache-2.0
"""Makes `src/npuforge/eager/measured.csv` from published figures and checkouts of the suites.

    python benchmarks/calibration/eager_rows.py --figures FIGURES.csv --tasks TASKS.csv \
        --references FOLDER

FIGURES has the columns source, kernel, params, metric, value and notes; TASKS maps
MultiKernelBench's tasks to KernelBench's (task, category, kernelbench_v0_task). FOLDER holds
MultiKernelBench's references at the shapes of KernelBench v0 (its commit d19e390). The references
run in this process, on tensors without data: use checkouts you trust.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import torch
from eager_cann import CALLS
from torch.nn import functional

from npuforge.eager.kernels import base_name
from npuforge.eager.parameters import load
from npuforge.eager.table import Row, write
from npuforge.spec import capture_worker
from npuforge.spec.graph import EagerOp

_TARGET = Path(__file__).parents[2] / "src/npuforge/eager/measured.csv"
_KERNELBENCH = "cann-bench/bench_lab/stanford_bench"
_CANNBENCH = "tasks/metadata/910b2.json"
_MODELLED = {"float16", "bfloat16", "float32", "int32"}  # others take paths of their own
_FUSED = "AutomaticBufferFusionOp"  # a compiler was at work: not what eager PyTorch does
_MOST_OPERATIONS = 40  # whole networks are looked up by name and shapes only


def recorded(call: Any, *arguments: Any) -> tuple[EagerOp, ...]:
    """The operations of a call, without those that are free."""
    log = capture_worker.Dispatched()
    with torch.no_grad(), log:
        call(*arguments)
    operations = msgspec.convert(log.operations, list[EagerOp])
    return tuple(entry for entry in operations if base_name(entry.op) not in load().free)


def kernelbench(figures: list[dict[str, str]], tasks: Path, references: Path) -> Iterator[Row]:
    measured = {
        row["kernel"].removeprefix("KernelBench "): float(row["value"])
        for row in figures
        if row["source"] == _KERNELBENCH
    }
    with tasks.open(newline="") as file:
        for task in csv.DictReader(file):
            name = task["kernelbench_v0_task"]
            if name not in measured:
                continue
            file_of_task = references / task["category"] / f"{task['task']}.py"
            module = capture_worker.load(str(file_of_task))
            with torch.device("meta"):
                inputs = list(module.get_inputs())
            tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
            try:
                model, inputs = capture_worker.example(module, "meta")
                operations = recorded(model, *inputs)
            except RuntimeError as error:  # a branch on data
                print(f"{name}: operations not recorded: {error}", file=sys.stderr)
                operations = ()
            yield Row(
                suite="kernelbench",
                name=name,
                alias=task["task"],
                machine="atlas-a2",
                shapes=tuple(tuple(value.shape) for value in tensors),
                dtypes=tuple(str(value.dtype).removeprefix("torch.") for value in tensors),
                us=measured[name],
                operations=operations if len(operations) <= _MOST_OPERATIONS else (),
            )


def cannbench(figures: list[dict[str, str]]) -> Iterator[Row]:
    for row in figures:
        if not row["source"].endswith(_CANNBENCH):
            continue
        parts = re.fullmatch(r"shape=(.*) dtype=(.*) attrs=(.*)", row["params"])
        if parts is None:
            print(f"{row['kernel']}: not understood: {row['params']}", file=sys.stderr)
            continue
        shapes, dtypes = json.loads(parts[1]), json.loads(parts[2])
        flat, types = list(flattened(shapes, dtypes)), []
        if flat:
            shapes, types = zip(*flat, strict=True)
        yield Row(
            suite="cannbench",
            name=row["kernel"],
            alias="",
            machine="910b2",
            shapes=tuple(map(tuple, shapes)),
            dtypes=tuple(types),
            us=float(row["value"]),
            operations=()
            if _FUSED in row["notes"]
            else called(row["kernel"], list(shapes), list(types), parts[3]),
        )


def flattened(shapes: list[Any], dtypes: list[Any]) -> Iterator[tuple[list[int], str]]:
    """Lists of tensors spread out; arguments that were not given left out."""
    for place, shape in enumerate(shapes):
        dtype = dtypes[place] if place < len(dtypes) else dtypes[-1]
        if shape is None or dtype is None:
            continue
        if shape and isinstance(shape[0], list):
            each = dtype if isinstance(dtype, list) else [dtype] * len(shape)
            yield from zip(shape, each, strict=True)
        else:
            yield shape, dtype


def called(name: str, shapes: list[Any], dtypes: list[str], attributes: str) -> tuple[EagerOp, ...]:
    call = CALLS.get(name)
    if call is None or not set(dtypes[:1]) <= _MODELLED:
        return ()
    tensors = [
        torch.empty(shape, dtype=getattr(torch, dtype), device="meta")
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    try:
        return recorded(lambda: call(functional, tensors, json.loads(attributes)))
    except (RuntimeError, NotImplementedError, IndexError, TypeError, ValueError) as error:
        print(f"{name} {shapes}: not recorded: {str(error)[:80]}", file=sys.stderr)
        return ()


def main() -> None:
    options = ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--figures", type=Path, required=True)
    options.add_argument("--tasks", type=Path, required=True)
    options.add_argument("--references", type=Path, required=True)
    options.add_argument("--out", type=Path, default=_TARGET)
    given = options.parse_args()
    with given.figures.open(newline="") as file:
        figures = [row for row in csv.DictReader(file) if row["metric"] == "task_duration_us"]
    table = [*kernelbench(figures, given.tasks, given.references), *cannbench(figures)]
    write(given.out, table)
    known = sum(bool(row.operations) for row in table)
    print(f"{len(table)} rows, operations recorded for {known}")


if __name__ == "__main__":
    main()
