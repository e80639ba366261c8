# SPDX-License-Identifier: Apache-2.0
"""A tensor that is read along several axes is several to a part, and computes the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.generate.lm.parts.computed import agree, captured

from npuforge.generate.lm.parts.pieces import pieces
from npuforge.generate.lm.parts.read_apart import read_apart

Function = Callable[[torch.Tensor], torch.Tensor]

_APART: dict[str, tuple[Function, tuple[int, ...]]] = {
    "rows and columns": (lambda x: (x[:, None] - x).abs().sum(-1), (7,)),
    "of each": (lambda x: (x[:, None, :] * x[:, :, None]).sum(-1), (3, 7)),
    "one is computed": (lambda x: torch.exp(x)[:, None] <= torch.exp(x), (7,)),
    "a fixed range": (lambda x: x * torch.eye(9), (9, 9)),
    "three ways": (lambda x: x[:, None, None] + x[:, None] * x, (5,)),
}


@pytest.mark.parametrize("name", _APART)
def test_what_is_read_apart_computes_what_the_whole_does(name: str) -> None:
    function, shape = _APART[name]
    graph = captured(function, shape)
    parts = pieces(graph, (1,))
    assert any(len(set(part.tensors.values())) < len(part.tensors) for part in parts), (
        "a tensor is several"
    )
    agree(graph, parts)


def test_its_extents_are_those_of_the_one_that_it_was() -> None:
    graph = captured(lambda x: x[:, None, :] * x[:, :, None], (3, 7))
    apart = read_apart(graph)
    first, second = apart.graph.sources
    assert apart.was == {second.name: graph.sources[0]}
    assert (first.type.extents, second.type.extents) == (("na", "nb"), ("na", "xa_2_1"))
    assert apart.graph.nodes[-1].type.extents == ("na", "xa_2_1", "nb")
    assert apart.extents_of_whole(second.type) == ("na", "nb")


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x * x.sum(-1, keepdim=True), (4, 5)),
        (lambda x: (x[:, None] - x) + torch.cat([x, x], 0)[:7], (7,)),
        (lambda x: x.unsqueeze(1) * 2.0, (7,)),
        (lambda x: (x[:, None] - x) * x.sum(), (7,)),
    ],
    ids=["a fold", "a join", "one way", "another fold"],
)
def test_what_is_not_element_by_element_stays(function: Function, shape: tuple[int, ...]) -> None:
    graph = captured(function, shape)
    assert read_apart(graph).graph == graph
