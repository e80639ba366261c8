# SPDX-License-Identifier: Apache-2.0
"""Tensors put side by side."""

from __future__ import annotations

import pytest
import torch
from tests.plan.graphs import OneOperation


def noise(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return (torch.randn(shape, generator=generator) * 9).to(dtype)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cat(axis: int) -> None:
    shape = [f"a{place}" for place in range(3)]
    shape[axis] = f"a{axis % 3} + b{axis % 3} + c{axis % 3}"
    same = {
        f"{letter}{place}": f"a{place}"
        for letter in "bc"
        for place in range(3)
        if place != axis % 3
    }
    program = OneOperation("aten.cat.default", [["a", "b", "c"], axis], [shape], same)

    def parts(shape: tuple[int, int, int], extents: tuple[int, int, int]) -> list[torch.Tensor]:
        found = []
        for extent in extents:
            own = list(shape)
            own[axis] = extent
            found.append(noise(*own))
        return found

    program.agree(
        parts((3, 5, 7), (2, 9, 1)),
        parts((60, 3, 40), (33, 2, 100)),
        parts((1, 1, 1), (5000, 1, 3)),
    )


def test_cat_of_many_and_of_other_types() -> None:
    letters = list("abcdefgh")
    wide = OneOperation(
        "aten.cat.default",
        [[*letters, "a", "b"], 0],
        [["2*a0 + 2*b0 + c0 + d0 + e0 + f0 + g0 + h0"]],
    )
    for dtype in (torch.int64, torch.bool):
        wide.agree([noise(place + 1, dtype=dtype) for place in range(8)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_pad(dtype: torch.dtype) -> None:
    shape = ["a0", "a1 + 1", "a2 + 5"]
    program = OneOperation("aten.constant_pad_nd.default", ["a", [2, 3, 2, -1], 7.0], [shape])
    program.agree([noise(3, 4, 5, dtype=dtype)], [noise(70, 2, 300, dtype=dtype)])


@pytest.mark.parametrize(("shifts", "axes"), [([3], [1]), ([-2, 5], [0, 2]), ([4], [])])
def test_roll(shifts: list[int], axes: list[int]) -> None:
    program = OneOperation("aten.roll.default", ["a", shifts, axes], [["a0", "a1", "a2"]])
    program.agree([noise(3, 4, 5)], [noise(2, 2, 100)])


def test_overwritten_slices() -> None:
    program = OneOperation(
        "aten.slice_scatter.default", ["a", "b", 1, 2, 5], [["a0", "a1"]], {"b0": "a0"}
    )
    program.agree([noise(3, 9), noise(3, 3)], [noise(100, 50), noise(100, 3)])
    program = OneOperation(
        "aten.select_scatter.default",
        ["a", "b", 1, -2],
        [["a0", "a1", "a2"]],
        {"b0": "a0", "b1": "a2"},
    )
    program.agree([noise(3, 9, 5), noise(3, 5)], [noise(2, 4, 70), noise(2, 70)])


def test_repeat() -> None:
    program = OneOperation("aten.repeat.default", ["a", [2, 3, 2]], [["2", "3*a0", "2*a1"]])
    program.agree([noise(4, 5)], [noise(2, 130)])
