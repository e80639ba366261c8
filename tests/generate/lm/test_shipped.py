# SPDX-License-Identifier: Apache-2.0
"""The model that comes with npuforge: it is there, small, and it keeps to the grammar."""

from __future__ import annotations

import pytest
import torch
from tests.generate.lm.written import written

from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.model import VARIABLE, find
from npuforge.generate.lm.engine.sampling import Sampling
from npuforge.generate.lm.grammar import grammar
from npuforge.generate.lm.prompt.canonical import conversation

_MOST_BYTES = 60_000_000


class _Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * 2.5


@pytest.mark.slow
def test_its_samples_keep_to_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    model = find()
    known = written(_Scaled(), torch.randn(64, 120))
    assert model.path.stat().st_size <= _MOST_BYTES
    assert model.vocabulary().size > 1_000
    with LlamaEngine(model) as engine:
        drawn = engine.draw(
            model.prompt(conversation(known.graph)),
            Sampling(count=2, most=220, temperature=0.2, grammar=grammar()),
        )
    for sample in drawn.samples:
        thought, end, program = sample.text.partition("</think>\n")
        assert thought.startswith("<think>\nop: ")
        assert end
        assert program.startswith("import tile.language as tl\n\n\n@ascend_kernel\ndef op")
        assert 0 < sample.forced < sample.tokens
