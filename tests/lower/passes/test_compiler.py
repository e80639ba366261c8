# SPDX-License-Identifier: Apache-2.0
"""The passes in order: capacity, names of classes, and a program under another name."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import SOC, lowered
from tests.lower.passes.schedules import SCHEDULES

from npuforge.lower.compiler import lower, renamed
from npuforge.tile.source import TileError

MOVED = """
a = tl.alloc_ub({size}, dtype=tl.float32)
with tl.copyin():
    tl.load(x, a)
with tl.copyout():
    tl.store(y, a)
"""


def test_buffers_that_can_never_fit_are_refused_with_their_sizes() -> None:
    with pytest.raises(TileError) as caught:
        lowered(MOVED.format(size=60000), "")
    (finding,) = caught.value.findings
    assert finding.rule == "TL-10"
    assert finding.message == "'demo_kernel' takes at least 240128 bytes of 188160: a 1 x 240128"


@pytest.mark.parametrize("size", ["40000", "n"], ids=["fit", "are unknown"])
def test_buffers_that_may_fit_are_left_to_the_host(size: str) -> None:
    (kernel,) = lowered(MOVED.format(size=size), "").kernels
    assert [slot.name for slot in kernel.slots] == ["a"]


def test_each_launch_has_a_class_of_its_own() -> None:
    program = lower(SCHEDULES, SOC)
    names = ["FirstKernel", "SecondKernel", "SecondKernel2"]
    assert [kernel.class_name for kernel in program.kernels] == names


@pytest.mark.parametrize(
    ("kernel", "name"),
    [("work", "WorkKernel"), ("kernel", "KernelKernel"), ("a_kernel", "AKernel")],
)
def test_a_class_ends_in_kernel(kernel: str, name: str) -> None:
    text = SCHEDULES.replace("first_kernel", kernel)
    assert lower(text, SOC).kernels[0].class_name == name


def test_a_program_under_another_name_keeps_its_kernels() -> None:
    program = lower(SCHEDULES, SOC)
    other = renamed(program, "other")
    assert (program.program.name, other.program.name) == ("demo", "other")
    assert other.host.tiling_struct == "OtherTilingData"
    assert other.kernels is program.kernels
