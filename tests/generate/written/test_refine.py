# SPDX-License-Identifier: Apache-2.0
"""The strategy `refine`: never worse than what it started from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.generate.written.answers import KERNEL, Scale, cpp, generated, python
from tests.models.server import Answer, serving

from npuforge.errors import UsageError
from npuforge.generate.outcome import Outcome
from npuforge.generate.written.loop import Search
from npuforge.generate.written.start import from_path
from npuforge.generate.written.strategy import Asked, writer_for
from npuforge.language import Language
from npuforge.models import Client, Endpoint
from npuforge.models.cassette import read


def run(
    folder: Path,
    answers: tuple[Answer, ...],
    language: Language = "tile",
    start: Path | None = None,
) -> Outcome:
    search = Search(rounds=len(answers), patience=9, enough=2.0)
    asked = Asked("refine", language=language, start=start, search=search)
    with (
        serving(*answers) as served,
        Client(
            Endpoint(model="m", base_url=served.base), record=folder / "exchanges.jsonl"
        ) as client,
    ):
        return generated(Scale(), writer_for(asked, client), 50, 300)


def test_a_persons_kernel_gets_faster_and_nothing_worse_is_kept(tmp_path: Path) -> None:
    start = tmp_path / "start.cpp"
    start.write_text(KERNEL)  # tiles of 64 elements
    wrong = KERNEL.replace("1.0f, count", "1.5f, count")
    larger = KERNEL.replace("TILE = 64;", "TILE = 2048;")
    outcome = run(tmp_path, (cpp(wrong), cpp(larger), cpp(KERNEL)), start=start)
    verdict = outcome.verdict
    assert verdict.ok
    assert verdict.strategy == "refine"
    assert outcome.program == larger
    states = {candidate.variant.title: candidate.state for candidate in outcome.candidates}
    assert states["start"] == "slower"
    assert states["round 1"] == "wrong"
    assert states["round 2"] == "chosen"
    times = {candidate.variant.title: candidate.time_us for candidate in outcome.candidates}
    assert times["start"] is not None
    assert times["round 2"] is not None
    assert times["round 2"] < times["start"]
    first = read(tmp_path / "exchanges.jsonl")[0].request.messages
    assert "TILE = 64;" in first[-1].text
    assert "the bottleneck is" in first[-1].text


def test_the_planners_program_stands_where_nothing_is_better(tmp_path: Path) -> None:
    outcome = run(tmp_path, (python("@ascend_kernel\ndef k(x):\n    pass\n"),))
    assert outcome.verdict.ok
    assert outcome.chosen.variant.title == "start"
    assert any("no program is better" in note for note in outcome.notes)


def test_the_planners_kernel_keeps_its_host_code(tmp_path: Path) -> None:
    outcome = run(tmp_path, (cpp("__global__ void other() {}"),), language="ascendc")
    assert outcome.verdict.ok
    assert outcome.chosen.variant.language == "ascendc"
    assert outcome.files["op_kernel/scale.cpp"] == outcome.program
    fields = outcome.files["op_host/scale_tiling.h"]
    told = read(tmp_path / "exchanges.jsonl")[0].request.messages[1].text
    for line in fields.splitlines():
        if line.startswith("TILING_DATA_FIELD_DEF("):
            assert line.split(", ")[1].removesuffix(");") in told


def test_what_cannot_be_a_start(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no program")
    with pytest.raises(UsageError, match="neither a tile program"):
        from_path(tmp_path / "notes.txt")
    with pytest.raises(UsageError, match="no op_host"):
        from_path(tmp_path)
