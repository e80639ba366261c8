# SPDX-License-Identifier: Apache-2.0
"""The strategy `tile` from end to end: a server that answers as models do, and its recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.generate.written.answers import Softmax, generated
from tests.models.server import Answer, chat, serving

from npuforge.errors import UsageError
from npuforge.generate.outcome import Outcome
from npuforge.generate.written.dialects.tile import TileDialect
from npuforge.generate.written.loop import Search
from npuforge.generate.written.writer import ModelWriter
from npuforge.models import Client, Endpoint, Message, ModelError
from npuforge.models.cassette import read
from npuforge.tile import texts

RIGHT = texts.examples()["softmax"]
UNKNOWN = RIGHT.replace("tl.exp(", "tl.fast_exp(")
WRONG = RIGHT.replace("            tl.mul(tile_out[:n, :], tile_out[:n, :], total[:n, None])\n", "")
SLOW = RIGHT.replace("tl.num_cores()", "min(2, tl.num_cores())")


def said(program: str) -> Answer:
    return chat(f"The rows are divided over the cores.\n```python\n{program}```", usage=(900, 300))


def run(client: Client, **settings: int) -> Outcome:
    asked = replace(Search(rounds=6, patience=2), **settings)  # type: ignore[arg-type]
    return generated(Softmax(), ModelWriter("tile", client, TileDialect(), asked), 96, 200)


def asked(folder: Path) -> list[list[Message]]:
    return [exchange.request.messages for exchange in read(folder / "exchanges.jsonl")]


def test_failures_that_are_repaired_and_a_recording_that_replays(tmp_path: Path) -> None:
    record = tmp_path / "exchanges.jsonl"
    answers = (chat("I cannot."), said(UNKNOWN), said(WRONG), said(SLOW), said(RIGHT), said(WRONG))
    with (
        serving(*answers) as served,
        Client(Endpoint(model="m", base_url=served.base), record=record) as client,
    ):
        outcome = run(client)
    verdict = outcome.verdict
    assert verdict.ok
    assert verdict.correct is True
    assert verdict.strategy == "tile"
    assert outcome.chosen.variant.program == RIGHT
    states = [candidate.state for candidate in outcome.candidates]
    assert states == ["failed", "wrong", "slower", "chosen", "wrong"]
    slower, chosen = outcome.candidates[2], outcome.candidates[3]
    assert slower.time_us is not None
    assert chosen.time_us is not None
    assert chosen.time_us < slower.time_us
    questions = asked(tmp_path)
    assert [len(messages) for messages in questions[:3]] == [2, 2, 3]
    assert "tl.reduce_max" in questions[0][0].text  # the language and an example of its kind
    assert "fast_exp" in questions[2][-1].text
    assert "line " in questions[2][-1].text
    assert "It is wrong on" in questions[3][-1].text
    assert "the bottleneck is" in questions[4][-1].text
    assert any("exchanges" in note for note in outcome.notes)

    with Client.replaying(record) as client:
        again = run(client)
    assert [c.state for c in again.candidates] == states
    assert again.verdict.time_us == verdict.time_us


def test_repairs_that_fail_leave_a_negative_verdict() -> None:
    with (
        serving(said(WRONG)) as served,
        Client(Endpoint(model="m", base_url=served.base)) as client,
    ):
        outcome = run(client)
    assert outcome.verdict.exit_status == 1
    assert outcome.verdict.correct is False
    assert len(outcome.candidates) == 3  # the first, and two that gained nothing
    assert any("nothing was gained in 2 rounds" in note for note in outcome.notes)


def test_no_program_at_all() -> None:
    answers = (chat(""), chat("x"), chat("no", stop="content_filter"))
    with (
        serving(*answers) as served,
        Client(Endpoint(model="m", base_url=served.base)) as client,
        pytest.raises(UsageError, match="refused"),
    ):
        run(client)


def test_several_candidates_and_a_budget() -> None:
    with (
        serving(said(SLOW), said(WRONG), said(RIGHT)) as served,
        Client(Endpoint(model="m", base_url=served.base, budget_tokens=2500)) as client,
    ):
        outcome = run(client, candidates=2, beam=2)
    assert outcome.verdict.ok
    assert any("budget of 2500 tokens is spent" in note for note in outcome.notes)
    assert len(served.requests) in (3, 4)  # both of the second round may be under way by then
    assert len(outcome.candidates) == len(served.requests)
    assert {request["seed"] for request in served.requests} == {0, 1}


def test_an_endpoint_that_goes_away_costs_nothing_that_was_written() -> None:
    gone = Answer(status=401, body={"error": {"message": "the key has expired"}})
    with (
        serving(said(RIGHT), gone) as served,
        Client(Endpoint(model="m", base_url=served.base)) as client,
    ):
        outcome = run(client)
    assert outcome.verdict.ok
    assert any("the key has expired" in note for note in outcome.notes)
    with (
        serving(gone) as served,
        Client(Endpoint(model="m", base_url=served.base)) as client,
        pytest.raises(ModelError, match="expired"),
    ):
        run(client)
