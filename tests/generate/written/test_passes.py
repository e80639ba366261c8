# SPDX-License-Identifier: Apache-2.0
"""`tile` with `--lowering model`: four passes, each compiled before the next."""

from __future__ import annotations

from pathlib import Path

from tests.generate.written.answers import PROJECT, Gelu, files, generated, python
from tests.models.server import Answer, serving

from npuforge.generate.outcome import Outcome
from npuforge.generate.written.loop import Search
from npuforge.generate.written.strategy import Asked, writer_for
from npuforge.models import Client, Endpoint
from npuforge.models.cassette import read
from npuforge.tile import texts

HOST = {path: text for path, text in PROJECT.items() if path.startswith("op_host/")}
KERNEL = {path: text for path, text in PROJECT.items() if path.startswith("op_kernel/")}
BROKEN = {path: text.replace("pipe->InitBuffer(", "InitBuffers(") for path, text in KERNEL.items()}


def run(folder: Path, *answers: Answer) -> Outcome:
    search = Search(rounds=1, enough=0.0)
    with (
        serving(*answers) as served,
        Client(
            Endpoint(model="m", base_url=served.base), record=folder / "exchanges.jsonl"
        ) as client,
    ):
        writer = writer_for(Asked("tile", lowering="model", search=search), client)
        return generated(Gelu(), writer, 64, 256)


def test_each_pass_is_compiled_and_repaired_before_the_next(tmp_path: Path) -> None:
    program = texts.examples()["gelu"]
    outcome = run(
        tmp_path,
        python(program),
        files(HOST),
        files(BROKEN),
        files(KERNEL),
        files(KERNEL),
        files(KERNEL),
    )
    assert outcome.verdict.ok
    assert outcome.program == program
    assert outcome.files.items() >= PROJECT.items()
    asked = read(tmp_path / "exchanges.jsonl")
    purposes = [exchange.purpose for exchange in asked]
    host, init, work, align = (
        f"pass {n}" for n in ("host", "initialisation", "computation", "alignment")
    )
    assert purposes == ["coder", host, init, init, work, align]
    assert "InitBuffers" in asked[3].request.messages[-1].text
    assert "op_host/gelu_tiling.h" in asked[2].request.messages[-1].text  # what came before


def test_a_pass_that_never_compiles_is_said(tmp_path: Path) -> None:
    outcome = run(tmp_path, python(texts.examples()["gelu"]), files(HOST), files(BROKEN))
    assert outcome.verdict.exit_status == 1
    assert outcome.verdict.compiled is False
    assert "initialisation pass" in outcome.candidates[0].note
