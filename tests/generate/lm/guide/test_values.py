# SPDX-License-Identifier: Apache-2.0
"""How values are computed: each to its end, by the instructions of its operation and no others."""

from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, Purpose
from npuforge.generate.lm.guide.rules.finished import finish_first, unfinished

_ASKED = Meaning.read("""\
xa: float32[na, nb]
xb: float32[nb]
where na=8, nb=64
v0 = mean.dim(xa, [-1], True): float32[na, 1]
v1 = sub.Tensor(xa, v0): float32[na, nb]
v2 = var.correction(xa, [-1], correction=0, keepdim=True): float32[na, 1]
v3 = rsqrt(v2): float32[na, 1]
v4 = mul.Tensor(v1, v3): float32[na, nb]
v5 = native_layer_norm(v4, [nb], xb, xb, 1e-05): float32[na, nb] float32[na, 1] float32[na, 1]
v6 = getitem(v5, 0): float32[na, nb]
v7 = full([], 0.04, dtype=float32): float32[]
v8 = sub.Tensor(v7, 1): float32[]
return v6, v3, v8
""")
_IN = "            "
_QUOTED = f"{_IN}# v2 = var.correction(xa, [-1], correction=0, keepdim=True): float32[na, 1]\n"


def _said(*lines: str) -> str | None:
    program = "def op():\n" + "".join(f"{_IN}{line}\n" for line in lines)
    return _ASKED.of(program)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("tl.sqrt(t0[:n], v2[:n])", "tl.div(v3[:n], 1.0, t0[:n])"), None),
        (
            ("tl.sqrt(t0[:n], v2[:n])", "tl.div(t1[:n], 1.0, t0[:n])", "tl.sqrt(v3[:n], t1[:n])"),
            "rsqrt is not done by sqrt, div, sqrt",
        ),
        (
            ("# v3 = rsqrt(v2): float32[na, 1]", "tl.sqrt(t0[:n], v2[:n])",
             "tl.sqrt(t1[:n], t0[:n])"),
            "rsqrt is not done by sqrt, sqrt",
        ),
        (("tl.fill(t0[:1], 0.04)", "tl.sub(v8[:1], t0[:1], 1.0)"), None),
        (("tl.fill(t0[:1], 0.0)", "tl.sub(v8[:1], t0[:1], 1.0)"), "v8 is made of 0.04"),
    ],
)  # fmt: skip
def test_operations_are_done_as_they_were_taught(lines: tuple[str, ...], reason: str) -> None:
    assert _said(*lines) == reason


def test_one_of_several_results_is_done_in_its_own_way() -> None:
    norm = [
        "tl.reduce_sum(v6_fold[:n], v4[:n, :], axis=1)",
        "tl.div(t0[:n], v6_fold[:n], float(cols))",
        "tl.sub(t1[:n, :], v4[:n, :], t0[:n, None])",
        "tl.mul(t2[:n, :], t1[:n, :], t1[:n, :])",
        "tl.reduce_sum(v6_fold_[:n], t2[:n, :], axis=1)",
        "tl.div(t3[:n], v6_fold_[:n], float(cols))",
        "tl.add(t4[:n], t3[:n], 1e-05)",
        "tl.sqrt(t5[:n], t4[:n])",
        "tl.div(t6[:n], 1.0, t5[:n])",
        "tl.mul(t7[:n, :], t1[:n, :], t6[:n, None])",
        "tl.mul(t8[:n, :], t7[:n, :], xb_in[:])",
        "tl.add(y0_out[:n, :], t8[:n, :], xb_in[:])",
    ]
    assert _said(*norm) is None
    without_root = [line.replace("t5", "t4") for line in norm if "sqrt" not in line]
    assert "native_layer_norm[0] is not done by" in str(_said(*without_root))


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("tl.mul(t0[:n, :], v1[:n, :], v1[:n, :])",), None),
        (("tl.sub(t0[:n, :], xa_in[:n, :], v0[:n, None])",), None),
        (("tl.sub(t0[:n, :], v1[:n, :], v0[:n, None])",), "v1 deviates from a mean as it is"),
        (
            ("tl.mul(t0[:n, :], xa_in[:n, :], xa_in[:n, :])",
             "tl.reduce_sum(v2_fold[:n], t0[:n, :], axis=1)",
             "tl.div(v2[:n], v2_fold[:n], float(cols))"),
            "v2 is made of deviations from a mean",
        ),
    ],
)  # fmt: skip
def test_a_variance_is_made_of_deviations(lines: tuple[str, ...], reason: str | None) -> None:
    assert _said(_QUOTED.strip(), *lines) == reason


