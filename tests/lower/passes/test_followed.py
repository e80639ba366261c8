# SPDX-License-Identifier: Apache-2.0
"""Kernels whose loops, branches or addresses follow from elements of tensors."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import typed

from npuforge.lower.followed import follows_values

READ = """
with tl.copyin():
    tl.load(x, a)
    s = tl.load_scalar(x)
with tl.compute():
    e = tl.extract_scalar(a, 3)
{rest}
"""


@pytest.mark.parametrize(
    "rest",
    [
        "for t in range(int(s)):\n    with tl.compute():\n        tl.fill(b, 0.0)",
        "for t in range(int(e), 8):\n    with tl.compute():\n        tl.fill(b, 0.0)",
        "if s > 0.0:\n    with tl.compute():\n        tl.fill(b, 0.0)",
        "with tl.copyin():\n    tl.load(x + int(s) * 8, b)",
        "with tl.copyout():\n    tl.store(y + int(e) * 8, a)",
        "with tl.copyin():\n    r = tl.load_scalar(x + int(s))",
        "k = 2 * int(s)\nwith tl.copyin():\n    tl.load(x + k, b)",
        "k = int(s)\nj = k + 1\nif j > n:\n    with tl.compute():\n        tl.fill(b, 0.0)",
    ],
    ids=["end", "start", "condition", "load", "store", "element", "by a scalar", "by two scalars"],
)
def test_a_decision_on_an_element_follows_values(rest: str) -> None:
    assert follows_values(typed(READ.format(rest=rest)))


@pytest.mark.parametrize(
    "rest",
    [
        "with tl.compute():\n    tl.mul(b, a, s)",
        "with tl.compute():\n    tl.fill(b, e + s)",
        "k = s + e\nwith tl.compute():\n    tl.fill(b, k)",
        "for t in range(n):\n    with tl.copyin():\n        tl.load(x + t * 64, b)",
        "if n > 8:\n    with tl.compute():\n        tl.fill(b, s)",
    ],
    ids=["operand", "two elements", "through a scalar", "loop over sizes", "branch on sizes"],
)
def test_an_element_that_is_only_computed_with_decides_nothing(rest: str) -> None:
    assert not follows_values(typed(READ.format(rest=rest)))


CARRIED = """
k = 0
for t in range(n):
    with tl.copyin():
        tl.load(x + {offset}, a)
        s = tl.load_scalar(x + t)
    k = {value}
"""


def test_a_scalar_carried_to_the_next_round_is_followed() -> None:
    assert follows_values(typed(CARRIED.format(offset="k * 8", value="int(s)")))
    assert not follows_values(typed(CARRIED.format(offset="t * 8", value="int(s)")))
    assert not follows_values(typed(CARRIED.format(offset="k * 8", value="t")))
