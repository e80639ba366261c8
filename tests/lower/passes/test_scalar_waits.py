# SPDX-License-Identifier: Apache-2.0
"""The scalar unit waits for the vector unit once, as early as the tile is settled."""

from __future__ import annotations

from textwrap import dedent

import pytest
from tests.lower.passes.demo import code, lines, typed

from npuforge.lower.passes import statement_text
from npuforge.lower.scalar_waits import waits_before
from npuforge.tile.ir import walk

FILLED = "with tl.compute():\n    tl.fill(a, 1.0)\n"


def waits(body: str) -> list[str]:
    """Statements that a wait stands in front of, as the printed form has them."""
    kernel = typed(body)
    waiting = waits_before(kernel)
    return [
        f"{statement.span.line}: {statement_text(statement)}"
        for statement in walk(kernel.body)
        if id(statement) in waiting
    ]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("with tl.compute():\n    s = tl.extract_scalar(a, 0)\n", "10: compute"),
        (
            "for t in range(n):\n    with tl.compute():\n        s = tl.extract_scalar(a, t)\n",
            "10: for t",
        ),
        (
            "for r in range(n):\n    for t in range(n):\n        with tl.compute():\n"
            "            s = tl.extract_scalar(a, t)\n",
            "10: for r",
        ),
        (
            "if n > 8:\n    with tl.compute():\n        s = tl.extract_scalar(a, 0)\n",
            "10: if n > 8",
        ),
    ],
    ids=["block", "loop", "two loops", "condition"],
)
def test_a_tile_that_stays_is_waited_for_in_front_of_the_outermost(body: str, place: str) -> None:
    assert waits(FILLED + body) == [place]


def test_a_tile_changed_in_the_block_is_waited_for_at_the_reading() -> None:
    changed = FILLED + "    tl.exp(a, a)\n    s = tl.extract_scalar(a, 0)\n"
    assert waits(changed) == ["11: s.0: float = element a[0]"]


def test_a_tile_changed_in_the_loop_is_waited_for_inside_of_it() -> None:
    loop = "for t in range(n):\n    with tl.compute():\n        tl.{op}\n"
    read = "    with tl.compute():\n        s = tl.extract_scalar(a, 0)\n"
    assert waits(FILLED + loop.format(op="exp(a, a)") + read) == ["13: compute"]
    assert waits(FILLED + loop.format(op="exp(b, a)") + read) == ["10: for t"]


def test_a_load_into_the_tile_counts_as_a_change() -> None:
    body = """
    for t in range(n):
        with tl.copyin():
            tl.load(x + t * 64, {tile})
        with tl.compute():
            s = tl.extract_scalar(a, 0)
    """
    assert waits(body.format(tile="a")) == ["11: compute"]
    assert waits(FILLED + dedent(body.format(tile="b")).lstrip()) == ["10: for t"]


def test_two_readings_of_a_settled_tile_share_a_wait() -> None:
    two = "with tl.compute():\n    s = tl.extract_scalar(a, 0)\n    r = tl.extract_scalar(a, 1)\n"
    assert waits(FILLED + two) == ["10: compute"]
    between = two.replace("    r =", "    tl.exp(a, a)\n    r =")
    assert waits(FILLED + between) == [
        "11: s.0: float = element a[0]",
        "13: r.0: float = element a[1]",
    ]


def test_the_wait_is_emitted_in_front_of_the_loop() -> None:
    body = FILLED + (
        "for t in range(n):\n    with tl.compute():\n        tl.fill(b, tl.extract_scalar(a, t))\n"
    ).replace(
        "tl.fill(b, tl.extract_scalar(a, t))", "s = tl.extract_scalar(a, t)\n        tl.fill(b, s)"
    )
    assert code(body).body.process == lines("""
        |Compute0();
        |WaitFor<HardEvent::V_S>();
        |for (int64_t t = 0; t < n; ++t) {
        |    Compute1(t);
        |}
    """)
    assert code(body).uses_wait
