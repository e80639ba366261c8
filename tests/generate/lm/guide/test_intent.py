# SPDX-License-Identifier: Apache-2.0
"""What the reasoning says of kernels, and programs that do not keep to it."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.taught import Factors, Loss, Norm, Weighted, Written, advised, written

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import STREAM, Purpose
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.intent import Intent
from npuforge.train.dataset.reasoning import outlined, schedules

_ASKED = """\
xa: float32[na, nb, nc]
xb: float32[nc]
xc: float32[nb]
where na=8, nb=64, nc=32
v0 = mul.Tensor(xa, xb): float32[na, nb, nc]
v1 = sum.dim_IntList(v0, [-1]): float32[na, nb]
v2 = sum.dim_IntList(v0, [0]): float32[nb, nc]
v3 = exp(v1): float32[na, nb]
return v3, v2
"""
_ROWS = "op: Whole rows, several at once; what a row shares is computed once a row.\n"
_COUNTED = f"<think>\n{_ROWS}op: rows = na * nb, cols = nc\n"


def _answer(one: Written) -> str:
    lines = outlined(one.taught, schedules(one.planned))
    return "".join(f"{line}\n" for line in ["<think>", *lines, "4.0 KB in, 1 KB out", "</think>"])


@pytest.mark.parametrize("last", ["op: xb, xa -> v0, v1, v3 -> y0", "op: xb, xa -> v0 -> w0 = v0"])
def test_a_purpose_that_can_be(last: str) -> None:
    assert Guide(_ASKED).line(f"{_COUNTED}{last}\n").keep


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("op: xa -> v0, v1, v3 -> y0", "v0 is made of xb"),
        ("op: w0, xa, xb -> v0, v1, v3 -> y0", "nothing leaves w0"),
        ("op: xb, xa -> v0, v7 -> y0", "there is no v7"),
        ("op: xb, xa -> v0, v2 -> y1", "v2 has other elements"),
        ("op: xa, xb -> v0, v1, v3 -> y0", "xb is shared and read too late"),
        ("op: xb, xa -> v1, v0, v3 -> y0", "v1 is computed before v0"),
        ("op: xb, xa -> v0, v1 -> y0", "y0 is v3, which is not computed"),
        ("op: xb, xa, xc -> v0, v1, v3 -> y0", "xc has other elements"),
        ("op: xb, xa -> v0, v1, v3, v1 -> y0", "a value is computed twice"),
    ],
)
def test_a_purpose_that_cannot_be(last: str, reason: str) -> None:
    advice = Guide(_ASKED).line(f"{_COUNTED}{last}\n")
    assert not advice.keep
    assert reason in advice.reason


def test_kernels_count_in_extents_that_there_are() -> None:
    for line, keep in (("op: rows = na * nb, cols = nc", True), ("op: rows = na * nj", False)):
        advice = Guide(_ASKED).line(f"<think>\n{_ROWS}{line}\n")
        assert (advice.keep, advice.reason) == (keep, "" if keep else "there is no nj")


@pytest.mark.parametrize(
    "last",
    [
        "op: xa, xb -> v0, v1, v3 -> y0",
        "op: xa -> v0, v3 -> y0",
        "op: xq, xa -> v1, v0 -> y0",
    ],
)
def test_where_nothing_is_left_to_choose_the_line_is_given(last: str) -> None:
    advice = Guide(_ASKED).line(f"{_COUNTED}{last}\n")
    assert not advice.keep
    assert advice.then == "op: xb, xa -> v0, v1, v3 -> y0\n"


def test_a_line_that_would_be_wrong_again_is_not_given() -> None:
    advice = Guide(_ASKED).line(f"{_COUNTED}op: xb, xa -> v0, v2 -> y1\n")
    assert not advice.keep
    assert advice.then == ""


@pytest.mark.parametrize(
    ("counted", "keep"), [("nb * nc", True), ("nc", True), ("na * nb", False), ("na * nc", False)]
)
def test_parts_lie_together(counted: str, keep: bool) -> None:
    """A stream that goes over more than it counts does so by its last axes."""
    asked = "xa: float32[na, nb, nc]\nv0 = exp(xa): float32[na, nb, nc]\nreturn v0\n"
    way = "<think>\nop: A stream: each core takes a share of the elements.\n"
    answer = f"{way}op: cols = {counted}\nop: xa -> v0 -> y\n"
    assert Guide(asked).line(answer).keep is keep


def test_a_kernel_alone_leaves_all_that_is_asked_for() -> None:
    """Said too late, when numbers begin: the line before them is given anew."""
    asked = "xa: float32[na]\nv0 = exp(xa): float32[na]\nv1 = neg(v0): float32[na]\n"
    asked += "return v0 -> xa, v1\n"
    way = "<think>\nop: A stream: each core takes a share of the elements.\nop: cols = na\n"
    advice = Guide(asked).line(f"{way}op: xa -> v0, v1 -> y\n4.0 KB in, 1 KB out\n")
    assert (advice.keep, advice.lines) == (False, 2)
    assert Guide(asked).line(f"{way}{advice.then}4.0 KB in, 1 KB out\n").keep
    assert {"xa", "y"} == set(advice.then.rpartition(" -> ")[2].strip().split(", "))


def test_what_is_asked_for_is_left_by_some_kernel() -> None:
    thoughts = f"{_COUNTED}op: xa, xb -> v0, v1, v3 -> y0\n"
    advice = Guide(_ASKED).line(f"{thoughts}4.0 KB in, 1.0 KB out\n")
    assert not advice.keep
    assert advice.reason == "nothing leaves y1"
    also = "op_2: cols = nb * nc\nop_2: xa, xb -> v0, v2 -> y1\n"
    assert Guide(_ASKED).line(f"{thoughts}{also}4.0 KB in, 1.0 KB out\n").keep


@pytest.fixture(scope="module")
def loss() -> Written:
    """Two kernels."""
    return written(Loss(), torch.randn(512, 1000), torch.randn(512, 1000))


def test_programs_keep_to_their_reasoning(loss: Written) -> None:
    for before, _, advice in advised(Guide(loss.asked), _answer(loss), loss.taught):
        assert advice.keep, (before[-200:], advice.reason)


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("tl.load(xb + ", "tl.load(w0 + ", "op does not read w0"),
        ("# v1 = ", "# v2 = ", "v2 is not what op computes next"),
        ("tl.store(w0 ", "tl.store(y ", "op does not leave y"),
    ],
)
def test_a_kernel_that_does_not(loss: Written, right: str, wrong: str, reason: str) -> None:
    before, found, after = loss.taught.partition(right)
    assert found
    name = wrong.removeprefix("# ").split()[0]
    quotes = [line for line in loss.asked.splitlines() if line.startswith(f"{name} =")]
    rest = after.partition("\n")[0] if not quotes else quotes[0].partition(" = ")[2]
    advice = Guide(loss.asked).line(f"{_answer(loss)}{before}{wrong}{rest}\n")
    assert not advice.keep
    assert advice.reason == reason


@pytest.fixture(scope="module")
def norm() -> Written:
    """Rows, and a tensor that all of them share."""
    return written(Norm(), torch.randn(8, 64, 96), torch.ones(96))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("v1 = tl.alloc_ub((tile, cols), ", "v1 = tl.alloc_ub(tile, "),
        ("v4 = tl.alloc_ub(tile, ", "v4 = tl.alloc_ub((tile, cols), "),
        ("xb_in = tl.alloc_ub(cols, ", "xb_in = tl.alloc_ub(tile, "),
    ],
)
def test_a_buffer_of_another_shape_than_its_value(norm: Written, right: str, wrong: str) -> None:
    before, found, after = norm.taught.partition(right)
    assert found
    rest = after.partition("\n")[0]
    guide = Guide(norm.asked)
    assert guide.line(f"{_answer(norm)}{before}{right}{rest}\n").keep
    advice = guide.line(f"{_answer(norm)}{before}{wrong}{rest}\n")
    assert not advice.keep
    assert "does not fit" in advice.reason


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("n = min(tile, rows - start)", "n = min(tile, rows - begin)", "begin has no value in op"),
        ("tl.load(xa + start * cols, xa_in[:n, :]", "tl.load(xa + m, xa_in[:n, :]", "m has no"),
        (
            "xb_in = tl.alloc_ub(cols, ",
            "xb_in = tl.alloc_ub((rows, tile), ",
            "is no buffer of whole",
        ),
        ("v1 = tl.alloc_ub((tile, cols), ", "v1 = tl.alloc_ub((cols, tile), ", "is no buffer of"),
    ],
)
def test_what_no_kernel_has_that_goes_about_it_in_this_way(
    norm: Written, right: str, wrong: str, reason: str
) -> None:
    before, found, after = norm.taught.partition(right)
    assert found
    rest = after.partition("\n")[0]
    advice = Guide(norm.asked).line(f"{_answer(norm)}{before}{wrong}{rest}\n")
    assert not advice.keep
    assert reason in advice.reason


def test_what_all_rows_share_is_read_first(norm: Written, loss: Written) -> None:
    for one, begins in ((norm, True), (loss, False)):
        before, head, after = (_answer(one) + one.taught).partition("def op():\n")
        then = Guide(one.asked).line(before + head).then
        assert after.startswith(then)
        assert then.startswith("    with tl.copyin():\n        # xb: ") == begins


def test_a_launch_gives_what_was_said(norm: Written) -> None:
    before, launch, _ = norm.taught.rpartition("    op[")
    last = norm.taught[len(before) :].splitlines()[0]
    guide = Guide(norm.asked)
    assert guide.line(f"{_answer(norm)}{before}{last}\n").keep
    assert "na * nb" in last
    advice = guide.line(f"{_answer(norm)}{before}{last.replace('na * nb', 'nb * nc')}\n")
    assert launch
    assert not advice.keep
    assert advice.then == f"{last}\n"


@pytest.fixture(scope="module")
def factors() -> Written:
    """Streams that read a tensor of one element, and one that has no other."""
    one = torch.randn(1)
    return written(Factors(), one, torch.randn(64, 96), torch.randn(64, 96), one)


def test_what_all_elements_share_is_read_first(factors: Written) -> None:
    for before, after, advice in advised(Guide(factors.asked), _answer(factors), factors.taught):
        assert advice.keep, (before[-200:], advice.reason)
        assert after.startswith(advice.then)
    before, head, _ = (_answer(factors) + factors.taught).partition("def op_2():\n")
    shared = "    with tl.copyin():\n        # xd: float32[1]\n"
    assert Guide(factors.asked).line(before + head).then.startswith(shared)


def test_a_stream_says_first_what_all_elements_share(factors: Written) -> None:
    thoughts, right, _ = _answer(factors).partition("op_2: xd, xb, xc -> ")
    wrong = "op_2: xb, xc, xd -> v1, v2, v3, v4, v5 -> y1\n"
    advice = Guide(factors.asked).line(thoughts + wrong)
    assert advice.reason == "xd is shared and read too late"
    assert advice.then.startswith(right)


def test_a_stream_of_single_numbers_counts_in_nothing(factors: Written) -> None:
    before, right, after = _answer(factors).partition("op: xa, xd -> ")
    right += after.partition("\n")[0] + "\n"
    guide = Guide(factors.asked)
    assert guide.line(before + right).keep
    for wrong in (right, "op: xd, xa -> v0 -> y0\n"):
        advice = guide.line(f"{before}op: cols = na\n{wrong}")
        assert not advice.keep
        assert (advice.then, advice.lines) == (right, 2)


def test_a_stream_of_many_numbers_counts(factors: Written) -> None:
    thoughts = "<think>\nop_2: A stream: each core takes a share of the elements.\n"
    work = "op_2: xd, xb, xc -> v1, v2, v3, v4, v5 -> y1\n"
    guide = Guide(factors.asked)
    advice = guide.line(thoughts + work)
    assert advice.then.startswith("op_2: cols = n")
    assert advice.then.endswith(work)
    assert guide.line(thoughts + advice.then).keep


def test_a_stream_of_single_numbers_begins_with_all_it_reads(factors: Written) -> None:
    before, head, rest = (_answer(factors) + factors.taught).partition("def op():\n")
    given = Guide(factors.asked).line(before + head).then
    assert rest.startswith(given)
    assert given.count("tl.load(") == 2


def test_a_reasoning_does_not_end_before_all_results_are_left(factors: Written) -> None:
    thoughts, _, _ = _answer(factors).partition("op_2: ")
    guide = Guide(factors.asked)
    advice = guide.line(f"{thoughts}</think>\n")
    assert (advice.keep, advice.reason) == (False, "nothing leaves y1")
    assert guide.line(_answer(factors)).keep


@pytest.mark.parametrize(
    "too_early",
    ["with tl.copyout():", "y_out = tl.alloc_ub((tile, cols), dtype=tl.float32)"],
)
def test_results_leave_when_all_values_are_computed(norm: Written, too_early: str) -> None:
    quotes = [line for line in norm.taught.splitlines() if line.lstrip().startswith("# v")]
    inner = [line for line in quotes if line.startswith(" " * 12)]
    before, _, _ = norm.taught.partition(f"{inner[1]}\n")
    indent = inner[1].partition("#")[0].removesuffix("    " if "with" in too_early else "")
    advice = Guide(norm.asked).line(f"{_answer(norm)}{before}{indent}{too_early}\n")
    assert (advice.keep, advice.then) == (False, f"{inner[1]}\n")


def test_the_last_kernel_leaves_what_is_as_large_as_what_it_leaves() -> None:
    asked = (
        "xa: float32[na]\nxb: float32[nb]\nwhere na=8, nb=9\nv0 = exp(xa): float32[na]\n"
        "v1 = abs(xb): float32[nb]\nv2 = neg(xb): float32[nb]\nreturn v0, v1, v2\n"
    )
    way = "A stream: each core takes a share of the elements."
    thoughts = (
        f"<think>\nop: {way}\nop: cols = na\nop: xa -> v0 -> y0\n"
        f"op_2: {way}\nop_2: cols = nb\nop_2: xb -> v1 -> y1\n68 bytes in, 104 bytes out\n"
    )
    advice = Guide(asked).line(thoughts)
    assert (advice.lines, advice.then) == (2, "op_2: xb -> v1, v2 -> y1, y2\n")


def test_numbers_taken_out_of_a_tensor_are_numbers() -> None:
    weighted = written(Weighted(), torch.randn(1), torch.randn(64, 96), torch.randn(2))
    guide = Guide(weighted.asked)
    for before, after, advice in advised(guide, _answer(weighted), weighted.taught):
        assert advice.keep, (before[-200:], advice.reason)
        assert after.startswith(advice.then)
    for kernel, place in (("op", "xc"), ("op_2", "xc + 1")):
        before, head, _ = (_answer(weighted) + weighted.taught).partition(f"def {kernel}():\n")
        assert f"tl.load({place}, xc_in[:1])" in guide.line(before + head).then


def test_an_outline_says_something_of_kernels(factors: Written) -> None:
    thoughts = "<think>\nop_2: A stream: each core takes a share of the elements.\n"
    guide = Guide(factors.asked)
    for line in ("op_2: 1]\n", "float32[1, na, nd[]\n"):
        assert guide.line(thoughts + line).reason == "nothing that an outline says"
    assert guide.line(f"{thoughts}op_2: cols = na * nb\n").keep


def test_a_stream_that_computes_nothing_may_count(factors: Written) -> None:
    thoughts = (
        "<think>\nop: A stream: each core takes a share of the elements.\nop: cols = na * nb\n"
    )
    assert Guide(factors.asked).line(f"{thoughts}op: xb -> y1\n").reason != "nothing to count"


def test_what_is_read_together_is_read_in_one_block(factors: Written) -> None:
    """In the order of the outline, before anything is computed."""
    guide = Guide(factors.asked)
    for block, late in (("def op():\n", "xd"), ("        m = min(tile, ", "xc")):
        start = factors.taught.index(block)
        quote = next(
            line
            for line in factors.taught[start:].splitlines()
            if line.strip().startswith(f"# {late}: ")
        )
        before = factors.taught[: factors.taught.index(f"{quote}\n", start)]
        begins = quote[: len(quote) - len(quote.lstrip()) - 4]
        advice = guide.line(f"{_answer(factors)}{before}{begins}with tl.compute():\n")
        assert not advice.keep
        assert advice.then == f"{quote}\n"


def test_another_tensor_than_the_next_is_not_read(factors: Written) -> None:
    before, quote, after = factors.taught.partition("            # xb: ")
    other = next(line for line in after.splitlines() if line.strip().startswith("# xc: "))
    advice = Guide(factors.asked).line(f"{_answer(factors)}{before}{other}\n")
    assert not advice.keep
    assert advice.then == f"{quote}{after.partition(chr(10))[0]}\n"


def test_what_changes_nothing_has_no_buffer(factors: Written) -> None:
    """Its line needs no instruction, and who reads it reads what it is made of."""
    right = next(line for line in factors.taught.splitlines() if "tl.mul(v3[:m], " in line)
    assert "v1[:m]" in right
    before = factors.taught.partition(right)[0]
    advice = Guide(factors.asked).line(f"{_answer(factors)}{before}{right.replace('v1', 'v2')}\n")
    assert not advice.keep
    assert advice.then == f"{right}\n"


def test_the_head_requires_all_shapes_that_there_are(factors: Written) -> None:
    before, found, _ = factors.taught.partition("    # def op(")
    assert found
    more = '    tl.require(xb.shape[0] == 1, "xb has shape (1, na)")\n'
    advice = Guide(factors.asked).line(f"{_answer(factors)}{before}{more}")
    assert advice.reason == "the head has all shapes that there are"


class Line(torch.nn.Module):
    def forward(self, x: torch.Tensor, slope: torch.Tensor, height: torch.Tensor) -> torch.Tensor:
        return x * slope + height


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
def test_numbers_that_are_shared_are_taken_out_of_their_buffers(dtype: torch.dtype) -> None:
    """Before the work begins that is done for every element; there is no choice in it."""
    one, many = torch.ones(1, dtype=dtype), torch.ones(64, 96, dtype=dtype)
    line = written(Line(), many, one, one)
    before, head, after = line.taught.partition("def op():\n")
    then = Guide(line.asked).line(f"{_answer(line)}{before}{head}").then
    assert "sk2 = tl.extract_scalar(" in then
    assert after.startswith(f"{then}    first = tl.program_id(0)")


_TWO_SIZES = """\
xa: float32[nb]
xb: float32[na, nb]
where na=64, nb=32
v0 = mul.Tensor(xb, xa): float32[na, nb]
v1 = sum.dim_IntList(v0, [-1], True): float32[na, 1]
v2 = exp(v0): float32[na, nb]
v3 = neg(v1): float32[na, 1]
return v2, v3, v0
"""
_SPLIT = (
    f"<think>\n{_ROWS}op: rows = na, cols = nb\nop: xa, xb -> v0, v2 -> y0\n"
    f"{_ROWS.replace('op:', 'op_2:')}op_2: rows = na, cols = nb\n"
)


def test_what_nobody_leaves_is_left_by_a_kernel_of_that_size() -> None:
    flow = "op_2: xa, xb -> v0, v1, v3 -> y1\n"
    advice = Guide(_TWO_SIZES).line(f"{_SPLIT}{flow}4.0 KB in, 1 KB out\n")
    assert not advice.keep
    assert advice.reason == "nothing leaves y2"
    after = _SPLIT.partition("-> y0\n")[2]
    assert advice.then == f"op: xa, xb -> v0, v2 -> y0, y2\n{after}{flow}"
    assert advice.lines == 5


@pytest.mark.parametrize(
    ("flow", "name"), [("xa, xb -> v0, v1, v2, v3", "v2"), ("xa, xb, xc -> v0, v1, v3", "xc")]
)
def test_nothing_is_computed_or_read_for_nothing(flow: str, name: str) -> None:
    asked = _TWO_SIZES.replace("where", "xc: float32[na, nb]\nwhere")
    advice = Guide(asked).line(f"{_SPLIT}op_2: {flow} -> y1\n")
    assert not advice.keep
    assert advice.reason == f"nothing that is left is made of {name}"
    assert advice.then == "op_2: xa, xb -> v0, v1, v3 -> y1\n"


def test_a_look_is_quoted_with_the_value_that_reads_it() -> None:
    asked = (
        "xa: float32[na, nb]\nxb: float32[na]\nv0 = unsqueeze(xb, 1): float32[na, 1]\n"
        "v1 = mul.Tensor(xa, v0): float32[na, nb]\nreturn v1\n"
    )
    said = f"<think>\n{_ROWS}op: rows = na, cols = nb\nop: xb, xa -> v0, v1 -> y\n</think>\n"
    begun = "import tile.language as tl\n\n\n@ascend_kernel\ndef op():\n    with tl.compute():\n"
    advice = Guide(asked).line(f"{said}{begun}        # v0 = unsqueeze(xb, 1): float32[na, 1]\n")
    assert advice.keep
    assert advice.then == "        # v1 = mul.Tensor(xa, v0): float32[na, nb]\n"


def test_a_launch_of_one_core_gives_tensors_by_their_names() -> None:
    intent = Intent({"op": Purpose(STREAM, reads=["xa", "xb"], leaves={"y0": None})})
    last = "    op[1](xa, xa, y0)"
    meaning = Meaning.read(_TWO_SIZES)
    right = intent.launch(last, "op", ["xa", "xb", "y0"], meaning)
    assert right == "    op[1](xa, xb, y0)"
    assert intent.launch(right, "op", ["xa", "xb", "y0"], meaning) is None
