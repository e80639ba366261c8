# SPDX-License-Identifier: Apache-2.0
"""Buffers become queues: the kind of each, its copies, and where its tensors are taken."""

from __future__ import annotations

import numpy as np
import pytest
from tests.lower.differential import Differential
from tests.lower.passes.demo import HOST, code, form, lines, process, program, typed

from npuforge.lower.buffers import Kind, plan_buffers

STEPS = """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
        tl.exp(b, a)
    with tl.copyout():
        tl.store(y + t * 64, b)
"""


def kinds(body: str, buffers: str = "a b") -> dict[str, tuple[Kind, int]]:
    plan = plan_buffers(typed(body, buffers))
    return {name: (planned.kind, planned.depth) for name, planned in plan.buffers.items()}


def events(body: str, buffers: str = "a b") -> list[str]:
    """The plan's printed queue operations, without the numbers of lines."""
    printed = form("buffers", body, buffers)
    return [line.split(", ", 1)[1] for line in printed if line.lstrip().startswith("line ")]


def test_a_tile_loaded_and_one_stored_in_a_loop_are_double_queues() -> None:
    assert form("buffers", STEPS) == lines("""
        |kernel demo_kernel
        |    buffer           kind       copies memory of
        |    a                in         2      a
        |    b                out        2      b
        |    line 9, start of copyin: alloc a
        |    line 9, end of copyin: enqueue a
        |    line 11, start of compute: dequeue a, alloc b
        |    line 11, end of compute: free a, enqueue b
        |    line 13, start of copyout: dequeue b
        |    line 13, end of copyout: free b
    """)


def test_outside_of_a_loop_one_copy_is_enough() -> None:
    once = "\n".join(line[4:] for line in STEPS.strip().splitlines()[1:]).replace("t * 64", "64")
    assert kinds(once) == {"a": (Kind.IN, 1), "b": (Kind.OUT, 1)}


def test_the_program_may_ask_for_copies() -> None:
    three = "c = tl.alloc_ub(64, dtype=tl.float32, buffers=3)\n" + STEPS.replace(", a)", ", c)")
    assert kinds(three, "b") == {"b": (Kind.OUT, 2), "c": (Kind.IN, 3)}


def test_a_tile_loaded_before_the_loop_is_held_across_it() -> None:
    held = """
    with tl.copyin():
        tl.load(x, a)
    for t in range(n):
        with tl.compute():
            tl.exp(b, a)
        with tl.copyout():
            tl.store(y + t * 64, b)
    """
    assert kinds(held) == {"a": (Kind.IN, 1), "b": (Kind.OUT, 2)}
    assert events(held)[:4] == [
        "start of copyin: alloc a",
        "end of copyin: enqueue a",
        "before of for t: dequeue a",
        "after of for t: free a",
    ]
    assert code(held).plan.buffers["a"].spread
    assert process(held) == lines("""
        |CopyIn();
        |aLocal = aQueue.DeQue<float>();
        |for (int64_t t = 0; t < n; ++t) {
        |    Compute();
        |    CopyOut(t);
        |}
        |aQueue.FreeTensor(aLocal);
    """)


def test_two_blocks_of_a_phase_share_one_tensor() -> None:
    two = STEPS.replace(
        "    with tl.copyout",
        "    with tl.compute():\n        tl.add(b, b, a)\n    with tl.copyout",
    )
    assert events(two) == [
        "start of copyin: alloc a",
        "end of copyin: enqueue a",
        "start of compute: dequeue a, alloc b",
        "end of compute: free a, enqueue b",
        "start of copyout: dequeue b",
        "end of copyout: free b",
    ]


def test_a_tile_moved_through_is_bound() -> None:
    moved = STEPS.replace("store(y + t * 64, b)", "store(y + t * 64, a)")
    moved = moved.replace("    with tl.compute():\n        tl.exp(b, a)\n", "")
    assert kinds(moved, "a") == {"a": (Kind.BIND, 2)}


def test_a_tile_that_never_moves_is_work() -> None:
    assert kinds("with tl.compute():\n    tl.fill(a, 0.0)", "a") == {"a": (Kind.WORK, 1)}
    assert events("with tl.compute():\n    tl.fill(a, 0.0)", "a") == []