def test_nothing_on_the_way_is_left_out() -> None:
    """Neither the mean nor the root of what is multiplied was computed."""
    reason = _said("tl.mul(v4[:n, :], v1[:n, :], xa_in[:n, :])")
    assert reason == "v4 is made of v3 too"
    assert _said("tl.mul(v4[:n, :], v1[:n, :], v3[:n, None])") is None
    twice = (
        "tl.mul(t0[:n, :], v1[:n, :], v3[:n, None])",
        "tl.mul(v4[:n, :], t0[:n, :], v0[:n, None])",
    )
    farther = _said(*twice)
    assert farther == "v4 is made of what is made of v0"


def test_sums_over_rounds_and_places_are_for_any_value() -> None:
    quote = "# v3 = rsqrt(v2): float32[na, 1]"
    assert _said(quote, "tl.add(t0[:n, :], t0[:n, :], v4[:n, :])") is None
    place = "t1 = tl.alloc_ub((tile, cols), dtype=tl.int32)"
    assert _said(quote, place, "tl.add(t1[:n, :], t0[:n, :], v4[:n, None])") is None
    assert _said(quote, "tl.add(t1[:n, :], t0[:n, :], v4[:n, :])") == "v3 is not made of v4"


@pytest.mark.parametrize(
    ("reads", "buffer", "fine"),
    [("xa", "t0", False), ("xa", "v3", True), ("xa", "y1_out", True), ("w0", "t0", True)],
)
def test_a_value_is_finished_before_the_next_is_begun(reads: str, buffer: str, fine: bool) -> None:
    purpose = Purpose(ROWS, reads=[reads], computes=["v3", "v4"], leaves={"y1": None})
    body = f"op():\n        with tl.compute():\n{_IN}# v3 = rsqrt(v2): float32[na, 1]\n"
    body += f"{_IN}{buffer} = tl.alloc_ub(tile, dtype=tl.float32)\n"
    following = "# v4 = mul.Tensor(v1, v3): float32[na, nb]"
    for last in (f"{_IN}{following}", "        with tl.copyout():"):
        said = unfinished(f"{body}{last}\n", last, purpose, _ASKED)
        assert said == (None if fine else "v3")


@pytest.mark.parametrize(
    ("value", "buffer"),
    [
        ("v3 = rsqrt(v2): float32[na, 1]", "y1_out = tl.alloc_ub(tile, dtype=tl.float32)"),
        (
            "v4 = mul.Tensor(v1, v3): float32[na, nb]",
            "v4 = tl.alloc_ub((tile, cols), dtype=tl.float32)",
        ),
    ],
)
def test_the_buffer_of_a_value_that_is_not_finished_is_given(value: str, buffer: str) -> None:
    counted = {"rows": "na", "cols": "nb"}
    purpose = Purpose(
        ROWS, counted, ["xa", "xb"], ["v3", "v4", "v5", "v6"], {"y0": None, "y1": None}
    )
    body = f"op():\n        with tl.compute():\n{_IN}# {value}\n"
    for last in (f"{_IN}# v6 = getitem(v5, 0): float32[na, nb]", "        with tl.copyout():"):
        assert finish_first(f"{body}{last}\n", last, purpose, _ASKED) == f"{_IN}{buffer}"
    done = f"{body}{_IN}{buffer}\n"
    assert finish_first(f"{done}{last}\n", last, purpose, _ASKED) is None


