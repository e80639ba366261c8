# SPDX-License-Identifier: Apache-2.0
"""The passes before lowering: normal form, types with versions, and checks."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import form, lines, statements

from npuforge.tile.source import TileError

BODY = """
# The next line is in no normal form.
k = (n+1)*2   # rounds
for t in range(k):
    with tl.copyin(): tl.load(x + t*64, a)
"""


def test_parsing_leaves_the_normal_form_without_comments() -> None:
    printed = form("parse", BODY, "a")
    assert printed[printed.index("@ascend_kernel") + 1 :][:6] == lines("""
        |def demo_kernel(x, y, n):
        |    a = tl.alloc_ub(64, dtype=tl.float32)
        |    k = (n + 1) * 2
        |    for t in range(k):
        |        with tl.copyin():
        |            tl.load(x + t * 64, a)
    """)


def test_typing_gives_parameters_types_and_views_extents() -> None:
    assert form("types", "with tl.copyin():\n    tl.load(x + n, a[8:n])", "a") == lines("""
        |host demo
        |    x: in float32 any shape
        |    y: out float32 shape of x
        |
        |kernel demo_kernel on 4 cores
        |    x: in float32 x
        |    y: out float32 y
        |    n: int = n
        |    a: buffer float32 (64)
        |    copyin
        |        load a[8 : +n - 8] from x[n]
    """)


def test_typing_gives_each_assignment_a_version() -> None:
    body = "k = 1\nk = k + n\nwith tl.compute():\n    tl.fill(a, float(k))"
    assert statements("types", body, "a")[:2] == ["k.0 = 1", "k.1 = k + n"]


def test_checking_counts_what_it_has_seen() -> None:
    assert form("check", BODY, "a") == [
        "demo_kernel: 1 buffers, 1 loads, 0 operations, 0 stores: no finding"
    ]


TILE = "with tl.compute():\n    tl.fill({filled}, 0.0)\n    tl.{operation}"


@pytest.mark.parametrize(
    ("filled", "operation", "rules"),
    [
        ("a", "exp(b[8:16], a[8:16])", []),
        ("a", "exp(b[8:16], a[4:12])", ["TL-11"]),
        ("a", "exp(a, a)", []),
        ("a", "exp(a[8:24], a[0:16])", ["TL-12"]),
        ("a", "exp(a[16:32], a[0:16])", []),
        ("a", "reverse(a, a)", ["TL-12"]),
        ("b", "exp(b, a)", ["TL-13"]),
    ],
    ids=["aligned", "not aligned", "in place", "overlap", "apart", "not in place", "undefined"],
)
def test_each_rule_of_the_checks_has_two_sides(
    filled: str, operation: str, rules: list[str]
) -> None:
    body = TILE.format(filled=filled, operation=operation)
    if rules:
        with pytest.raises(TileError) as caught:
            form("check", body)
        assert [finding.rule for finding in caught.value.findings] == rules
    else:
        assert form("check", body)[0].endswith("no finding")
