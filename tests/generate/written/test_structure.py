# SPDX-License-Identifier: Apache-2.0
"""Examples of like structure come first; the host function's head follows from the graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.plan.modules import captured, module_of

from npuforge.errors import UsageError
from npuforge.generate.written.signature import signature_of
from npuforge.generate.written.structure import examples_like, structures
from npuforge.plan.planner import plan
from npuforge.tile import read_program, texts


@pytest.mark.parametrize(
    ("function", "shape", "first"),
    [
        (lambda x: torch.nn.functional.gelu(x) * 2, (8, 32), "gelu"),
        (lambda x: torch.softmax(x, -1), (8, 32), "softmax"),
        (lambda x: x.sum(), (8, 32), "sum_all"),
        (lambda x: x.amax(0), (8, 32), "max_of_columns"),
        (lambda x: torch.nn.functional.layer_norm(x, (32,)), (8, 32), "layer_norm"),
        (lambda x: torch.cumsum(x, -1), (8, 32), "cumsum"),
        (lambda x: torch.nn.functional.max_pool2d(x, 2), (2, 3, 8, 8), "max_pool2d"),
        (lambda x: torch.topk(x, 3), (8, 32), "topk"),
        (lambda x: torch.where(x > 0, x, -1.0), (8, 32), "masked_fill"),
    ],
)
def test_the_example_that_is_most_alike(
    function: Callable[..., Any], shape: tuple[int, ...], first: str
) -> None:
    graph = captured(module_of(function), [torch.randn(shape)])
    assert examples_like(graph, 3)[0] == first, structures(graph)


def test_every_example_has_its_structures() -> None:
    graph = captured(module_of(lambda x: x + 1), [torch.randn(4)])
    assert set(examples_like(graph, 99)) == set(texts.examples())
    assert "## Operations" in texts.reference()


def test_the_head_is_what_the_planner_writes_too() -> None:
    graph = captured(module_of(lambda x, w: (x * w).sum(-1)), [torch.randn(6, 8), torch.randn(8)])
    signature = signature_of(graph)
    program = plan(graph, most=1).variants[0].program
    assert list(signature.departures(read_program(program).host)) == []
    assert "x: tl.input(tl.float32)" in signature.text()
    assert "y: tl.output(tl.float32, (x.shape[0],))" in signature.text()
    renamed = read_program(re.sub(r"\bw\b", "scale", program))
    assert [text for text in signature.departures(renamed.host) if " w" in text]


def test_elements_that_kernels_lack() -> None:
    graph = captured(module_of(lambda x: x + 1), [torch.ones(4, dtype=torch.complex64)])
    with pytest.raises(UsageError, match="complex64"):
        signature_of(graph)
