# SPDX-License-Identifier: Apache-2.0
"""Instructions held against the line of the question that they are for."""

from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.facts.meaning import Meaning, known_operations

_ASKED = """\
xa: float32[na, nb]
xb: float32[na, nb]
where na=8, nb=64
v0 = abs(xa): float32[na, nb]
v1 = sub.Tensor(v0, xb): float32[na, nb]
v2 = mul.Tensor(v1, 0.25): float32[na, nb]
v3 = clamp(v2, -1.5, 7.0): float32[na, nb]
v4 = view(v3, [na * nb]): float32[na * nb]
v5 = var.correction(v3, [-1], correction=0, keepdim=True): float32[na, 1]
return v4, v5
"""
_BEFORE = """\
@ascend_kernel
def op():
            tl.load(xa + start, xa_in[:m])
            tl.load(xb + start, xb_in[:m])
            # v0 = abs(xa): float32[na, nb]
            tl.abs(v0[:m], xa_in[:m])
"""


def _said(*lines: str) -> str | None:
    return Meaning.read(_ASKED).of(_BEFORE + "".join(f"            {line}\n" for line in lines))


@pytest.mark.parametrize(
    "lines",
    [
        ("tl.sub(v1[:m], v0[:m], xb_in[:m])",),
        ("tl.cast(t0[:m], xb_in[:m])", "tl.sub(v1[:m], v0[:m], t0[:m])"),
        ("s0 = tl.extract_scalar(xb_in[:1], 0)", "tl.sub(v1[:m], v0[:m], s0)"),
        ("tl.mul(v2[:m], v1[:m], 0.25)",),
        ("tl.maximum(t0[:m], v2[:m], -1.5)", "tl.minimum(v3[:m], t0[:m], 7.0)"),
        ("tl.cast(y0_out[:m], v3[:m])",),
        ("tl.store(w0 + start, v3[:m])", "tl.load(w0 + start, w0_in[:m])",
         "tl.cast(y0_out[:m], w0_in[:m])"),
    ],
)  # fmt: skip
def test_what_the_question_says_stands(lines: tuple[str, ...]) -> None:
    assert _said(*lines) is None


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("tl.sub(v1[:m], v0[:m], v2[:m])",), "v1 is not made of v2"),
        (("tl.sub(v1[:m], v0[:m], v0[:m])",), "v1 is made of xb too"),
        (("tl.cast(t0[:m], v0[:m])", "tl.sub(v1[:m], t0[:m], t0[:m])"), "v1 is made of xb too"),
        (("tl.add(v1[:m], v0[:m], xb_in[:m])",), "sub.Tensor is not done by add"),
        (("tl.sub(v1[:m], xb_in[:m], v0[:m])",), "v0 is not xb"),
        (("tl.mul(v2[:m], v1[:m], 0.5)",), "0.5 is no number of mul.Tensor"),
        (("tl.mul(v2[:m], v1[:m], 0.0)",), "0.25 is a number of mul.Tensor"),
        (("tl.copy(v2[:m], v1[:m])",), "0.25 is a number of mul.Tensor"),
        (("tl.minimum(v3[:m], v2[:m], 15.0)",), "15.0 is no number of clamp"),
        (("tl.exp(y0_out[:m], v3[:m])",), "view is not done by exp"),
        (("# v3 = clamp", "tl.maximum(t0[:m], xb_in[:m], v5[:m])"), "v3 is not made of v5"),
    ],
)
def test_what_it_does_not_say_is_refused(lines: tuple[str, ...], reason: str) -> None:
    assert _said(*lines) == reason


def test_a_part_of_a_value_may_be_another_one() -> None:
    """A variance may take deviations from a mean that somebody else asked for."""
    asked = _ASKED.replace("return", "v6 = mean.dim(v3, [-1], True): float32[na, 1]\nreturn")
    program = f"{_BEFORE}            tl.sub(t0[:m], v3[:m], v6[:m])\n"
    program += "            tl.mul(t1[:m], t0[:m], t0[:m])\n"
    meaning = Meaning.read(asked)
    assert meaning.of(f"{program}            tl.reduce_sum(v5[:1], t1[:m])\n") is None
    assert meaning.of(f"{program}            tl.neg(v4[:m], t1[:m])\n") is not None


def test_kernels_with_names_of_their_own_are_left_alone() -> None:
    program = "def op_kernel():\n            tl.mul(v2[:m], v0[:m], 3.0)\n"
    assert Meaning.read(_ASKED).of(program) is None
    assert Meaning.read(_ASKED).of(program.replace("op_kernel", "op")) is not None


def test_what_operations_were_taught_with() -> None:
    known = known_operations()
    assert len(known) > 80
    assert ["exp"] in known["exp"].instructions
    assert ["sqrt", "div"] in known["rsqrt"].instructions
    assert ["maximum", "minimum"] in known["clamp"].instructions
    assert known["mean.dim"].numbers is None  # it may divide by any extent


