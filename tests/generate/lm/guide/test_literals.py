# SPDX-License-Identifier: Apache-2.0
"""Numbers in instructions: those of the question."""

from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.rules.literals import renumbered, unknown_numbers

_ASKED = (
    "xa: float32[na, nb]\n"
    "v0 = native_layer_norm(xa, [nb], None, None, 3.7166805668675806e-06):"
    " float32[na, nb] float32[na, 1] float32[na, 1]\n"
    "v1 = getitem(v0, 0): float32[na, nb]\nv2 = mul.Tensor(v1, 1.25): float32[na, nb]\nreturn v2\n"
)
_BODY = (
    "):\n            # v0 = native_layer_norm(xa, [nb], None, None, 3.7166805668675806e-06): x\n"
    "            # v1 = getitem(v0, 0): float32[na, nb]\n"
    "            tl.div(t3[:n], v1_fold[:n], float(cols))\n"
)


@pytest.mark.parametrize(
    ("number", "known"),
    [
        ("3.7166805668675806e-06", True),
        ("1.25", True),
        ("1.0", True),
        ("0.8", True),
        ("3.7166", False),
    ],
)
def test_a_number_is_one_of_the_question(number: str, known: bool) -> None:
    line = f"            tl.add(t4[:n], t3[:n], {number})"
    assert unknown_numbers(line, Meaning.read(_ASKED)) == (set() if known else {float(number)})


def test_the_number_that_is_missing_is_given() -> None:
    meaning = Meaning.read(_ASKED)
    line = "            tl.add(t4[:n], t3[:n], 3.7166)"
    right = line.replace("3.7166", "3.7166805668675806e-06")
    assert renumbered(f"{_BODY}{line}\n", line, meaning) == right
    used = f"{_BODY}{right}\n"
    assert renumbered(f"{used}{line}\n", line, meaning) is None
