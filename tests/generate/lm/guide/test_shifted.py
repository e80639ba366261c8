# SPDX-License-Identifier: Apache-2.0
"""Numbers that move bits up follow from the question, and are given."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.taught import advised, applied, written

from npuforge.generate.lm.guide.guide import Guide

_THOUGHT = "<think>\n</think>\n"


@pytest.mark.parametrize(
    ("dtype", "factor", "spare"), [(torch.int32, 2**5, None), (torch.int8, 2**29, 24)]
)
def test_what_bits_are_moved_by_is_given(
    dtype: torch.dtype, factor: int, spare: int | None
) -> None:
    asked, _, program = written(
        applied(lambda x: (x << 5) + 1, 1), torch.ones(30, 70, dtype=torch.int32).to(dtype)
    )
    guide = Guide(asked)
    for before, _, advice in advised(guide, _THOUGHT, program):
        assert advice.keep, (before[-200:], advice.reason)
    for done, right in (("mul", factor), ("shift_right", spare)):
        if right is None:
            assert f"tl.{done}(" not in program
            continue
        before, _, rest = program.partition(f"tl.{done}(")
        line = rest.partition("\n")[0]
        assert line.endswith(f", {right})")
        wrong = f"{line.rpartition(', ')[0]}, 16)"
        advice = guide.line(f"{_THOUGHT}{before}tl.{done}({wrong}\n")
        assert not advice.keep
        assert advice.then.strip() == f"tl.{done}({line}"
