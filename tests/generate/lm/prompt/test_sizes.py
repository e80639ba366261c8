# SPDX-License-Identifier: Apache-2.0
"""Sizes that a module fixes, in questions and in the programs that answer them."""

from __future__ import annotations

import re

import pytest
from tests.generate.lm.written import program_for

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.prompt.canonical import prompt_text
from npuforge.train.judge import Bench

_MODULE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(48))

    def forward(self, x):
        {body}

def get_inputs():
    return [torch.randn(37, 48)]

def get_init_inputs():
    return []
"""
_FREE = (
    "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight",
    "return nn.functional.layer_norm(x, (48,), self.weight)",
    "return torch.where(torch.arange(48) < 20, x, self.weight)",
)
_BOUND = (
    "return (x * self.weight).view(-1, 6, 8).sum(-1)",
    "return torch.cat([x * self.weight, x], dim=-1)",
    "return x.repeat(1, 2)[:, 3:51] * self.weight",
    "return torch.cat([x[:, :24], x[:, :24]], dim=-1) + self.weight",
)


@pytest.mark.parametrize("body", _FREE)
def test_a_program_for_any_size_is_right_for_the_module(body: str) -> None:
    with LiveModule.of_text(_MODULE.format(body=body), "op") as module:
        bench = Bench(module)
        asked = prompt_text(bench.canonical)
        assert re.search(r"^xa: float32\[n[ab]\]$", asked, re.MULTILINE)
        assert "48" not in asked.replace("=48", "")
        program = program_for(bench.canonical)
        judged = bench.judge_program(program)
        assert judged.correct, judged.problem


@pytest.mark.parametrize("body", _BOUND)
def test_sizes_that_follow_from_one_another_stay_numbers(body: str) -> None:
    with LiveModule.of_text(_MODULE.format(body=body), "op") as module:
        asked = prompt_text(Bench(module).canonical)
    assert "xa: float32[48]" in asked
