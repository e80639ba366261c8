# SPDX-License-Identifier: Apache-2.0
"""What a reader answered to our prompts by hand, judged again.

The answers in `recorded/` were written by somebody who saw the prompts and nothing else, through an
endpoint that is answered by hand. They are served in their order whatever the prompts say by now,
so that prompts may change; where each came is what is tested.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.generate.written.answers import generated
from tests.models.server import chat, serving

from npuforge.generate.written.loop import Search
from npuforge.generate.written.strategy import Asked, writer_for
from npuforge.models import Client, Endpoint
from npuforge.models.cassette import read

RECORDED = Path(__file__).parent / "recorded"


class Centred(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x - x.mean(dim=-1, keepdim=True))


@pytest.mark.parametrize(
    ("strategy", "states"),
    [
        ("tile", ["wrong", "chosen"]),  # tiles that do not fit, then smaller ones
        ("ascendc", ["chosen"]),
        ("refine", ["slower", "slower", "chosen"]),  # the planner's, and two that beat it
    ],
)
def test_where_answers_by_hand_come(tmp_path: Path, strategy: str, states: list[str]) -> None:
    kept: dict[str, Any] = json.loads((RECORDED / f"{strategy}.json").read_text())
    answers = kept["answers"]
    record = tmp_path / "exchanges.jsonl"
    search = Search(rounds=len(answers), patience=9, enough=2.0)
    with (
        serving(*(chat(answer["text"]) for answer in answers)) as served,
        Client(Endpoint(model="m", base_url=served.base), record=record) as client,
    ):
        writer = writer_for(Asked(strategy, search=search), client)
        outcome = generated(Centred(), writer, 300, 1000)
    assert outcome.verdict.ok
    assert [candidate.state for candidate in outcome.candidates] == states
    assert [exchange.purpose for exchange in read(record)] == [a["purpose"] for a in answers]
