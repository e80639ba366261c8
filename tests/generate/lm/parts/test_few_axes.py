# SPDX-License-Identifier: Apache-2.0
"""Parts in as few axes as they need compute what they were parts of."""

from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.generate.lm.parts.computed import agree, captured

from npuforge.generate.lm.parts.few_axes import in_few_axes
from npuforge.generate.lm.parts.pieces import pieces
from npuforge.generate.lm.question.task import task_text
from npuforge.spec.graph import Graph

Function = Callable[..., torch.Tensor]


def _said(graph: Graph) -> list[str]:
    """The question without the sizes of the example."""
    return [line for line in task_text(graph).splitlines() if not line.startswith("where")]


def _axis(rank: int) -> st.SearchStrategy[int]:
    return st.integers(0, rank - 1)


@st.composite
def _functions(draw: st.DrawFn) -> Function:
    """A few operations on tensors of three axes, of which any may have one element."""
    first, second, third = draw(_axis(3)), draw(_axis(3)), draw(_axis(3))
    turn = draw(st.permutations(range(3)))

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = (x * y).permute(turn)
        folded = z.sum(first, keepdim=True)
        spread = z - folded * z.mean((second,), keepdim=True)
        joined = torch.cat([spread, spread.exp(), z], third)
        return joined.select(third, 1) + spread.amax(third)

    return function


@settings(max_examples=12, deadline=None)  # each is a capture, which takes a second
@given(_functions(), st.tuples(*[st.sampled_from([1, 2, 5])] * 3))
def test_what_parts_compute_is_what_the_whole_does(
    function: Function, broadcast: tuple[int, ...]
) -> None:
    shape = (4, 3, 5)
    other = tuple(n if one > 1 else 1 for one, n in zip(broadcast, shape, strict=True))
    graph = captured(function, shape, other)
    agree(graph, pieces(graph))


def test_axes_that_nothing_tells_apart_are_one() -> None:
    small = in_few_axes(captured(lambda x, y: x * y, (2, 3, 4, 5), (2, 3, 1, 1)))
    assert [source.type.shape for source in small.sources] == [(6, 20), (6, 1)]
    assert small.nodes[-1].type.shape == (6, 20)


def test_a_part_of_one_element_is_selected() -> None:
    small = in_few_axes(captured(lambda x: x[:, 1:2], (4, 3, 5)))
    assert small.nodes[0].word == "select.int"
    assert small.nodes[0].args[1:] == [1, 1]
    assert small.nodes[0].type.shape == (4, 5)


def test_what_is_joined_keeps_its_axis() -> None:
    graph = captured(lambda x, y: torch.cat([x, y], 1), (4, 2), (4, 1))
    assert in_few_axes(graph) == graph


def test_rows_and_columns_of_one_range_stay_apart() -> None:
    graph = captured(lambda x: x * (torch.arange(7)[:, None] == torch.arange(7)), (7, 7))
    small = in_few_axes(graph)
    assert [node.type.shape for node in small.nodes][-1] == (7, 7)


def test_an_operation_that_is_not_known_is_left_alone() -> None:
    graph = captured(lambda x: torch.nn.functional.max_pool2d(x, 2), (1, 3, 8, 8))
    assert in_few_axes(graph) == graph
    assert _said(graph) == _said(in_few_axes(graph))