_PAIRS = Meaning.read("""\
xa: int64[na]
xb: int64[nb]
xc: int32[na]
where na=8, nb=64
v0 = unsqueeze(xa, 1): int64[na, 1]
v1 = le.Tensor(xb, v0): bool[na, nb]
v2 = sub.Tensor(xb, v0): int64[na, nb]
v3 = remainder.Tensor(xc, 7): int32[na]
v4 = clamp(xa, 1): int64[na]
v5 = clamp(xa, None, 9): int64[na]
return v1, v2, v3, v4, v5
""")
_ZERO = "tl.fill(t0[:n, :], 0)"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            ("# v2 = sub.Tensor(xb, v0): int64[na, nb]", _ZERO,
             "tl.add(t1[:n, :], t0[:n, :], xb_wide[:])",
             "tl.sub(v2[:n, :], t1[:n, :], xa_wide[:n, None])"),
            None,
        ),
        (
            ("# v2 = sub.Tensor(xb, v0): int64[na, nb]", _ZERO,
             "tl.add(t1[:n, :], t0[:n, :], xa_wide[:n, None])",
             "tl.sub(v2[:n, :], t1[:n, :], xb_wide[:])"),
            "xb is not xa",
        ),
        (
            ("# v1 = le.Tensor(xb, v0): bool[na, nb]", _ZERO,
             "tl.add(t1[:n, :], t0[:n, :], xa_wide[:n, None])",
             "tl.add(t3[:n, :], t0[:n, :], xb_wide[:])",
             'tl.compare(v1[:n, :], t1[:n, :], t3[:n, :], "le")'),
            "xb is not xa",
        ),
        (
            ("# v1 = le.Tensor(xb, v0): bool[na, nb]", _ZERO,
             "tl.add(t1[:n, :], t0[:n, :], xa_wide[:n, None])",
             "tl.add(t3[:n, :], t0[:n, :], xa_wide[:n, None])"),
            "v1 is made of xa_wide twice",
        ),
        (
            ("# v3 = remainder.Tensor(xc, 7): int32[na]", "tl.fill(t0[:n], 0)",
             "tl.cast(t1[:n], xc_in[:n])", "tl.cast(t2[:n], t0[:n])",
             "tl.div(t3[:n], t1[:n], t2[:n])"),
            "v3 is divided by nothing",
        ),
        (("tl.fill(t1[:n, :], 0)", _ZERO, "tl.add(t2[:n, :], t0[:n, :], t1[:n, :])"), None),
        (("tl.maximum(v4[:n], xa_wide[:n], 1)",), None),
        (
            ("tl.maximum(t0[:n], xa_wide[:n], 1)", "tl.minimum(v4[:n], t0[:n], 1)"),
            "v4 has no such bound as minimum",
        ),
        (("tl.minimum(v5[:n], xa_wide[:n], 9)",), None),
    ],
)  # fmt: skip
def test_operands_that_are_spread_divided_by_or_bounds(
    lines: tuple[str, ...], reason: str | None
) -> None:
    held = ["t0", "t1", "t2", "t3", "xa_in", "xb_in", "xc_in"]
    made = [f"{name} = tl.alloc_ub(tile, dtype=tl.float32)" for name in held]
    read = ["tl.load(xa, xa_in[:n])", "tl.load(xb, xb_in[:])", "tl.load(xc, xc_in[:n])"]
    wide = ["tl.cast(xa_wide[:n], xa_in[:n])", "tl.cast(xb_wide[:], xb_in[:])"]
    program = "def op():\n" + "".join(f"{_IN}{line}\n" for line in (*made, *read, *wide, *lines))
    assert _PAIRS.of(program) == reason
