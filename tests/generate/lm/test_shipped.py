# SPDX-License-Identifier: Apache-2.0
"""The model that comes with npuforge: it is there, small, and writes a kernel that is proven."""

from __future__ import annotations

import pytest
import torch

from npuforge.generate import generate
from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.model import VARIABLE, find
from npuforge.generate.lm.engine.sampling import Sampling
from npuforge.generate.lm.writer import LmWriter

_MOST_BYTES = 60_000_000


class _Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * 2.5


@pytest.mark.slow
def test_it_writes_a_kernel_that_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    model = find()
    assert model.path.stat().st_size <= _MOST_BYTES
    assert model.words() is not None  # so that it can be guided
    with LlamaEngine(model) as engine:
        writer = LmWriter(engine, Sampling(count=2, temperature=0.2))
        made = generate(_Scaled(), [torch.randn(64, 120)], name="scaled", strategy=writer)
    assert made.verdict.ok, made.verdict
