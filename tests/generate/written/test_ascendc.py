# SPDX-License-Identifier: Apache-2.0
"""The strategy `ascendc`: kernels alone, and whole projects."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.generate.written.answers import KERNEL, PROJECT, Gelu, Scale, cpp, files, generated
from tests.models.server import Answer, chat, serving

from npuforge.errors import UsageError
from npuforge.generate.outcome import Outcome
from npuforge.generate.written.loop import Search
from npuforge.generate.written.strategy import Asked, Interface, writer_for
from npuforge.models import Client, Endpoint
from npuforge.models.cassette import read

UNKNOWN = KERNEL.replace("Adds(out, out, 1.0f, count);", "AddScalar(out, out, 1.0f, count);")
UNFREED = KERNEL.replace("        inQue.FreeTensor(in);\n", "")
WRONG = KERNEL.replace("        Adds(out, out, 1.0f, count);\n", "")


def run(
    folder: Path,
    module: torch.nn.Module,
    answers: tuple[Answer, ...],
    interface: Interface = "kernel",
    rounds: int = 5,
    form: str = "msopgen",
) -> Outcome:
    asked = Asked("ascendc", interface, search=Search(rounds=rounds, patience=2, enough=0.0))
    with (
        serving(*answers) as served,
        Client(
            Endpoint(model="m", base_url=served.base), record=folder / "exchanges.jsonl"
        ) as client,
    ):
        shape = (50, 300) if isinstance(module, Scale) else (64, 256)
        return generated(module, writer_for(asked, client), *shape, form=form)


def test_a_kernel_is_repaired_until_it_is_right(tmp_path: Path) -> None:
    answers = (chat("I cannot."), cpp(UNKNOWN), cpp(UNFREED), cpp(WRONG), cpp(KERNEL))
    outcome = run(tmp_path, Scale(), answers)
    assert outcome.verdict.ok
    assert outcome.verdict.strategy == "ascendc"
    assert outcome.verdict.time_us is not None
    states = [candidate.state for candidate in outcome.candidates]
    assert states == ["failed", "wrong", "wrong", "chosen"]
    assert outcome.files["op_kernel/scale.cpp"] == KERNEL
    assert "set_xDim1(xShape.GetDim(1))" in outcome.files["op_host/scale.cpp"]
    assert outcome.program_file == "scale.ascendc.cpp"
    questions = [exchange.request.messages for exchange in read(tmp_path / "exchanges.jsonl")]
    first = questions[0]
    assert "int64_t xDim1;" in first[1].text
    assert "void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)" in first[1].text
    assert "__aicore__" in first[0].text
    assert "AddScalar" in questions[2][-1].text
    assert "QUE-" in questions[3][-1].text
    assert "It is wrong on" in questions[4][-1].text


def test_a_kernel_without_its_entry_says_what_is_wanted(tmp_path: Path) -> None:
    other = KERNEL.replace("void scale(", "void scale_kernel(")
    fewer = KERNEL.replace(", GM_ADDR workspace, GM_ADDR tiling", "")
    outcome = run(tmp_path, Scale(), (cpp(other), cpp(fewer)), rounds=2)
    assert outcome.verdict.exit_status == 1
    assert outcome.verdict.compiled is False
    notes = [candidate.note for candidate in outcome.candidates]
    assert "no entry function scale" in notes[0]
    assert "2 parameters instead of 4" in notes[1]


def test_a_project_is_repaired_until_it_is_right(tmp_path: Path) -> None:
    host = "op_host/gelu.cpp"
    unknown = {**PROJECT, host: PROJECT[host].replace("SetBlockDim(", "SetBlocks(")}
    renamed = {**PROJECT, host: PROJECT[host].replace('Input("x")', 'Input("self")')}
    outcome = run(tmp_path, Gelu(), (files(unknown), files(renamed), files(PROJECT)), "full")
    assert outcome.verdict.ok
    assert [candidate.state for candidate in outcome.candidates] == ["failed", "failed", "chosen"]
    assert "SetBlocks" in outcome.candidates[0].note
    assert outcome.files.items() >= PROJECT.items()
    assert "build.sh" in outcome.files
    questions = [exchange.request.messages for exchange in read(tmp_path / "exchanges.jsonl")]
    assert "op_host/gelu.cpp" in questions[1][-1].text
    assert "wanted: x" in questions[2][-1].text


def test_a_format_that_cannot_hold_it_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write direct"):
        run(tmp_path, Scale(), (cpp(KERNEL),), form="direct")
    assert not (tmp_path / "exchanges.jsonl").read_text()
