# SPDX-License-Identifier: Apache-2.0
"""The few cases that answers are judged on."""

from __future__ import annotations

from npuforge.generate.live import LiveModule
from npuforge.train.judge import Bench

_GROUPED = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.group_norm(x, 32)

def get_init_inputs():
    return []


def get_inputs():
    return [torch.randn(64, 96, 50)]
"""


def test_sizes_that_the_module_refuses_are_not_asked_for() -> None:
    """Channels come in groups here, and not every smaller number of them does."""
    with LiveModule.of_text(_GROUPED, "grouped") as module:
        bench = Bench(module)
        given = [number for number, case in enumerate(bench.cases) if case.given]
        assert given
        assert all(bench.references.answer(number).sources for number in given)
