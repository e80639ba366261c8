# SPDX-License-Identifier: Apache-2.0
"""What is seldom taught is not refused: programs of the planner's, with their outlines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import torch
from tests.generate.lm.taught import advised, applied, written

from npuforge.generate.lm.guide.facts.counted import in_primes, product
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.outline import Outline

Function = Callable[..., torch.Tensor]


def _whole(*shape: int) -> torch.Tensor:
    return torch.randint(1, 9, shape, dtype=torch.int32)


_NUMBERS = "4.0 KB in, 1 KB out\n</think>\n"
_FUNCTIONS: dict[str, tuple[Function, list[torch.Tensor]]] = {
    "the largest in fewer digits": (
        lambda x: torch.topk(torch.exp(x) * 2, 3).values.abs() * 2,
        [torch.rand(30, 40).half()],
    ),
    "numbers alone": (lambda x: torch.arange(512) // 4 + x[:1].int(), [torch.rand(3)]),
    "bits": (lambda x, y: (x ^ (y << 3)) & (x | y), [_whole(30, 70), _whole(30, 70)]),
    "bits of bytes": (
        lambda x, y: (x << 4 >> 4) ^ (y >> 4),
        [_whole(30, 70).to(torch.int8), _whole(30, 70).to(torch.int8)],
    ),
    "before the first": (
        lambda x: torch.diff(x, dim=-1, prepend=torch.zeros_like(x[:, :1])),
        [_whole(30, 70)],
    ),
    "remainders": (torch.remainder, [_whole(30, 70), _whole(30, 70)]),
    "repeated": (lambda x: x.repeat(3, 1), [_whole(30, 70)]),
    "parts of parts": (lambda x: x[:, ::2, ::2], [_whole(6, 30, 70)]),
    "from the end": (lambda x: x[:, -3:], [torch.rand(300, 70)]),
    "pooled": (
        lambda x: torch.nn.functional.max_pool2d(x, 2).exp().bfloat16(),
        [torch.rand(2, 3, 16, 18)],
    ),
    "larger": (
        lambda x: torch.nn.functional.interpolate(x * 2, scale_factor=3.0).abs() + 1,
        [torch.rand(1, 4, 6, 7)],
    ),
    "sorted": (lambda x: torch.argsort(x, dim=-1, stable=True), [_whole(30, 70)]),
    "nothing but a number": (lambda x: torch.full_like(x, 0.5) * 3 + 1, [torch.rand(30, 70)]),
    "running": (lambda x: torch.cummax(x, -1).values * 2, [torch.rand(30, 70)]),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_the_planners_program_stands(name: str) -> None:
    function, inputs = _FUNCTIONS[name]
    asked, _, program = given = written(applied(function, len(inputs)), *inputs)
    said = given.outline
    thought = f"<think>\n{said}"
    guide = Guide(asked)
    for count in range(1, said.count("\n") + 1):
        lines = "".join(said.splitlines(keepends=True)[:count])
        advice = guide.line(f"<think>\n{lines}")
        assert advice.keep, (lines, advice.reason)
    for before, _, advice in advised(guide, f"{thought}{_NUMBERS}", program):
        assert advice.keep, (before[-300:], advice.reason)


def test_counts_agree_in_their_factors() -> None:
    nine, three = product("9 * na"), product("3 * na * 3")
    assert nine is not None
    assert three is not None
    assert nine != three
    assert in_primes(nine) == in_primes(three) == Counter({"3": 2, "na": 1})


def test_a_room_that_nobody_leaves_is_still_missed() -> None:
    asked = "xa: float32[na, nb]\nv0 = sort(xa): float32[na, nb] int64[na, nb]\nreturn v0\n"
    line = "op_kernel: x = {}, values = w1: float32[na, nb], places = w2: int64[na, nb]"
    meaning = Meaning.read(asked)
    for room, said in (("xa", None), ("w0", "nothing leaves w0")):
        last = line.format(room)
        assert Outline.read(f"<think>\n{last}\n").thought(last, meaning) == said
