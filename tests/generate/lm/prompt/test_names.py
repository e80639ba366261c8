# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from npuforge.generate.lm.prompt.names import renamed

PROGRAM = """\
@ascend_kernel
def op(xa, xb, n, start):
    tl.load(xa + start, b[:n], stride=n)
    op_2 = tl.round(xb, round="rint")
    opened = 1


def op_host(xa: tl.input(tl.float32)):
    tl.require(xa.shape[0] == n, "xa has n")
    op[1](xa, xb)
"""


def test_names_are_exchanged_and_others_make_room() -> None:
    made = renamed(PROGRAM, {"xa": "xb", "xb": "start"}, ("op", "norm"))
    assert "def norm(xb, start, n, start_2):" in made
    assert "tl.load(xb + start_2, b[:n], stride=n)" in made
    assert 'norm_2 = tl.round(start, round="rint")' in made
    assert "opened = 1" in made
    assert '"xa has n"' in made
    assert "norm[1](xb, start)" in made
    assert "def norm_host(xb: tl.input(tl.float32)):" in made


def test_words_of_the_language_stay() -> None:
    made = renamed(PROGRAM, {"xa": "round", "n": "stride"}, ("op", "op"))
    assert "tl.load(round + start, b[:stride], stride=stride)" in made
    assert 'tl.round(xb, round="rint")' in made


def test_an_operator_called_as_its_tensor() -> None:
    made = renamed(PROGRAM, {"xa": "norm"}, ("op", "norm"))
    assert "def norm_kernel(norm, xb" in made
    assert "def norm_host(norm:" in made
    assert "norm_kernel[1](norm, xb)" in made
