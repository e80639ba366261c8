# SPDX-License-Identifier: Apache-2.0
"""The modelled time of eager execution: a sum over kernels of launch, and work or memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npuforge.eager.kernels import Kernel, kernels
from npuforge.eager.parameters import Machine, Parameters
from npuforge.spec.graph import EagerOp


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
    memory = memory_us(kernel.bytes * kind.passes, parameters, machine)
    work = kernel.work * kind.ns / 1e3 + kernel.steps * kind.step_us
    return Time(kind.launch_us, max(memory, work))


def memory_us(moved: float, parameters: Parameters, machine: Machine) -> float:
    """What fits the second-level cache moves at its rate, the rest at the memory's."""
    cached = min(moved, parameters.cache_bytes)
    return (cached / parameters.cache_gbps + (moved - cached) / machine.hbm_gbps) / 1e3
