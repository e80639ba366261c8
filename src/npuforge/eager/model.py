# SPDX-License-Identifier: Apache-2.0
"""The modelled time of eager execution: a sum over kernels of launch, and work or memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npuforge.eager.kernels import Kernel, kernels
from npuforge.eager.parameters import Class, Machine, Parameters
from npuforge.spec.graph import EagerOp

_NEXT_TO_NOTHING = 0.05  # share of the traffic


@dataclass(frozen=True, slots=True)
class Time:
    """Microseconds, split into what every launch costs and what grows with the tensors."""

    launch_us: float
    work_us: float

    @property
    def us(self) -> float:
        return self.launch_us + self.work_us

    def __add__(self, other: Time) -> Time:
        return Time(self.launch_us + other.launch_us, self.work_us + other.work_us)


def modelled(operations: Sequence[EagerOp], parameters: Parameters, machine: Machine) -> Time:
    """The time of a sequence of operations."""
    total = Time(0.0, 0.0)
    for entry in operations:
        for kernel in kernels(entry, parameters, machine.cores):
            one = kernel_time(kernel, parameters, machine)
            total += Time(one.launch_us * entry.count, one.work_us * entry.count)
    return total


def kernel_time(kernel: Kernel, parameters: Parameters, machine: Machine) -> Time:
    """The time of one launch."""
    kind = parameters.classes[kernel.kind]
    memory = memory_us(kernel, parameters, machine)
    rate, step = slowdown(kind, parameters, machine)
    work = kernel.work * kind.ns / 1e3 * rate + kernel.steps * kind.step_us * step
    return Time(kind.launch_us, max(memory, work))


def slowdown(kind: Class, parameters: Parameters, machine: Machine) -> tuple[float, float]:
    """How much longer a unit of work and a step take than where the costs were fitted.

    A core's own work follows its clock; work that is spread follows the number of cores too.
    """
    clock = parameters.fitted_on.mhz / machine.mhz
    spread = 1.0 if kind.unit == "rows" else parameters.fitted_on.cores / machine.cores
    return clock * spread, clock


def memory_us(kernel: Kernel, parameters: Parameters, machine: Machine) -> float:
    """What fits the second-level cache moves at its rate, the rest at the memory's."""
    moved = (kernel.read + kernel.written) * parameters.classes[kernel.kind].passes
    reads_only = kernel.written < _NEXT_TO_NOTHING * kernel.read
    rate = machine.read_gbps if reads_only else machine.hbm_gbps
    cached = min(moved, machine.cache_bytes)
    return (cached / parameters.cache_gbps + (moved - cached) / rate) / 1e3
