# SPDX-License-Identifier: Apache-2.0
"""The compiler's word on lines as they are written."""

from __future__ import annotations

import re

import pytest
import torch
from tests.generate.lm.taught import Loss, Norm, Written, advised, written

from npuforge.generate.lm.form.asked import Asked
from npuforge.generate.lm.guide.guide import Guide

_THOUGHT = "<think>\n4.0 KB in\n</think>\n"


class _Both(torch.nn.Module):
    """Two results of different types, one of them an index."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = x.half().max(-1)
        return found.values, found.indices


class _Update(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.mul_(0.9).add_(y, alpha=0.1)


class _Passed(torch.nn.Module):
    """A result that is an argument."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.log_softmax(x, -1), x


_MODULES: dict[str, tuple[torch.nn.Module, list[torch.Tensor]]] = {
    "norm": (Norm(), [torch.randn(7, 40), torch.ones(40)]),
    "loss": (Loss(), [torch.randn(512, 1000), torch.randn(512, 1000)]),
    "both": (_Both(), [torch.randn(33, 65)]),
    "passed": (_Passed(), [torch.randn(8, 2048)]),
    "update": (_Update(), [torch.randn(4000), torch.randn(4000)]),
}


def _written(name: str) -> Written:
    module, inputs = _MODULES[name]
    return written(module, *inputs)


@pytest.fixture(scope="module", params=list(_MODULES))
def one(request: pytest.FixtureRequest) -> Written:
    return _written(request.param)


@pytest.fixture(scope="module")
def norm() -> Written:
    return _written("norm")


def test_right_programs_stand_line_by_line(one: Written) -> None:
    guide = Guide(one.asked)
    asked = 0
    for before, after, advice in advised(guide, _THOUGHT, one.taught):
        asked += 1
        assert advice.keep, (before[-200:], advice.reason)
        assert after.startswith(advice.then)
    assert asked > 20
    assert guide.end(_THOUGHT + one.taught).keep


def test_the_head_and_the_shapes_are_given(norm: Written) -> None:
    before, _, after = (_THOUGHT + norm.taught).partition("def op_host(\n")
    given = Guide(norm.asked).line(f"{before}def op_host(\n").then
    assert "    y: tl.output(tl.float32, (xa.shape[0], xa.shape[1],)),\n):\n" in given
    assert '    tl.require(xb.shape[0] == nb, "xb has shape (nb)")\n' in given
    assert after.startswith(given)


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("tl.relu(v0[:n, :], xa_in[:n, :])", "tl.relu(v0[:n, :], xc_in[:n, :])", "'xc_in'"),
        ("tl.relu(v0[:n, :], xa_in[:n, :])", "tl.relu(v0[:n, :]], xa_in[:n, :])", "not Python"),
        ("tl.relu(v0[:n, :], xa_in[:n, :])", "tl.relux(v0[:n, :], xa_in[:n, :])", "tl.relux"),
        ("tl.relu(v0[:n, :], xa_in[:n, :])", "tl.relu(v0[:n, :], v0[:n])", "TL-"),
        ("tl.relu(v0[:n, :], xa_in[:n, :])", "tl.store(y, v0[:n, :])", "TL-06"),
        (
            "tl.relu(v0[:n, :], xa_in[:n, :])",
            'tl.cast(v0[:n, :], xa_in[:n, :], round="rint")',
            "a cast of float32 to itself",
        ),
    ],
)
def test_lines_that_cannot_stand(norm: Written, right: str, wrong: str, reason: str) -> None:
    before, found, _ = norm.taught.partition(right)
    assert found
    guide = Guide(norm.asked)
    assert guide.line(f"{_THOUGHT}{before}{right}\n").keep
    advice = guide.line(f"{_THOUGHT}{before}{wrong}\n")
    assert not advice.keep
    assert reason in advice.reason


def test_a_quote_is_what_was_asked(norm: Written) -> None:
    before, quote, _ = norm.taught.partition("# v0 = relu(xa): float32[na, nb]\n")
    assert quote
    guide = Guide(norm.asked)
    advice = guide.line(f"{_THOUGHT}{before}# v0 = exp(xb): float32[nb]\n")
    assert not advice.keep
    assert advice.then.strip() == quote.strip()
    assert not guide.line(f"{_THOUGHT}{before}# v99 = exp(xb): float32[nb]\n").keep


def test_a_program_ends_when_it_is_one(norm: Written) -> None:
    before, launch, _ = norm.taught.rpartition("    op[")
    assert launch
    advice = Guide(norm.asked).end(_THOUGHT + before)
    assert not advice.keep
    assert "never launched" in advice.reason


def test_a_kernel_that_leaves_nothing_does_not_end(norm: Written) -> None:
    before, store, _ = norm.taught.partition("        with tl.copyout():\n")
    assert store
    assert not Guide(norm.asked).line(f"{_THOUGHT}{before}\n").keep


def test_thoughts_come_to_an_end() -> None:
    guide = Guide("xa: float32[na]\nv0 = exp(xa): float32[na]\nreturn v0\n")
    assert guide.line("<think>\n1 KB in, 1 KB out\n").keep
    assert guide.line("<think>\n    tl.exp(\n").then.startswith("</think>\nimport ")
    assert not guide.line("<think>\n" + "again\n" * 100).keep


_KERNEL = "import tile.language as tl\n\n\n@ascend_kernel\n"


@pytest.mark.parametrize(
    "text",
    [
        "def op(:\n    first = 1\n",
        "def op():\n    first = 1\n\n\n    second = 2\n",
        "def op():\n    first = ((((\n",
        "def op():\n\tfirst = 1\n",
        "class op:\n    pass\n",
        "    first = 1\n",
    ],
)
def test_texts_that_are_no_programs_are_only_refused(norm: Written, text: str) -> None:
    guide = Guide(norm.asked)
    said = [advice.keep for _, _, advice in advised(guide, _THOUGHT + _KERNEL, text)]
    assert not all(said[1:])
    assert not guide.end(_THOUGHT + text).keep


def test_a_question_about_elements_the_language_lacks_gives_no_head() -> None:
    guide = Guide("xa: complex64[na]\nv0 = exp(xa): complex64[na]\nreturn v0\n")
    before = f"{_THOUGHT}{_KERNEL}def op():\n    tl.store(y, z)\n"
    assert guide.line(f"{before}\n\ndef op_host(\n").then == ""


def test_the_head_has_extents_by_name_and_no_tensor_that_does_not_matter() -> None:
    asked = (
        "xa: float32[nb]\nxb: float32[nd]\nxc: float32[nc]\nxd: float32[na, nb, nc]\n"
        "where na=2, nb=4, nc=8, nd=5\nv0 = mul.Tensor(xd, xc): float32[na, nb, nc]\nreturn v0\n"
    )
    head = Asked.read(asked).head
    assert head is not None
    taken = re.findall(r"^    (\w+): tl", head, re.MULTILINE)
    assert taken == ["xa", "xc", "xd", "y"]  # nb is an extent of xa first
    extents = re.findall(r"^    (n\w = .*)$", head, re.MULTILINE)
    assert extents == ["na = xd.shape[0]", "nb = xa.shape[0]", "nc = xc.shape[0]"]


def test_what_follows_from_the_shapes_is_given_whenever_the_host_begins(norm: Written) -> None:
    head, _, body = norm.taught.partition("\n):\n")
    given = Guide(norm.asked).line(f"{_THOUGHT}{head}\n):\n").then
    assert "    na = xa.shape[0]\n" in given
    assert body.startswith(given)
