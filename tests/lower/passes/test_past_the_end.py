# SPDX-License-Identifier: Apache-2.0
"""Buffers that a mask is made from, beginning inside of them, are 256 bytes longer."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import form, typed

from npuforge.lower.past_the_end import read_past_the_end

BODY = """
m = tl.alloc_mask(64)
with tl.compute():
    tl.fill(a, 0.0)
    tl.{operation}
"""


@pytest.mark.parametrize(
    ("operation", "longer"),
    [
        ('compare(m[:8], a[8:16], 0.0, "gt")', {"a"}),
        ('compare(m[:8], a[:8], 0.0, "gt")', set()),
        ("is_nan(m[:8], a[8:16])", {"a"}),
        ("is_inf(m[:8], a[n * 8 : n * 8 + 8])", {"a"}),
        ("is_inf(m, a)", set()),
        ("exp(b[8:16], a[8:16])", set()),
    ],
    ids=["inside", "from the start", "NaN", "unknown start", "whole", "no mask"],
)
def test_only_what_begins_inside_is_read_past_the_end(operation: str, longer: set[str]) -> None:
    assert read_past_the_end(typed(BODY.format(operation=operation))) == longer


def test_the_second_operand_counts_too() -> None:
    both = "fill(b, 0.0)\n    tl.compare(m[:8], a[:8], b[8:16], 'lt')"
    assert read_past_the_end(typed(BODY.format(operation=both))) == {"b"}


def test_the_buffer_takes_a_block_more() -> None:
    def size(operation: str) -> str:
        printed = form("placement", BODY.format(operation=operation), "a")
        (line,) = (line for line in printed if line.split()[0] == "a")
        return line.split()[-1]

    assert size('compare(m[:8], a[:8], 0.0, "gt")') == "512"  # 64 floats in whole 512 bytes
    assert size('compare(m[:8], a[8:16], 0.0, "gt")') == "512"
    larger = BODY.replace("m =", "c = tl.alloc_ub(128, dtype=tl.float32)\nm =")
    larger = larger.replace("a, 0.0", "c, 0.0")
    for view, expected in (("c[:8]", "512"), ("c[8:16]", "1024")):
        body = larger.format(operation=f'compare(m[:8], {view}, 0.0, "gt")')
        (line,) = (line for line in form("placement", body) if line.split()[0] == "c")
        assert line.split()[-1] == expected
