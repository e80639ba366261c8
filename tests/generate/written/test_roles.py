# SPDX-License-Identifier: Apache-2.0
"""Those that are asked besides the coder, on the same loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.generate.written.answers import Softmax, generated, python
from tests.generate.written.test_tile import RIGHT, SLOW, WRONG
from tests.models.server import chat, serving

from npuforge.errors import UsageError
from npuforge.generate.written.loop import Search
from npuforge.generate.written.roles import roles_of
from npuforge.generate.written.strategy import Asked, writer_for
from npuforge.models import Client, Endpoint
from npuforge.models.cassette import read

CASES = """Short rows are the danger.
```json
[{"sizes": {"x[0]": 41, "x[1]": 9}, "values": "signed", "why": "one row more than cores"},
 {"sizes": {"x[0]": 100000, "x[1]": 100000}, "why": "too large to run"},
 {"sizes": {"rows": 3}, "why": "no such size"}]
```
"""


def test_all_roles_take_part(tmp_path: Path) -> None:
    record = tmp_path / "exchanges.jsonl"
    answers = (
        chat(CASES),
        chat("Each core takes whole rows."),
        python(WRONG),
        chat("1. The sum is never divided by."),
        python(SLOW),
        chat("Only two cores work: use all."),
        python(RIGHT),
        chat("APPROVED, nothing to add."),
    )
    asked = Asked("tile", search=Search(rounds=2, enough=2.0), roles=roles_of(["all"]))
    with (
        serving(*answers) as served,
        Client(Endpoint(model="m", base_url=served.base), record=record) as client,
    ):
        outcome = generated(Softmax(), writer_for(asked, client), 96, 200)
    assert outcome.verdict.ok
    assert outcome.program == RIGHT
    tried = [case for case in outcome.verdict.cases if (case.message or "").startswith("tester")]
    assert [case.shapes for case in tried] == [[[41, 9]]]
    assert tried[0].correct is True
    exchanges = read(record)
    assert [exchange.purpose for exchange in exchanges] == [
        "tester", "planner", "coder", "reviewer", "coder, review", "profiler", "coder, slow",
        "reviewer",
    ]  # fmt: skip
    last = [exchange.request.messages[-1].text for exchange in exchanges]
    assert "Each core takes whole rows." in last[2]
    assert "never divided by" in last[4]
    assert "Only two cores work" in last[6]


def test_a_role_that_is_none() -> None:
    with pytest.raises(UsageError, match="no role 'boss'"):
        roles_of(["planner", "boss"])
