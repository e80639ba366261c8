# SPDX-License-Identifier: Apache-2.0
"""The device source: definitions once, and an entry that runs the schedule of the key."""

from __future__ import annotations

from tests.lower.passes.demo import HOST, SOC, lines, lowered
from tests.lower.passes.schedules import SCHEDULES

from npuforge.lower.compiler import lower
from npuforge.lower.kernel_source import (
    EntryStyle,
    definitions,
    entry_body,
    parameters,
    task_type,
)

STYLE = EntryStyle(field=lambda item: f"t.{item.name}", workspace="ws")
FILLED = "with tl.compute():\n    tl.{operation}"


def test_one_launch_is_three_statements() -> None:
    host = lowered(FILLED.format(operation="fill(a, 0.0)"), "a").host
    assert entry_body(host, STYLE) == lines("""
        |TPipe pipe;
        |DemoKernel op;
        |op.Init(x, y, t.n, &pipe);
        |op.Process();
    """)
    assert task_type(host) == "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"


def test_phases_wait_for_each_other_and_keys_choose_between_schedules() -> None:
    host = lower(SCHEDULES, SOC).host
    assert entry_body(host, STYLE) == lines("""
        |TPipe pipe;
        |if (TILING_KEY_IS(1)) {
        |    if (static_cast<int64_t>(GetBlockIdx()) < t.firstKernelCores) {
        |        FirstKernel phase0;
        |        phase0.Init(x, ws + t.wOffset, t.firstKernelN, t.firstKernelXStreams, &pipe);
        |        phase0.Process();
        |    }
        |    PipeBarrier<PIPE_ALL>();
        |    SyncAll();  // the next phase reads what other cores wrote
        |    pipe.Reset();
        |    if (static_cast<int64_t>(GetBlockIdx()) < t.secondKernelCores) {
        |        SecondKernel phase1;
        |        phase1.Init(ws + t.wOffset, y, t.secondKernelTile, t.secondKernelABytes, t.secondKernelCores, &pipe);
        |        phase1.Process();
        |    }
        |} else if (TILING_KEY_IS(0)) {
        |    if (static_cast<int64_t>(GetBlockIdx()) < t.secondKernelCores2) {
        |        SecondKernel2 op;
        |        op.Init(x, y, t.secondKernelTile2, t.secondKernelABytes2, t.secondKernelWStreams, t.secondKernelCores2, &pipe);
        |        op.Process();
        |    }
        |}
    """)  # fmt: skip  # noqa: E501
    assert task_type(host) == "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);"


def test_a_format_that_launches_more_blocks_stops_the_rest() -> None:
    host = lowered(
        "p = tl.num_programs(0)\n" + FILLED.format(operation="fill(a, float(p))"), "a"
    ).host
    assert entry_body(host, STYLE)[2] == (
        "op.Init(x, y, t.n, static_cast<int64_t>(GetBlockNum()), &pipe);"
    )
    style = EntryStyle(field=STYLE.field, workspace="ws", blocks="t.blocks")
    assert entry_body(host, style)[1:4] == lines("""
        |if (static_cast<int64_t>(GetBlockIdx()) < t.blocks) {
        |    DemoKernel op;
        |    op.Init(x, y, t.n, t.blocks, &pipe);
    """)


def defined(operation: str) -> list[str]:
    """Names of the functions and classes above the entry."""
    body = FILLED.format(operation="fill(a, 0.0)\n    tl." + operation)
    written = definitions(lowered(body).host)
    heads = [line for line in written if not line.startswith((" ", "/", "}", "{"))]
    return [
        word
        for line in heads
        for word in ("MinOf", "WaitFor", "CopyTile", "Fp32Sin", "class DemoKernel")
        if word + "(" in line or line == f"{word} {{"
    ]


def test_only_what_is_used_is_defined_once_and_before_its_use() -> None:
    assert defined("exp(b, a)") == ["class DemoKernel"]
    assert defined("copy(b, a)\n    tl.copy(a, b)") == ["CopyTile", "class DemoKernel"]
    assert defined("insert_scalar(b, min(n, 3), 1.0)") == ["MinOf", "WaitFor", "class DemoKernel"]


def test_a_tensor_updated_in_place_is_two_parameters() -> None:
    body = FILLED.format(operation="fill(a, 0.0)")
    updated = HOST.replace("tl.input", "tl.inout")
    assert [name for name, _ in parameters(lowered(body, "a").host)] == ["x", "y"]
    assert [name for name, _ in parameters(lowered(body, "a", updated).host)] == ["x", "xRef", "y"]
