# SPDX-License-Identifier: Apache-2.0
"""Loop fusion: neighbouring loops over the same rounds become one where nothing tells."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import lines, statements, typed

from npuforge.lower.fuse import fuse_loops
from npuforge.tile.ir import For

TWO = """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
for u in range(n):
    with tl.compute():
        tl.fill(b, 0.0)
"""


def loops(body: str, buffers: str = "a b") -> list[str]:
    """Counters of the outer loops that the pass leaves."""
    fused = fuse_loops(typed(body, buffers))
    return [statement.counter for statement in fused.body if isinstance(statement, For)]


def test_the_second_body_moves_into_the_first_loop_under_its_own_counter() -> None:
    assert statements("fuse", TWO) == lines("""
        |for t.0 in 0, n, step 1
        |    copyin
        |        load a[0 : +64] from x[t * 64]
        |    u.0 = t
        |    compute
        |        b[0 : +64] = fill 0.0
    """)


def test_a_counter_of_the_same_name_needs_no_assignment() -> None:
    assert statements("fuse", TWO.replace("u in", "t in")) == lines("""
        |for t.0 in 0, n, step 1
        |    copyin
        |        load a[0 : +64] from x[t * 64]
        |    compute
        |        b[0 : +64] = fill 0.0
    """)


def test_three_loops_become_one() -> None:
    third = "for v in range(n):\n    with tl.compute():\n        tl.fill(c, 1.0)\n"
    assert loops(TWO + third, "a b c") == ["t"]


def test_loops_inside_a_loop_fuse_too() -> None:
    inner = "".join(f"    {line}\n" for line in TWO.strip().splitlines())
    (outer,) = fuse_loops(typed("for r in range(8):\n" + inner)).body
    assert isinstance(outer, For)
    assert [s.counter for s in outer.body if isinstance(s, For)] == ["t"]


def test_equal_rounds_need_not_be_written_alike() -> None:
    assert loops("m = n * 2\n" + TWO.replace("t in range(n)", "t in range(n + n)")) == ["t", "u"]
    doubled = TWO.replace("t in range(n)", "t in range(n + n)").replace(
        "u in range(n)", "u in range(m)"
    )
    assert loops("m = n * 2\n" + doubled) == ["t"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("u in range(n)", "u in range(n + 1)"),
        ("u in range(n)", "u in range(1, n)"),
        ("u in range(n)", "u in range(0, n, 2)"),
        ("for u", "m = n\nfor u"),
        ("tl.fill(b, 0.0)", "tl.fill(a, 0.0)"),
    ],
    ids=["other end", "other start", "other step", "a statement between", "one buffer"],
)
def test_other_rounds_and_shared_buffers_keep_loops_apart(old: str, new: str) -> None:
    assert loops(TWO.replace(old, new)) == ["t", "u"]


MOVED = """
with tl.compute():
    tl.fill(a, 0.0)
    tl.fill(b, 0.0)
for t in range(n):
    with tl.{first}():
        tl.{reads}({left} + t * 64, a)
for u in range(n):
    with tl.{second}():
        tl.{then}({right} + u * 64, b)
"""
IN, OUT = ("copyin", "load"), ("copyout", "store")
UPDATED = """
def demo_host(x: tl.inout(tl.float32), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    demo_kernel[4](x, y, n)
"""


@pytest.mark.parametrize(
    ("first", "left", "second", "right", "fuses"),
    [
        (IN, "x", IN, "x", True),
        (IN, "x", OUT, "y", True),
        (OUT, "y", IN, "x", True),
        (OUT, "x", IN, "x", False),
        (IN, "x", OUT, "x", False),
        (OUT, "y", OUT, "y", False),
        (OUT, "x", OUT, "y", True),
    ],
    ids=["read twice", "read, write another", "write, read another", "write, read", "read, write",
         "write twice", "write two"],
)  # fmt: skip
def test_a_tensor_that_is_written_keeps_loops_apart(
    first: tuple[str, str], left: str, second: tuple[str, str], right: str, *, fuses: bool
) -> None:
    body = MOVED.format(
        first=first[0], reads=first[1], left=left, second=second[0], then=second[1], right=right
    )
    fused = fuse_loops(typed(body, host=UPDATED))
    assert sum(isinstance(statement, For) for statement in fused.body) == (1 if fuses else 2)


def test_one_tensor_under_two_parameters_keeps_loops_apart() -> None:
    body = MOVED.format(
        first="copyin", reads="load", left="x", second="copyout", then="store", right="y"
    )
    twice = UPDATED.replace("demo_kernel[4](x, y, n)", "demo_kernel[4](x, x, n)")
    for host, count in ((UPDATED, 1), (twice, 2)):
        fused = fuse_loops(typed(body, host=host))
        assert sum(isinstance(statement, For) for statement in fused.body) == count


SCALARS = """
s = 0
for t in range(n):
    {first}
    with tl.copyin():
        tl.load(x + {place}, a)
for u in range(n):
    {second}
    with tl.compute():
        tl.fill(b, float({value}))
"""


@pytest.mark.parametrize(
    ("first", "place", "second", "value", "fuses"),
    [
        ("k = t * 64", "k", "j = u", "j", True),
        ("k = t * 64", "k", "k = u", "k", True),
        ("s += 64", "s", "j = u", "j", False),
        ("k = t * 64", "k", "s += 1", "s", False),
        ("s = t * 64", "s", "j = u", "s", False),
    ],
    ids=["own scalars", "assigned anew", "first carries", "second carries", "second uses first's"],
)
def test_a_scalar_that_outlives_a_round_keeps_loops_apart(
    first: str, place: str, second: str, value: str, *, fuses: bool
) -> None:
    body = SCALARS.format(first=first, place=place, second=second, value=value)
    assert loops(body) == (["t"] if fuses else ["t", "u"])
