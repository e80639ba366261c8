# SPDX-License-Identifier: Apache-2.0
"""How long eager PyTorch takes for a captured module on the chip, and how that is known.

* `measured`: the very operations were measured at these shapes, and the model sees no difference
  between the machine they were measured on and the chip.
* `scaled`: the same sequence of operations was measured at other shapes, or on a machine with other
  memory; the measurement is carried over by the model.
* `modelled`: nothing of the kind was measured.

A measurement tells about the part of the time that dominates it. One of two microseconds is mostly
launch and says little about the rate at which gigabytes stream, so the factor between measurement
and model applies to the launches in full and to the work as far as the measured time was work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from npuforge.eager.kernels import base_name, kernels, size
from npuforge.eager.model import Time, modelled
from npuforge.eager.parameters import Machine, Parameters, load
from npuforge.eager.table import Row, measured, rows
from npuforge.soc import load_soc
from npuforge.spec.graph import EagerOp, Graph
from npuforge.verdict import Verdict

_SAME = 0.15  # machines that the model tells apart by less are one: it errs by more itself


@dataclass(frozen=True, slots=True)
class Baseline:
    """Microseconds of device time in eager PyTorch; `detail` says in words where they are from."""

    us: float
    source: Literal["measured", "scaled", "modelled"]
    detail: str


def baseline(graph: Graph, soc: str = "910b2") -> Baseline | None:
    """Eager PyTorch's time for the graph's example shapes; None where there is no telling."""
    parameters = load()
    machine = parameters.machines.get(load_soc(soc).soc)
    if machine is None:
        return None
    operations = [op for op in graph.eager if base_name(op.op) not in parameters.free]
    inputs = [source.type for source in graph.sources if source.origin == "input"]
    if not operations:
        us = measured(graph.name, [t.shape for t in inputs], [t.dtype for t in inputs])
        return None if us is None else Baseline(us, "measured", f"{graph.name} at these shapes")
    here = modelled(operations, parameters, machine)
    nearest = _nearest(operations, parameters, machine)
    if nearest is None:
        return Baseline(here.us, "modelled", _described(operations, parameters))
    return _from(nearest, operations, here, parameters)


def compared(verdict: Verdict, known: Baseline | None) -> Verdict:
    """The verdict with the baseline in it, and the speed-up over it where there is a time."""
    if known is None:
        return verdict
    speedup = known.us / verdict.time_us if verdict.time_us else None
    return replace(verdict, baseline_us=known.us, baseline_source=known.source, speedup=speedup)


def _from(row: Row, operations: Sequence[EagerOp], here: Time, parameters: Parameters) -> Baseline:
    there = modelled(row.operations, parameters, parameters.machines[row.machine])
    where = f"{row.suite} {row.name}, {row.us:g} us"
    if list(row.operations) == operations and abs(here.us / there.us - 1.0) < _SAME:
        return Baseline(row.us, "measured", f"{where} at these shapes")
    factor = row.us / there.us
    share = there.work_us / there.us
    us = here.launch_us * factor + here.work_us * factor**share
    shapes = " ".join("x".join(map(str, shape)) for shape in row.shapes)
    return Baseline(us, "scaled", f"from {where} at {shapes}")


def _nearest(operations: Sequence[EagerOp], parameters: Parameters, machine: Machine) -> Row | None:
    """The measurement of the same operations whose tensors are closest in size."""
    wanted = _signature(operations, parameters, machine)
    moved = _bytes(operations)
    alike = [row for row in rows() if _signature(row.operations, parameters, machine) == wanted]
    return min(
        alike,
        key=lambda row: (
            list(row.operations) != operations,
            abs(math.log(_bytes(row.operations) / moved)),
            parameters.machines[row.machine] != machine,
        ),
        default=None,
    )


def _signature(
    operations: Sequence[EagerOp], parameters: Parameters, machine: Machine
) -> list[tuple[object, ...]]:
    """What must agree for one measurement to stand for another: kernels and types, not shapes."""
    return [
        (
            base_name(entry.op),
            entry.count,
            tuple(kernel.kind for kernel in kernels(entry, parameters, machine.cores)),
            tuple(tensor.dtype for tensor in entry.inputs),
        )
        for entry in operations
    ]


def _bytes(operations: Sequence[EagerOp]) -> int:
    tensors = [t for entry in operations for t in (*entry.inputs, *entry.outputs)]
    return max(1, sum(map(size, tensors)))


def _described(operations: Sequence[EagerOp], parameters: Parameters) -> str:
    count = sum(entry.count for entry in operations)
    unknown = sorted({n for e in operations if not parameters.known(n := base_name(e.op))})
    text = f"{count} operation{'s' if count != 1 else ''}"
    return f"{text}, of unknown kind: {', '.join(unknown)}" if unknown else text
