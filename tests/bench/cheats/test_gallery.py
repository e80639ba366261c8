# SPDX-License-Identifier: Apache-2.0
"""Every cheat of the gallery is noticed, in its text and where it matters while it runs."""

from __future__ import annotations

import hmac
import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.bench.cheats.bindings import BINDINGS
from tests.bench.cheats.honest import BUFFERED, CAREFUL, PREPARED
from tests.bench.cheats.models import CHEATS, Cheating
from tests.bench.cheats.subject import (
    BINDING,
    DIRECT_BINDING,
    HONEST_BINDING,
    direct,
    run,
    six,
)
from tests.twin.answers.test_model_answer import KERNEL

from npuforge.bench.cheats import KINDS, inspect, judge
from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.torchbind import conduct
from npuforge.twin.torchbind.candidate import CandidateResult
from npuforge.twin.torchbind.conduct import Record


def _answer(cheating: Cheating, folder: Path) -> ModelAnswer:
    if cheating.direct:
        return direct(folder, cheating.text)
    by_binding = cheating.name.startswith("binding")
    return six(folder, cheating.text, BINDING if by_binding else HONEST_BINDING)


@pytest.mark.parametrize("cheating", CHEATS, ids=lambda cheating: cheating.name)
def test_text(cheating: Cheating, tmp_path: Path) -> None:
    found = {cheat.kind for cheat in inspect(_answer(cheating, tmp_path))}
    assert cheating.source <= found
    if not cheating.source and not cheating.name.startswith(("binding", "direct")):
        assert found == set(), "the text is not where this one shows"


# ---- while it runs -------------------------------------------------------------------------------
# A process is slow to start. Models whose conduct shows call by call take turns in one, two calls
# each, honest ones among them; cheats that concern the whole process have one of their own.
_HONEST = [
    Cheating("careful", "", CAREFUL, frozenset(), frozenset()),
    Cheating("buffered", "", BUFFERED, frozenset(), frozenset()),
    Cheating("prepared", "", PREPARED, frozenset(), frozenset(), direct=True),
]
_NO_TENSOR = "an output is a function, not a tensor"
_LAST = "function returned"  # a call that returns no tensor is the last
_RUN = [
    *_HONEST,
    *sorted(
        (cheating for cheating in CHEATS if cheating.conduct is not None),
        key=lambda cheating: cheating.name == _LAST,
    ),
]
_ALONE = [cheating for cheating in _RUN if cheating.alone]


def _in_turn(cheats: list[Cheating]) -> str:
    parts = [
        cheating.text.replace("ModelNew", f"Cheat{number}")
        for number, cheating in enumerate(cheats)
    ]
    made = ", ".join(f"Cheat{number}()" for number in range(len(cheats)))
    parts.append(
        f"""
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.models, self.calls = [{made}], 0

    def forward(self, x):
        self.calls += 1
        return self.models[(self.calls - 1) // 2](x)
"""
    )
    return "\n".join(parts)


@pytest.mark.parametrize("launches", ["operators", "direct"])
def test_conduct_of_calls(launches: str, tmp_path: Path) -> None:
    cheats = [c for c in _RUN if not c.alone and c.direct == (launches == "direct")]
    make = direct if launches == "direct" else six
    binding = DIRECT_BINDING if launches == "direct" else BINDING
    done, seen = run(make(tmp_path, _in_turn(cheats), binding), 2 * len(cheats))
    assert done.error == (None if launches == "direct" else "TypeError: " + _NO_TENSOR)
    record = done.record
    assert record is not None
    assert seen.calls == record.launches
    missed = {}
    for number, cheating in enumerate(cheats):
        calls = record.forwards[2 * number : 2 * number + 2]
        alone = CandidateResult(record=Record(forwards=calls, launches=0))
        found = {cheat.kind for cheat in judge(alone)}
        assert cheating.conduct is not None
        if not cheating.conduct <= found or (found and cheating in _HONEST):
            missed[cheating.name] = found
    assert missed == {}


@pytest.mark.parametrize("cheating", _ALONE, ids=lambda cheating: cheating.name)
def test_conduct_of_a_process(cheating: Cheating, tmp_path: Path) -> None:
    done, seen = run(six(tmp_path, cheating.text, BINDING))
    found = {cheat.kind for cheat in judge(done, seen.calls)}
    assert cheating.conduct is not None
    assert cheating.conduct <= found, (done.error, found)


@pytest.mark.parametrize("name", BINDINGS)
def test_binding(name: str, tmp_path: Path) -> None:
    text, kind = BINDINGS[name]
    assert kind in {cheat.kind for cheat in inspect(six(tmp_path, binding=text))}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Muls(tile, tile, T(2), count);",
            "T two = std::exp(0.6931f); Muls(tile, tile, two, count);",
        ),
        (
            "Muls(tile, tile, T(2), count);",
            "__gm__ float* p = (__gm__ float*)y; for (int i = 0; i < count; ++i) p[i] = 2.0f;",
        ),
    ],
)
def test_device_code_past_the_clock(old: str, new: str, tmp_path: Path) -> None:
    assert old in KERNEL
    answer = direct(tmp_path)
    (answer.root / "kernel" / "scale.cpp").write_text(KERNEL.replace(old, new))
    assert {cheat.kind for cheat in inspect(answer)} >= {"untimed"}


def test_results_that_were_changed_later(tmp_path: Path) -> None:
    """The record says what was saved; another file in its place does not match."""
    body = msgspec.json.encode(Record(forwards=[], launches=0, files=["0" * 64])).decode()
    seal = hmac.digest(b"secret", body.encode(), "sha256").hex()
    (tmp_path / "record.json").write_text(json.dumps({"body": body, "seal": seal}))
    (tmp_path / "outputs0.tensors").write_bytes(b"something else")
    with SharedFolder(tmp_path) as folder:
        told = conduct.read(folder, b"secret", 1 << 20)
        assert told.record is not None
        assert told.outputs == []
        assert told.forged == "outputs0 are not those that the worker saved"
        told = conduct.read(folder, b"another secret", 1 << 20)
    assert told.record is None
    assert told.forged == "the record is not the worker's"


def test_kinds_are_all_shown() -> None:
    """A kind nothing in the gallery shows is one nobody knows to work."""
    shown = {kind for c in CHEATS for kind in c.source | (c.conduct or frozenset())}
    shown |= {kind for _, kind in BINDINGS.values()}
    elsewhere = {"constant", "tested-shapes-only", "untimed"}  # test_values, test_bench, above
    assert shown | elsewhere == set(KINDS)


def test_kinds_are_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cheating.md").read_text()
    listed = dict(re.findall(r"^\| `([\w-]+)` \|(.*\|.*\|.*\|.*)\|[^|]*\|$", page, re.MULTILINE))
    places = ("source", "conduct", "values", "sizes")
    for name, kind in KINDS.items():
        marked = [
            place
            for place, cell in zip(places, listed[name].split("|"), strict=True)
            if "x" in cell
        ]
        assert marked == kind.noticed, name
    assert set(listed) == set(KINDS)
