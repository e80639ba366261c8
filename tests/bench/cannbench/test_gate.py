# SPDX-License-Identifier: Apache-2.0
"""CANN Bench's accuracy gate and its check of places."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from npuforge.bench.suites.cannbench import pointing, protocol
from npuforge.bench.suites.cannbench.gate import judge

FLOATS = (torch.float16, torch.bfloat16, torch.float32)
# Numbers that every type holds, far from where small and cancelled values begin.
NORMAL = st.floats(0.25, 100.0) | st.floats(-100.0, -0.25)
ANY = st.floats(width=32) | st.floats(-1.0, 1.0)


def bound(dtype: torch.dtype) -> float:
    return protocol.load().bounds(str(dtype).removeprefix("torch.")).mean


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY, min_size=1, max_size=40), st.sampled_from(FLOATS))
def test_the_rounded_reference_itself_passes(values: list[float], dtype: torch.dtype) -> None:
    golden = torch.tensor(values, dtype=torch.float64)
    assert judge(golden.to(dtype), golden, lambda: golden.to(dtype)).passed


@settings(max_examples=60, deadline=None)
@given(
    st.lists(NORMAL, min_size=1, max_size=40),
    st.sampled_from(FLOATS),
    st.floats(1.5, 50.0),
    st.data(),
)
def test_an_error_beyond_ten_bounds_fails(
    values: list[float], dtype: torch.dtype, times: float, data: Any
) -> None:
    golden = torch.tensor(values, dtype=torch.float64)
    result = golden.to(dtype)
    place = data.draw(st.integers(0, len(values) - 1))
    result[place] *= 1.0 + times * 10.0 * bound(dtype)
    found = judge(result, golden, lambda: golden.to(dtype))
    assert not found.passed
    assert "off by more than" in found.message


@settings(max_examples=40, deadline=None)
@given(st.lists(ANY, min_size=1, max_size=40), st.sampled_from(FLOATS), st.data())
def test_not_a_number_in_another_place_fails(
    values: list[float], dtype: torch.dtype, data: Any
) -> None:
    golden = torch.tensor(values, dtype=torch.float64)
    result = golden.to(dtype)
    place = data.draw(st.integers(0, len(values) - 1))
    result[place] = 1.0 if result[place].isnan() else math.nan
    assert not judge(result, golden, lambda: golden.to(dtype)).passed


def test_the_mean_is_held_to_the_bound_itself() -> None:
    golden = torch.full((1000,), 2.0, dtype=torch.float64)
    off = torch.full((1000,), 2.0 * (1 + 2 * bound(torch.float32)), dtype=torch.float32)
    # Nothing is beyond ten bounds, so that no region has an error: the published rule lets it pass.
    assert judge(off, golden).passed
    assert (judge(off, golden).mean or 0.0) > bound(torch.float32)


def test_small_values_are_judged_by_their_number_of_errors() -> None:
    golden = torch.full((100,), 1e-6, dtype=torch.float64)
    result = golden.to(torch.float32)
    result[:2] = 2e-6
    assert judge(result, golden).passed, "two errors where the reference has none"
    result[:3] = 2e-6
    assert not judge(result, golden).passed
    native = golden.to(torch.float32)
    native[10:12] = 3e-6
    assert judge(result, golden, lambda: native).passed, "the reference has two of its own"


def test_cancelled_values_are_judged_by_their_number_of_errors() -> None:
    golden = torch.full((100,), 1e-3, dtype=torch.float64)
    result = golden.to(torch.float32)
    result[:2] = 0.0
    assert judge(result, golden).passed
    result[:3] = 0.0
    assert not judge(result, golden).passed


def test_deep_sums_may_be_off_twice_as_often_as_the_reference_in_the_same_precision() -> None:
    golden = torch.full((100,), 4.0, dtype=torch.float64)
    result, native = golden.to(torch.float32), golden.to(torch.float32)
    result[:4], native[:2] = 4.1, 4.1
    assert judge(result, golden, lambda: native).passed
    native[1] = 4.0
    assert not judge(result, golden, lambda: native).passed


def test_saturation_counts_as_the_largest_number() -> None:
    golden = torch.tensor([65519.0, 1.0], dtype=torch.float64)
    assert judge(torch.tensor([math.inf, 1.0], dtype=torch.float16), golden).passed
    golden[0] = 30000.0
    assert not judge(torch.tensor([math.inf, 1.0], dtype=torch.float16), golden).passed
    endless = torch.tensor([-math.inf], dtype=torch.float64)
    assert not judge(torch.tensor([math.inf]), endless).passed


def test_whole_numbers_are_exact_unless_the_operator_allows_more() -> None:
    golden = torch.tensor([1, -3, 7], dtype=torch.int8)
    result = golden.clone()
    assert judge(result, golden).passed
    result[2] = 8
    assert not judge(result, golden).passed
    assert judge(result, golden, thresholds={"int8": 1.0}).passed


def test_a_bound_of_zero_compares_bits() -> None:
    golden = torch.tensor([0.0, math.nan], dtype=torch.float64)
    assert judge(golden.float(), golden, thresholds={"float32": 0.0}).passed
    assert not judge(torch.tensor([-0.0, math.nan]), golden, thresholds={"float32": 0.0}).passed


def test_wrong_shapes_and_views_are_no_matter_of_numbers() -> None:
    golden = torch.ones(4, 3, dtype=torch.float64)
    for result in (torch.ones(3, 4), torch.ones(3, 4).t()):
        found = judge(result, golden)
        assert not found.passed
        assert found.structural


def test_large_tensors_are_judged_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    golden = torch.linspace(1.0, 2.0, 1001, dtype=torch.float64)
    result = golden.float()
    result[900] = 3.0
    whole = judge(result, golden)
    monkeypatch.setattr("npuforge.bench.suites.cannbench.gate._PIECE", 64)
    pieces = judge(result, golden)
    assert (
        (whole.passed, whole.largest) == (pieces.passed, pieces.largest) == (False, whole.largest)
    )


ARGMAX = [
    {"name": "places", "index_gather": {"input": "x", "dim_attr": "dim", "value_reduce": "amax"}}
]


def test_places_may_fall_on_any_of_several_equal_values() -> None:
    x = torch.tensor([[1.0, 5.0, 5.0], [2.0, 0.0, 1.0]])
    for places in ([1, 0], [2, 0]):
        assert pointing.problem(ARGMAX, {"x": x}, {"dim": 1}, [torch.tensor(places)]) is None
    wrong = pointing.problem(ARGMAX, {"x": x}, {"dim": 1}, [torch.tensor([0, 0])])
    assert wrong == "places: 1 of 2 places point to another value"
    outside = pointing.problem(ARGMAX, {"x": x}, {"dim": 1}, [torch.tensor([3, 0])])
    assert outside == "places: it points outside of the input"


def test_places_belong_to_the_values_of_another_output() -> None:
    rule = {"input": "x", "dim_attr": "dim", "value_output": "y"}
    outputs: list[dict[str, Any]] = [{"name": "y"}, {"name": "places", "index_gather": rule}]
    x = torch.tensor([3.0, math.nan, 1.0])
    good = [torch.tensor([math.nan, 3.0]), torch.tensor([1, 0])]
    assert pointing.problem(outputs, {"x": x}, {"dim": 0}, good) is None
    swapped = [good[0], torch.tensor([0, 1])]
    assert pointing.problem(outputs, {"x": x}, {"dim": 0}, swapped) is not None
