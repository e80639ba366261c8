# SPDX-License-Identifier: Apache-2.0
"""The host function as tiling fields, schedules and the statements that compute them."""

from __future__ import annotations

from tests.lower.passes.demo import SOC, form, lines, lowered
from tests.lower.passes.schedules import SCHEDULES

from npuforge.lower.compiler import lower
from npuforge.lower.host_code import HostCode
from npuforge.lower.passes import show

HOST = """
def demo_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape), f: tl.attr(float, 2.0)):
    {lines}
    demo_kernel[{cores}](x, y, n)
"""
FILLED = "c = tl.alloc_ub({size}, dtype=tl.float32)\nwith tl.compute():\n    tl.fill(c, 0.0)"


def plan(text: str, size: str = "64", cores: str = "4") -> list[str]:
    """Statements between the shapes of the outputs and the number of blocks."""
    host = HOST.format(lines=text, cores=cores)
    printed = [
        line.removeprefix("    ") for line in form("host", FILLED.format(size=size), "", host)
    ]
    (head,) = (place for place, line in enumerate(printed) if "MakePlan(" in line)
    first = printed.index("int64_t blocks = 1;", head)
    return printed[first + 1 : printed.index("plan.blocks = blocks;")]


def test_scalars_of_the_kernel_become_fields() -> None:
    assert plan("n = x.numel()") == [
        "const int64_t n = ElementCount(xShape);",
        "plan.tiling.n = n;",
        "blocks = 4;",
    ]


def test_a_comment_travels_and_a_condition_is_refused() -> None:
    text = """rows, cols = x.shape
    tl.require(cols > 3, "too narrow")
    # Eight at once.
    n = rows * 8"""
    assert plan(text) == lines("""
        |const int64_t rows = xShape[0];
        |const int64_t cols = xShape[1];
        |if (!(cols > 3)) {
        |    return "too narrow";
        |}
        |// Eight at once.
        |const int64_t n = rows * 8;
        |plan.tiling.n = n;
        |blocks = 4;
    """)


def test_a_number_assigned_in_branches_is_declared_ahead() -> None:
    text = "if f > 1.0:\n        n = 8\n    else:\n        n = 16"
    assert plan(text) == lines("""
        |int64_t n = 0;
        |if (f > 1.0f) {
        |    n = 8;
        |} else {
        |    n = 16;
        |}
        |plan.tiling.n = n;
        |blocks = 4;
    """)


def test_blocks_are_at_least_one() -> None:
    assert plan("n = x.numel()", cores="n")[-1] == "blocks = MaxOf<int64_t>(1, n);"
    assert plan("n = x.numel()", cores="n + 1")[-1] == "blocks = n + 1;"


def test_sizes_that_may_not_fit_are_checked_at_run_time() -> None:
    unknown = plan("n = x.numel()", "n")
    assert unknown[1:5] == lines("""
        |const int64_t cBytes = AlignUp(n * 4, 512);
        |if (cBytes > ubBytes) {
        |    return "the tiles do not fit the unified buffer";
        |}
    """)
    assert unknown[5:] == ["plan.tiling.n = n;", "plan.tiling.cBytes = cBytes;", "blocks = 4;"]
    bounded = plan("n = min(x.numel(), 1024)", "n")
    assert not any("return" in line for line in bounded)


def code() -> HostCode:
    return lower(SCHEDULES, SOC).host


def test_fields_of_several_launches_carry_the_kernel_and_its_cores() -> None:
    assert [item.name for item in code().fields] == [
        "firstKernelN",
        "firstKernelXStreams",
        "firstKernelCores",
        "secondKernelTile",
        "secondKernelABytes",
        "secondKernelCores",
        "secondKernelTile2",
        "secondKernelABytes2",
        "secondKernelWStreams",
        "secondKernelCores2",
        "wOffset",
    ]


def test_a_choice_between_launches_is_a_bit_of_the_key() -> None:
    host = code()
    assert [
        (schedule.key, [phase.code.class_name for phase in schedule.phases])
        for schedule in host.schedules
    ] == [(1, ["FirstKernel", "SecondKernel"]), (0, ["SecondKernel2"])]
    printed = [line.strip() for line in show(SCHEDULES, "host", SOC).splitlines()]
    assert printed[printed.index("if (n > 100) {") + 1] == "key |= 1;"
    alone = lowered(FILLED.format(size="64"), "").host
    assert [(schedule.key, len(schedule.phases)) for schedule in alone.schedules] == [(0, 1)]


def test_a_choice_between_numbers_needs_no_key() -> None:
    text = "n = x.numel()\n    if n > 100:\n        n = 100"
    host = HOST.format(lines=text, cores="4")
    assert len(lowered(FILLED.format(size="64"), "", host).host.schedules) == 1


def test_workspaces_lie_one_after_another_in_whole_512_bytes() -> None:
    printed = [line.strip() for line in show(SCHEDULES, "host", SOC).splitlines()]
    place = printed.index("plan.tiling.wOffset = workspaceBytes;")
    assert printed[place + 1] == "workspaceBytes += AlignUp(4 * n * 2, 512);"


def test_phases_that_wait_for_each_other_fit_the_cores() -> None:
    printed = [line.strip() for line in show(SCHEDULES, "host", SOC).splitlines()]
    place = printed.index("blocks = MaxOf<int64_t>(blocks, 8);")
    assert printed[place + 1 : place + 3] == [
        "if (blocks > coreCount) {",
        'return "more blocks than cores wait for each other";',
    ]
