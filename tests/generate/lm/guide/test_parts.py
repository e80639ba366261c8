# SPDX-License-Identifier: Apache-2.0
"""Kernels that work on several parts of one tensor."""

from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose
from npuforge.generate.lm.guide.rules.parts import unread

_ASKED = (
    "xa: float32[na, nb]\nv0 = view(xa, [na, 2, -1]): float32[na, 2, ((nb) // (2))]\n"
    "v1 = select.int(v0, 1, 0): float32[na, ((nb) // (2))]\n"
    "v2 = select.int(v0, 1, {second}): float32[na, ((nb) // (2))]\n"
    "v3 = mul.Tensor(v1, v2): float32[na, ((nb) // (2))]\nreturn v3\n"
)
_READ = "        with tl.copyin():\n            tl.load(xa + start * nb, in0[:n, :], stride=nb)\n"
_AGAIN = "            tl.load(xa + cols + start * nb, in1[:n, :], stride=nb)\n"


@pytest.mark.parametrize(
    ("second", "body", "fine"),
    [(1, _READ, False), (1, _READ + _AGAIN, True), (0, _READ, True), (1, "", True)],
)
def test_each_part_of_a_tensor_is_read(second: int, body: str, fine: bool) -> None:
    meaning = Meaning.read(_ASKED.format(second=second))
    purpose = Purpose(ROWS, reads=["xa"], computes=["v0", "v1", "v2", "v3"])
    said = unread(body, "        with tl.compute():", purpose, meaning)
    assert said == (None if fine else "another part of xa is read too")
