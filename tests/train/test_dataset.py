# SPDX-License-Identifier: Apache-2.0
"""The dataset: what an operator gives, how parts become files, what is kept apart."""

from __future__ import annotations

import json
import random
from itertools import count
from pathlib import Path

import msgspec
import pytest

from npuforge.errors import UsageError
from npuforge.generate.lm.answer import program_in
from npuforge.lower.compiler import lower
from npuforge.patience import TooLongError, within
from npuforge.tile.source import TileError
from npuforge.train.dataset import build
from npuforge.train.dataset.assemble import FILES, MOST_ALIKE, assemble, held_out
from npuforge.train.dataset.documents import document_records
from npuforge.train.dataset.faults import faults, seeded
from npuforge.train.dataset.grow import Grown, grow
from npuforge.train.dataset.record import Chat, GrownTask, Origin, Preference
from npuforge.train.dataset.vendor import stated_tiling
from npuforge.train.evaluate.structures import evaluated
from npuforge.train.operators.draw import draw
from npuforge.train.records import Message

_SEED = 7
# An operator with one stream over its elements: others may come and go with the families.
_NUMBER = next(index for index in count() if draw(_SEED, index).family == "elementwise")


@pytest.fixture(scope="module")
def grown() -> Grown:
    return grow(_SEED, _NUMBER)


def _chats(grown: Grown, source: str) -> list[Chat]:
    return [r for r in grown.records if isinstance(r, Chat) and r.source == source]


def test_an_operator_gives_records_of_every_kind(grown: Grown) -> None:
    assert not grown.reason
    assert {r.source for r in grown.records if isinstance(r, Chat)} >= {
        "kernel",
        "ascendc",
        "project",
        "repair",
    }
    assert any(isinstance(record, GrownTask) for record in grown.records)


def test_programs_compile_and_say_why(grown: Grown) -> None:
    answer = _chats(grown, "kernel")[0].messages[-1].content
    assert lower(program_in(answer), "910b2").kernels
    thought = answer.partition("</think>")[0]
    assert " in, " in thought
    assert "bound by" in thought
    assert "op: A stream" in thought or "op: Whole rows" in thought or "op: Too few" in thought
    assert "cores" in thought


def test_a_repair_starts_from_what_failed_and_ends_right(grown: Grown) -> None:
    right = program_in(_chats(grown, "kernel")[0].messages[-1].content)
    for chat in _chats(grown, "repair"):
        asked, answer = chat.messages[1].content, chat.messages[2].content
        assert "does not compile: " in asked or "is wrong: " in asked
        assert program_in(answer) == right
        assert right not in asked


def test_a_project_states_its_tiling(grown: Grown) -> None:
    answer = _chats(grown, "project")[0].messages[-1].content
    stated = stated_tiling(answer.partition("</think>")[0])
    assert stated["BlockDim"] >= 1
    assert "tile" in stated
    assert "===== op_kernel/" in answer
    assert "===== op_host/" in answer


def test_preferences_prefer_the_right_one(grown: Grown) -> None:
    for record in grown.records:
        if isinstance(record, Preference):
            assert record.chosen != record.rejected
            assert record.prompt[-1].role == "user"


def test_growing_again_gives_the_same(grown: Grown) -> None:
    again = grow(_SEED, _NUMBER, lessons=0.0)  # repairs and preferences take the time
    kept = [r for r in grown.records if isinstance(r, Chat) and r.source != "repair"]
    found = [r for r in again.records if isinstance(r, Chat)]
    assert msgspec.json.encode(found) == msgspec.json.encode(kept)


def _spin(ends: int) -> None:
    """For ever, making nothing of all but the last of so many ends."""
    while True:
        try:
            while True:
                pass
        except TooLongError:
            ends -= 1
            if not ends:
                raise


def test_work_without_an_end_is_given_one_again_and_again() -> None:
    with pytest.raises(TooLongError, match=r"more than 0\.02 s"), within(0.02):
        _spin(ends=2)


