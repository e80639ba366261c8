# SPDX-License-Identifier: Apache-2.0
"""Which sizes are chosen: alignment kept, sizes bounded, symbols' least extents respected."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.generate.cases import (
    all_smaller,
    choose,
    counter,
    fewer_rows,
    free_symbols,
    halved,
    shape_of,
)
from npuforge.spec.graph import Extent, Graph, Node, Ref, Result, Source, Symbol, TensorType


def graph_of(shape: tuple[int, ...], least: tuple[int, ...]) -> Graph:
    """`relu` of one tensor, every axis free."""
    names = tuple(f"s{axis}" for axis in range(len(shape)))
    kind = TensorType(shape, "float32", names)
    symbols = [Symbol(name, "x", axis, shape[axis], least[axis]) for axis, name in enumerate(names)]
    node = Node("y", "aten.relu.default", [], {}, [kind])
    source = Source("x", kind, "input", 0)
    return Graph("relu", [source], [node], [Result("y")], symbols)


axes = st.lists(
    st.tuples(st.integers(2, 400_000), st.integers(0, 4)).filter(lambda pair: pair[0] >= pair[1]),
    min_size=1,
    max_size=4,
)


@given(axes)
def test_cases_are_small_enough_and_never_below_the_least(pairs: list[tuple[int, int]]) -> None:
    graph = graph_of(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs))
    cases = choose(graph)
    count = counter(graph)
    assert cases[0].given
    assert len({case.seed for case in cases}) == len(cases)
    for sizes in (sizes for case in cases for sizes in case.options):
        assert count(sizes) <= 2_000_000
        for symbol in graph.symbols:
            assert sizes[symbol.name] >= symbol.least


def test_scaling_keeps_remainders_and_long_rows() -> None:
    graph = graph_of((4096, 393_219), (2, 2))
    first, evenly = (case.options[0] for case in choose(graph)[:2])
    assert first["s1"] % 128 == 393_219 % 128
    assert first["s1"] > 100_000
    assert evenly["s0"] >= 128
    assert evenly["s1"] % 128 == 393_219 % 128


def test_the_second_choice_keeps_the_order_of_sizes() -> None:
    graph = graph_of((5000, 5000, 300), (2, 2, 2))
    for case in choose(graph):
        if case.name != "least":
            sizes = case.options[1]
            assert sizes["s0"] == sizes["s1"] >= sizes["s2"]


def test_small_modules_are_proven_as_they_are() -> None:
    graph = graph_of((16, 100), (2, 2))
    cases = choose(graph)
    assert cases[0].name == "given"
    assert cases[0].options == ({"s0": 16, "s1": 100},)
    primes = next(case for case in cases if case.name == "primes").options[0].values()
    assert all(all(p % d for d in range(2, math.isqrt(p) + 1)) for p in primes)
    assert {case.values for case in cases} == {"own", "signed", "large", "special"}


def test_extents_that_are_multiples_are_solved() -> None:
    kind = TensorType((3, 48), "float32", ("3", "8*s1"))
    graph = Graph("g", [Source("x", kind, "input", 0)], [], [], [])
    (symbol,) = free_symbols(graph)
    assert symbol.example == 6
    assert shape_of(kind, {"s1": 5}) == (3, 40)
    assert fewer_rows(graph, None) == {"s1": 6}


def test_what_cannot_be_made_smaller_is_refused() -> None:
    kind = TensorType((1 << 20, 1 << 10), "float32", ("1048576", "1024"))
    graph = Graph("g", [Source("x", kind, "input", 0)], [], [], [])
    with pytest.raises(UsageError, match="1073741824 elements"):
        choose(graph)


def test_without_symbols_only_values_vary() -> None:
    kind = TensorType((3, 48), "float32", ("3", "48"))
    graph = Graph("g", [Source("x", kind, "input", 0)], [], [], [])
    assert [case.values for case in choose(graph)] == ["own", "signed", "large", "special"]


def split_graph(rows: int, cols: int, parts: int) -> Graph:
    """A view of `[s0, s1]` as `[s0, s1 // parts, parts]`, which only some sizes allow."""
    kind = TensorType((rows, cols), "float32", ("s0", "s1"))
    split = TensorType(
        (rows, cols // parts, parts), "float32", ("s0", f"(s1//{parts})", f"(s1//((s1//{parts})))")
    )
    extents: list[Extent | int] = [
        Extent("s0", rows),
        Extent(f"(s1//{parts})", cols // parts),
        parts,
    ]
    node = Node("y", "aten.view.default", [Ref("x"), [*extents]], {}, [split])
    symbols = [Symbol("s0", "x", 0, rows, 2), Symbol("s1", "x", 1, cols, 2 * parts)]
    return Graph("split", [Source("x", kind, "input", 0)], [node], [Result("y")], symbols)


@given(st.integers(2, 4000), st.integers(2, 500), st.integers(2, 12))
def test_sizes_are_those_that_a_view_can_split(rows: int, quotient: int, parts: int) -> None:
    graph = split_graph(rows, quotient * parts, parts)
    sizes = [each for case in choose(graph) for each in case.options]
    sizes += [fewer_rows(graph, 5000), all_smaller(graph, 5000)]
    half = halved(graph, fewer_rows(graph, None))
    sizes += [half] if half is not None else []
    for each in sizes:
        assert each["s1"] % parts == 0
        assert each["s1"] >= 2 * parts


def test_sizes_that_a_view_allows_stay_as_they_are() -> None:
    graph = split_graph(5000, 4096, 7)
    graph.nodes[0].args[1] = [Extent("s0", 5000), Extent("s1", 4096), 1]
    plain = graph_of((5000, 4096), (2, 14))
    assert [case.options for case in choose(graph)] == [case.options for case in choose(plain)]