def test_words_that_look_like_tensors_are_none() -> None:
    asked = "xa: float32[na]\nv0 = gelu(xa, approximate=xyz, mode=xy): float32[na]\nreturn v0\n"
    assert Meaning.read(asked).operands["v0"] == ("xa",)


@pytest.mark.parametrize(
    ("operation", "same"),
    [
        ("mul.Tensor(v0, 1.0)", True),
        ("div.Tensor(v0, 1)", True),
        ("sub.Tensor(v0, 0.0)", True),
        ("view(v0, [na * nb])", True),
        ("_to_copy(v0, dtype=float32)", True),
        ("mul.Tensor(v0, -1.0)", False),
        ("mul.Tensor(v0, v0)", False),
        ("sub.Tensor(0, v0)", False),
        ("add.Tensor(v0, 1.0)", False),
        ("slice.Tensor(v0, 1, 0, 32)", False),
        ("permute(v0, [1, 0])", False),
    ],
)
def test_what_changes_nothing_stands_for_what_it_is_made_of(operation: str, same: bool) -> None:
    asked = (
        f"xa: float32[na, nb]\nv0 = exp(xa): float32[na, nb]\nv1 = {operation}: float32[na, nb]\n"
    )
    meaning = Meaning.read(f"{asked}v2 = abs(v1): float32[na, nb]\nreturn v2\n")
    wanted = "tl.abs(v2[:m], v0[:m])" if same else None
    assert meaning.instead("tl.abs(v2[:m], v1[:m])", ["v0", "v2"]) == wanted


def test_who_casts_back_asks_for_the_rounding() -> None:
    asked = (
        "xa: float32[na]\nv0 = exp(xa): float32[na]\n"
        "v1 = _to_copy(v0, dtype=bfloat16): bfloat16[na]\n"
        "v2 = _to_copy(v1, dtype=float32): float32[na]\n"
        "v3 = sub.Tensor(v0, v2): float32[na]\nreturn v3\n"
    )
    meaning = Meaning.read(asked)
    assert meaning.instead("tl.sub(v3[:m], v0[:m], v2[:m])", ["v0", "v3"]) is None
    wanted = "tl.abs(v3[:m], v0[:m])"
    assert meaning.instead("tl.abs(v3[:m], v1[:m])", ["v0", "v3"]) == wanted


def test_nothing_stands_for_a_value_that_nobody_asked_for() -> None:
    meaning = Meaning.read("xa: float32[na]\nv0 = exp(xa): float32[na]\nreturn v0\n")
    assert meaning.instead("tl.abs(v0[:m], v7[:m])", ["v0"]) is None


@pytest.mark.parametrize(("factor", "fine"), [("1.0", True), ("-1.0", False)])
def test_only_what_changes_nothing_needs_no_instruction(factor: str, fine: bool) -> None:
    asked = (
        f"xa: float16[na]\nv0 = exp(xa): float16[na]\nv1 = mul.Tensor(v0, {factor}): float16[na]\n"
    )
    program = "@ascend_kernel\ndef op():\n            tl.load(xa + start, xa_in[:m])\n"
    program += "            tl.exp(v0[:m], xa_in[:m])\n            tl.cast(y_out[:m], v0[:m])\n"
    said = Meaning.read(f"{asked}return v1\n").of(program)
    assert (said is None) == fine


_RANGED = """\
xa: int32[na]
xb: int32[na]
where na=64
v0 = arange.start_step(3, 67): int64[64]
v1 = remainder.Tensor(xa, xb): int32[na]
return v0, v1
"""


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("tl.iota(t0[:m], start, 1)", "tl.add(v0[:m], t0[:m], 3)"), None),
        (("tl.iota(t0[:m], start, 1)", "tl.add(v0[:m], t0[:m], 67)"), "67.0 is no number of"),
        (("# v1 = r", "tl.cast(t0[:m], xa_in[:m])", "tl.cast(t1[:m], xb_in[:m])",
          "tl.div(t2[:m], t0[:m], t1[:m])"), None),
        (("# v1 = r", "tl.cast(t0[:m], xa_in[:m])", "tl.cast(t1[:m], xa_in[:m])",
          "tl.div(t2[:m], t0[:m], t1[:m])"), "v1 is not xa over itself"),
    ],
)  # fmt: skip
def test_ends_of_ranges_and_operands_that_are_the_same(
    lines: tuple[str, ...], reason: str | None
) -> None:
    said = Meaning.read(_RANGED).of("def op():\n" + "".join(f"    {line}\n" for line in lines))
    assert said == reason if reason is None else said is not None and said.startswith(reason)