def test_what_is_evaluated_is_not_grown(grown: Grown) -> None:
    assert not grow(_SEED, _NUMBER, avoid={grown.structure}).records


def test_parts_are_resumed_and_settings_kept(tmp_path: Path, grown: Grown) -> None:
    settings = build.Settings(seed=_SEED)
    build.open_folder(tmp_path, settings)
    build.part_file(tmp_path, 0).write_bytes(msgspec.json.encode(build.Part([grown])))
    seen: list[tuple[int, int]] = []
    build.grow_all(tmp_path, settings, build.PART, (), 1, lambda *done: seen.append(done))
    assert seen == [(build.PART, build.PART)]
    assert next(build.parts(tmp_path)).grown == [grown]
    with pytest.raises(UsageError, match="other settings"):
        build.open_folder(tmp_path, build.Settings(seed=1))


def test_a_folder_is_resumed_with_the_share_it_was_begun_with(tmp_path: Path) -> None:
    settings = build.Settings(seed=_SEED, proven=0.1)
    build.open_folder(tmp_path / "some", settings)
    build.open_folder(tmp_path / "some", settings)
    with pytest.raises(UsageError, match="other settings"):
        build.open_folder(tmp_path / "some", build.Settings(seed=_SEED))
    old = tmp_path / "old"  # begun before there were shares
    build.open_folder(old, build.Settings(seed=_SEED))
    known = json.loads((old / "settings.json").read_text())
    del known["proven"]
    (old / "settings.json").write_text(json.dumps(known))
    build.open_folder(old, build.Settings(seed=_SEED))
    with pytest.raises(UsageError, match="other settings"):
        build.open_folder(old, settings)


def _alike(index: int, structure: str) -> Grown:
    said = [Message("user", f"{index}"), Message("assistant", "answer")]
    origin = Origin(structure=structure, index=index)
    return Grown(index, "norm", structure, [Chat(messages=said, source="kernel", origin=origin)])


def test_files_are_kept_apart_by_structure(tmp_path: Path) -> None:
    trained, held = f"{1:016x}", f"{0:016x}"
    avoided = f"{2:016x}"
    assert held_out(held)
    assert not held_out(trained)
    many = [_alike(index, trained) for index in range(MOST_ALIKE + 3)]
    part = build.Part([*many, _alike(90, held), _alike(91, avoided), _alike(92, f"{3:016x}")])
    repeated = build.Part([_alike(92, f"{3:016x}")])
    counts = assemble([part, repeated], document_records(), {avoided}, tmp_path)
    lines = {
        name: [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in FILES
    }
    assert len(lines["kernel.jsonl"]) == MOST_ALIKE + 1
    assert [line["messages"][0]["content"] for line in lines["validation.jsonl"]] == ["90"]
    assert counts.repeated >= 1
    assert counts.reasons["enough of its structure"] == 3
    assert len(lines["document.jsonl"]) > 1000
    found = {line["origin"]["structure"] for name in FILES for line in lines[name]}
    assert avoided not in found
    card = (tmp_path / "README.md").read_text()
    assert f"| kernel | {MOST_ALIKE + 1} |" in card


def test_nothing_evaluated_is_trained_on() -> None:
    """The leak check: what growing avoids are the suites' structures."""
    known = evaluated()
    assert len(known) > 100
    assert sum(name.startswith("forge ") for name in known.values()) > 90


def test_every_fault_has_its_place(grown: Grown) -> None:
    """Each changes a program of ours, which is another one then, or none."""
    example = program_in(_chats(grown, "kernel")[0].messages[-1].content)
    placed = set()
    for name in faults():
        wrong = seeded(example, name, random.Random(1))
        if wrong is None:
            continue
        placed.add(name)
        assert wrong != example
    assert {"operation unknown", "argument lost", "tail forgotten"} <= placed
    wrong = seeded(example, "operation unknown", random.Random(1))
    assert wrong is not None
    with pytest.raises(TileError):
        lower(wrong)
