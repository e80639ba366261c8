# SPDX-License-Identifier: Apache-2.0
"""Short numbers in questions, the module's own in programs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.generate.lm.written import program_for

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.prompt.canonical import canonical, prompt_text
from npuforge.generate.lm.prompt.numbers import put_back, stand_ins
from npuforge.spec.graph import Graph, Node
from npuforge.train.judge import Bench

_MODULE = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.clamp(x * -0.6931471805599453 + 0.6931, -3.0, 1.5707963267948966) + 1.00000001

def get_inputs():
    return [torch.randn(64, 200)]

def get_init_inputs():
    return []
"""


def _graph(numbers: list[float]) -> Graph:
    nodes = [Node(f"a{n}", "aten.mul.Tensor", [number], {}, []) for n, number in enumerate(numbers)]
    return Graph(name="op", sources=[], nodes=nodes, results=[], symbols=[])


@given(st.lists(st.floats(-1e7, 1e7, allow_nan=False), max_size=12))
def test_a_long_number_has_a_short_one_of_its_own(numbers: list[float]) -> None:
    found = stand_ins(_graph(numbers))
    assert len(set(found.values())) == len(found)
    assert not set(found.values()) & {abs(number) for number in numbers if abs(number) not in found}
    for number, short in found.items():
        assert abs(number - short) < 0.01
        assert len(repr(short).partition(".")[2]) == 4


@pytest.mark.parametrize("number", [0.0, 0.5, 0.044, 1e-05, 3.4028234663852886e38, 255.0, 0.0001])
def test_a_short_number_stays(number: float) -> None:
    assert stand_ins(_graph([number])) == {}


def test_numbers_are_put_back_where_they_are_numbers() -> None:
    text = '# 0.6931\ntl.mul(v1[:m], v0[:m], -0.6931)\ntl.add(x, x, 10.6931, "0.6931")\n'
    own = put_back(text, {0.6931471805599453: 0.6931})
    assert own == text.replace("-0.6931)", "-0.6931471805599453)")


def test_a_program_of_short_numbers_is_right_for_the_module() -> None:
    with LiveModule.of_text(_MODULE, "op") as module:
        bench = Bench(module)
        asked = prompt_text(bench.canonical)
        assert "0.6931471805599453" not in asked
        assert "-0.6932" in asked  # the other is a number of the module itself
        assert "1.5708" in asked
        assert "1.0001" in asked
        program = program_for(bench.canonical)
        assert "0.6931471805599453" not in program
        assert bench.judge_program(program).correct
        assert canonical(module.graph)[1].numbers[0.6931471805599453] == 0.6932
