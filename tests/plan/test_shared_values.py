# SPDX-License-Identifier: Apache-2.0
"""Values that many folds share are put into a loop nest once, not once for every way to them."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.written import written

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
