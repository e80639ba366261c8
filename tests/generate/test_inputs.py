# SPDX-License-Identifier: Apache-2.0
"""A module's own inputs in other sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from npuforge.generate import inputs


def made(
    get_inputs: Callable[[], list[Any]], shapes: dict[int, tuple[int, ...]], numbers: dict[int, int]
) -> tuple[list[Any], str | None]:
    return inputs.InputMaker(get_inputs).make(shapes, numbers, 0)


def test_distribution_and_bounds_follow_the_sizes() -> None:
    def get_inputs() -> list[Any]:
        rows, columns = 3000, 4000
        return [
            torch.rand(rows, columns),
            torch.randint(0, columns, (rows, 1200)),
            torch.rand(rows, 1200) > 0.5,
            torch.rand(rows, columns).softmax(-1),
            2.5,
        ]

    shapes: dict[int, tuple[int, ...]] = {0: (5, 7), 1: (5, 11), 2: (5, 11), 3: (5, 7)}
    found, note = made(get_inputs, shapes, {3000: 5, 4000: 7, 1200: 11})
    assert note is None
    assert [tuple(value.shape) for value in found[:4]] == list(shapes.values())
    assert 0 <= float(found[0].min()) <= float(found[0].max()) < 1
    assert int(found[1].max()) < 7
    assert found[2].dtype == torch.bool
    torch.testing.assert_close(found[3].sum(-1), torch.ones(5))
    assert found[4] == 2.5


def test_a_transposed_input_keeps_its_strides() -> None:
    found, note = made(lambda: [torch.randn(64, 32).t()], {0: (5, 3)}, {64: 3, 32: 5})
    assert note is None
    assert tuple(found[0].shape) == (5, 3)
    assert not found[0].is_contiguous()


def test_other_makers_of_tensors() -> None:
    def get_inputs() -> list[Any]:
        return [
            torch.arange(2, 66),
            torch.full((64, 2), 3.0),
            torch.randperm(64),
            torch.ones(64).expand(8, 64),
            torch.normal(5.0, 0.1, (64, 8)),
        ]

    shapes: dict[int, tuple[int, ...]] = {0: (9,), 1: (9, 2), 2: (9,), 3: (3, 9), 4: (9, 3)}
    found, note = made(get_inputs, shapes, {64: 9, 8: 3})
    assert note is None
    assert found[0].tolist() == list(range(2, 11))
    assert sorted(found[2].tolist()) == list(range(9))
    assert 4 < float(found[4].mean()) < 6


def test_what_cannot_be_resized_is_invented_and_said() -> None:
    def get_inputs() -> list[Any]:
        return [torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0, 1])]

    found, note = made(get_inputs, {0: (7,), 1: (3,)}, {4: 7, 2: 3})
    assert note is not None
    assert [tuple(value.shape) for value in found] == [(7,), (3,)]
    assert found[1].dtype == torch.int64
    assert int(found[1].max()) < 3


def test_values_at_the_edges() -> None:
    values: list[Any] = [torch.rand(40, 40), torch.arange(5), 3]
    odd = inputs.special(values)
    assert not bool(torch.isfinite(odd[0]).all())
    assert torch.equal(odd[1], values[1])
    assert bool((inputs.large(values)[0].abs() > 1e3).any())
    assert bool((inputs.signed(values)[0] < 0).any())
    assert bool((values[0] >= 0).all())