@pytest.mark.parametrize(
    ("compute", "kind"),
    [
        ("tl.exp(b, a)", Kind.OUT),
        ("tl.exp(b, a)\n        tl.add(b, b, a)", Kind.OUT),
        ("tl.add(b, b, a)", Kind.EXCLUSIVE),
        ("if t == 0:\n            tl.exp(b, a)\n        tl.add(b, b, a)", Kind.EXCLUSIVE),
        ("for k in range(1 - t % 2):\n            tl.exp(b, a)", Kind.EXCLUSIVE),
        ("for k in range(1 + t % 2):\n            tl.exp(b, a)", Kind.OUT),
    ],
    ids=[
        "overwritten",
        "overwritten, then changed",
        "changed",
        "overwritten at times",
        "overwritten in a loop that may not run",
        "overwritten in a loop that runs",
    ],
)
def test_a_stored_tile_is_a_queue_if_each_round_overwrites_it(compute: str, kind: Kind) -> None:
    filled = "with tl.compute():\n    tl.fill(b, 0.0)\n" if compute.startswith("tl.add") else ""
    assert kinds(filled + STEPS.replace("tl.exp(b, a)", compute))["b"][0] is kind


SKIPPED = """
for t in range(n):
    for k in range({rounds}):
        with tl.copyin():
            tl.load(x + t * 64, a)
        with tl.compute():
            tl.exp(b, a)
    with tl.copyout():
        tl.store(y + t * 64, b)
"""


@pytest.mark.parametrize(
    ("rounds", "kind"), [("1 - t % 2", Kind.EXCLUSIVE), ("n", Kind.EXCLUSIVE), ("2", Kind.OUT)]
)
def test_a_tile_that_only_a_loop_writes_keeps_its_place_unless_the_loop_runs(
    rounds: str, kind: Kind
) -> None:
    assert kinds(SKIPPED.format(rounds=rounds))["b"][0] is kind


@pytest.mark.parametrize("body", ["blocks in the loop", "loop in the block"])
def test_a_tile_stored_after_a_loop_that_did_not_run_has_its_earlier_contents(body: str) -> None:
    skipped = SKIPPED.format(rounds="1 - t % 2")
    if body == "loop in the block":
        skipped = STEPS.replace(
            "tl.exp(b, a)", "for k in range(1 - t % 2):\n            tl.exp(b, a)"
        )
    host = HOST.replace("x.numel()", "x.numel() // 64").replace("[4]", "[1]")
    values = np.linspace(0, 1, 64 * 7, dtype=np.float32)
    found = Differential(program(skipped, host=host)).agree({"x": values})["y"].values()
    np.testing.assert_array_equal(found[64:128], found[:64])


REPEATED = """
{before}
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    {between}
    with tl.compute():
        tl.exp(b, a)
        {after}
"""
LOAD = "with tl.copyin(): tl.load(x, a)"


@pytest.mark.parametrize(
    ("before", "between", "after", "kind"),
    [
        ("", "", "tl.add(b, b, a)", Kind.IN),
        ("", "", "tl.exp(a, b)", Kind.IN),
        ("", LOAD, "", Kind.IN),
        ("", "if n > 8:\n        " + LOAD, "", Kind.EXCLUSIVE),
        (LOAD, "", "", Kind.EXCLUSIVE),
    ],
    ids=["read twice", "changed", "two loads", "a load under a condition", "loaded outside too"],
)
def test_a_loaded_tile_is_a_queue_while_loads_and_uses_alternate(
    before: str, between: str, after: str, kind: Kind
) -> None:
    body = REPEATED.format(before=before, between=between, after=after)
    assert kinds(body)["a"][0] is kind


def test_a_tile_changed_between_load_and_store_is_exclusive_and_pipes_take_turns() -> None:
    changed = STEPS.replace("tl.exp(b, a)", "tl.exp(a, a)").replace(", b)", ", a)")
    assert kinds(changed, "a") == {"a": (Kind.EXCLUSIVE, 1)}
    assert events(changed, "a") == []


AGAIN = """
c = tl.alloc_ub({size}, dtype=tl.float32)
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 8, c[{start} : {start} + 8])
with tl.compute():
    tl.exp(a[:8], c[:8])
"""


@pytest.mark.parametrize(
    ("start", "kind"), [("0", Kind.EXCLUSIVE), ("t * 8", Kind.IN), ("n * 8", Kind.EXCLUSIVE)]
)
def test_loads_of_one_generation_go_to_different_places(start: str, kind: Kind) -> None:
    assert kinds(AGAIN.format(size="n * 8 + 8", start=start), "a")["c"][0] is kind


def test_queues_have_eight_events_and_the_last_ones_stay_single() -> None:
    names = "abcde"
    loads = "".join(f"        tl.load(x + t * 64, {name})\n" for name in names)
    uses = "".join(f"        tl.exp(o, {name})\n" for name in names)
    body = f"for t in range(n):\n    with tl.copyin():\n{loads}    with tl.compute():\n{uses}"
    four = body.replace("        tl.load(x + t * 64, e)\n", "").replace(
        "        tl.exp(o, e)\n", ""
    )
    assert [kinds(four, "o a b c d")[name][1] for name in "abcd"] == [2, 2, 2, 2]
    assert [kinds(body, "o a b c d e")[name][1] for name in names] == [2, 2, 2, 1, 1]
