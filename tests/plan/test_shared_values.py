# SPDX-License-Identifier: Apache-2.0
"""Values that are shared: put into a loop nest once, and read where an operation stores them."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.written import written
from tests.plan.modules import agree

from npuforge.plan.nest import Nest

_MOST = 3_000  # values put into nests; with copies for every way to them it was 131,056


class _Shared(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(6):
            largest = x.amax(-1, keepdim=True)
            x = torch.maximum(x * largest, x - largest)
        return x


def test_ways_to_a_shared_value_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    build = Nest._build

    def counted(self: Nest, *args: object) -> object:
        nonlocal count
        count += 1
        return build(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Nest, "_build", counted)
    assert "tl.reduce_max(" in written(_Shared(), torch.randn(64, 300)).program
    assert 0 < count < _MOST


_STEPS = 20


def test_steps_that_are_joined_follow_from_the_stored_step_before() -> None:
    def returns(reward: torch.Tensor, alive: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        step = torch.zeros_like(reward[0])
        found = []
        for place in reversed(range(_STEPS)):
            step = reward[place] + 0.9 * alive[place] * step
            found.append(step)
        result = torch.stack(found[::-1])
        return result, result + alive

    def case(columns: int) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(columns)
        return [torch.randn(_STEPS, columns, generator=generator) for _ in range(2)]

    planned = agree(returns, case(603), case(5))
    assert (
        planned.variants[0].program.count("@ascend_kernel") <= _STEPS + 4
    )  # the joins and the sum
