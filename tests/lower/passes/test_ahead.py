# SPDX-License-Identifier: Apache-2.0
"""Loads of the next round are issued before the computation of this one, where that is legal."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import function, lines, process, typed

from npuforge.lower.ahead import runs_ahead
from npuforge.lower.buffers import plan_buffers
from npuforge.tile.ir import For

STEPS = """
for t in range(n):
    k = t * 64
    with tl.copyin():
        tl.load(x + k, a)
    with tl.compute():
        tl.exp(b, a)
    with tl.copyout():
        tl.store(y + k, b)
"""


def ahead(body: str, host: str | None = None) -> bool:
    """Whether the last loop of the kernel runs ahead."""
    kernel = typed(body) if host is None else typed(body, host=host)
    *_, loop = (statement for statement in kernel.body if isinstance(statement, For))
    return runs_ahead(loop, kernel, plan_buffers(kernel))


def test_the_first_round_is_fetched_before_the_loop_and_each_fetches_the_next() -> None:
    assert ahead(STEPS)
    assert process(STEPS) == lines("""
        |// Loads run one round ahead of the computation.
        |const int64_t end = n;
        |if (0 < end) {
        |    Fetch(0);
        |}
        |for (int64_t t = 0; t < end; ++t) {
        |    if (t + 1 < end) {
        |        Fetch(t + 1);
        |    }
        |    const int64_t k = t * 64;
        |    Compute();
        |    CopyOut(k);
        |}
    """)
    assert function("Fetch", STEPS) == lines("""
        |const int64_t k = t * 64;
        |CopyIn(k);
    """)


def test_a_step_and_a_scalar_from_around_travel_along() -> None:
    body = "for r in range(4):\n" + "".join(
        f"    {line}\n"
        for line in STEPS.replace("range(n)", "range(r, n, 3)")
        .replace("k = t * 64", "k = t * 64 + r")
        .strip()
        .splitlines()
    )
    assert process(body)[1:10] == lines("""
        |    // Loads run one round ahead of the computation.
        |    const int64_t end = n;
        |    if (r < end) {
        |        Fetch(r, r);
        |    }
        |    for (int64_t t = r; t < end; t += 3) {
        |        if (t + 3 < end) {
        |            Fetch(t + 3, r);
        |        }
    """)


def test_a_counter_inside_the_block_is_no_argument_of_fetch() -> None:
    pieces = "for k in range(8):\n            tl.load(x + t * 64 + k * 8, a[k * 8 : k * 8 + 8])"
    body = STEPS.replace("    k = t * 64\n", "").replace("tl.load(x + k, a)", pieces)
    body = body.replace("y + k", "y + t * 64")
    assert "    Fetch(0);" in process(body)
    assert function("Fetch", body) == ["CopyIn(t);"]


LOOP = """
for t in range(n):
{head}
    with tl.compute():
        tl.exp(b, a)
    with tl.copyout():
        tl.store(y + t * 64, b)
"""


def test_a_loop_that_does_not_run_ahead_is_emitted_as_written() -> None:
    body = LOOP.format(head="    if n > 8:\n        with tl.copyin():\n            tl.load(x, a)")
    assert process(body) == lines("""
        |for (int64_t t = 0; t < n; ++t) {
        |    if (n > 8) {
        |        CopyIn();
        |    }
        |    Compute();
        |    CopyOut(t);
        |}
    """)


@pytest.mark.parametrize(
    ("head", "legal"),
    [
        ("    with tl.copyin():\n        tl.load(x + t * 64, a)", True),
        ("    k = t * 64\n    j = k + n\n    with tl.copyin():\n        tl.load(x + j, a)", True),
        ("    if n > 8:\n        with tl.copyin():\n            tl.load(x, a)", False),
        ("    with tl.copyin():\n        tl.load(x, a)\n        s = tl.load_scalar(x)", False),
        ("    with tl.copyin():\n        k = t * 64\n        tl.load(x + k, a)", False),
    ],
    ids=["block first", "scalars first", "condition first", "element read", "scalar inside"],
)
def test_head_is_scalars_and_a_block_of_loads(head: str, *, legal: bool) -> None:
    assert ahead(LOOP.format(head=head)) is legal


def test_head_alone_has_nothing_to_run_ahead_of() -> None:
    alone = "for t in range(n):\n    with tl.copyin():\n        tl.load(x + t * 64, a)\n"
    assert not ahead(alone + "with tl.compute():\n    tl.exp(b, a)")


LOAD = "    with tl.copyin():\n        tl.load(x + t * 64, {tile})"


@pytest.mark.parametrize(
    ("copies", "rest", "legal"),
    [
        (2, "tl.fill(b, 0.0)", True),
        (1, "tl.fill(b, 0.0)", False),
        (2, "tl.exp(c, c)", True),
    ],
    ids=["two copies", "one copy", "changed in place"],
)
def test_queues_have_two_copies(copies: int, rest: str, *, legal: bool) -> None:
    allocated = f"c = tl.alloc_ub(64, dtype=tl.float32, buffers={copies})"
    body = LOOP.format(head=LOAD.format(tile="c")).replace(
        "tl.exp(b, a)", f"tl.exp(b, c)\n        {rest}"
    )
    assert ahead(f"{allocated}\n{body.strip()}") is legal


def test_queues_are_loaded_at_one_place() -> None:
    again = LOAD.format(tile="a") + "\n    with tl.compute():\n        tl.exp(b, a)\n"
    body = LOOP.format(head=LOAD.format(tile="a"))
    assert ahead(body)
    assert not ahead(body.replace("    with tl.copyout", again + "    with tl.copyout"))


def test_a_tile_without_a_queue_does_not_run_ahead() -> None:
    body = LOOP.format(head=LOAD.format(tile="b")).replace("tl.exp(b, a)", "tl.exp(b, b)")
    assert not ahead(body)


@pytest.mark.parametrize(
    ("head", "legal"),
    [
        ("    k = t * 64", True),
        ("    k = t * 64\n    k = k + 64", False),
        ("    k += 64", False),
    ],
    ids=["assigned once", "assigned twice", "carried"],
)
def test_scalars_depend_on_nothing_that_other_rounds_change(head: str, *, legal: bool) -> None:
    load = "    with tl.copyin():\n        tl.load(x + k, a)"
    body = LOOP.format(head=f"{head}\n{load}").strip()
    assert ahead(f"k = n\n{body}" if "+=" in head else body) is legal


UPDATED = """
def demo_host(x: tl.inout(tl.float32), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    demo_kernel[4](x, y, n)
"""


def test_tensors_that_the_kernel_stores_to_are_not_loaded_early() -> None:
    body = LOOP.format(head=LOAD.format(tile="a"))
    assert ahead(body, UPDATED)
    assert not ahead(body.replace("store(y", "store(x"), UPDATED)
    twice = UPDATED.replace("demo_kernel[4](x, y, n)", "demo_kernel[4](x, x, n)")
    assert not ahead(body, twice)
