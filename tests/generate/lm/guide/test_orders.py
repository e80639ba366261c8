# SPDX-License-Identifier: Apache-2.0
"""How many of each row are kept, where the kernel that sorts has to be told."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.taught import applied, written

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.rules.orders import kept


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32])
def test_what_is_kept_is_said_of_wide_whole_numbers(dtype: torch.dtype) -> None:
    asked = written(
        applied(lambda x: torch.sort(x, dim=-1, stable=True).indices, 1),
        torch.ones(30, 40, dtype=dtype),
    ).asked
    name = str(dtype).removeprefix("torch.")
    said = f"op_kernel: extent = nb, x = xa, values = w0: {name}[na, nb], places = y"
    right = said.replace(", places", ", kept = nb, places") if dtype is torch.int32 else None
    assert kept(said, Meaning.read(asked)) == right
    advice = Guide(asked).line(f"<think>\n{said}\n")
    assert advice.keep is (right is None)
    assert advice.then == (f"{right}\n" if right else "")


def test_what_is_kept_already_or_no_order_is_left_alone() -> None:
    meaning = Meaning.read("xa: int32[na, nb]\nv0 = abs(xa): int32[na, nb]\nreturn v0\n")
    for said in (
        "op_kernel: extent = nb, x = xa, values = y, kept = 4, places = w0: int64[na, 4]",
        "op_kernel: extent = nb, x = xa, y = y",
        "op: xa -> v0 -> y",
        "op_kernel: extent = nb, x = xa, values = w7, places = y",
    ):
        assert kept(said, meaning) is None
