# SPDX-License-Identifier: Apache-2.0
"""Rare operations in the words of common ones."""

from __future__ import annotations

from npuforge.generate.lm.prompt.common_operations import spelled
from npuforge.generate.lm.prompt.order import ordered
from npuforge.spec.graph import Graph, Node, Ref, Result, Source, TensorType

_TYPE = TensorType((4, 8), "float32", ("4", "8"))
_ONE = TensorType((1,), "float32", ("1",))


def _graph(*nodes: Node, result: str) -> Graph:
    return Graph(
        name="op",
        sources=[
            Source("x", _TYPE, "input", 0),
            Source("low", _ONE, "input", 1),
            Source("high", _ONE, "input", 2),
        ],
        nodes=list(nodes),
        results=[Result(result)],
        symbols=[],
    )


def _node(name: str, op: str, *args: Ref | float | None, kind: TensorType = _TYPE) -> Node:
    return Node(name, f"aten.{op}", list(args), {}, [kind])


def test_a_number_is_an_operand_like_others() -> None:
    graph = spelled(_graph(_node("y", "mul.Scalar", Ref("x"), 0.5), result="y"))
    assert [(one.op, one.args) for one in graph.nodes] == [("aten.mul.Tensor", [Ref("x"), 0.5])]


def test_what_is_held_between_two_is_a_maximum_and_a_minimum() -> None:
    held = _node("y", "clamp.Tensor", Ref("x"), Ref("low"), Ref("high"))
    low, high = spelled(_graph(held, result="y")).nodes
    assert (low.op, low.args) == ("aten.maximum.default", [Ref("x"), Ref("low")])
    assert (high.op, high.args) == ("aten.minimum.default", [Ref(low.name), Ref("high")])
    assert high.name == "y"


def test_bounds_that_are_larger_or_missing_stay_as_they_are() -> None:
    spread = _node("y", "clamp.Tensor", Ref("low"), Ref("x"), Ref("high"))
    missing = _node("y", "clamp.Tensor", Ref("x"), None, Ref("high"))
    for node in (spread, missing):
        assert spelled(_graph(node, result="y")).nodes == [node]


def test_a_copy_of_a_value_that_is_asked_for_is_that_value() -> None:
    graph = ordered(
        _graph(
            _node("v", "exp.default", Ref("x")), _node("y", "clone.default", Ref("v")), result="y"
        )
    )
    assert [one.name for one in graph.nodes] == ["v"]
    assert graph.results == [Result("v")]


def test_a_copy_of_a_tensor_stays() -> None:
    graph = ordered(_graph(_node("y", "clone.default", Ref("x")), result="y"))
    assert [one.name for one in graph.nodes] == ["y"]
