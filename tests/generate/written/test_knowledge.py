# SPDX-License-Identifier: Apache-2.0
"""Knowledge in the loop: an entry helps, harms, gains a boundary; a search teaches one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.generate.written.answers import KERNEL, Scale, Softmax, cpp, generated, python
from tests.generate.written.test_tile import SLOW
from tests.models.server import Answer, chat, serving

from npuforge.generate.outcome import Outcome
from npuforge.generate.report import render
from npuforge.generate.written.advice import Knowledge
from npuforge.generate.written.loop import Search
from npuforge.generate.written.strategy import Asked, writer_for
from npuforge.knowledge.distill import distill
from npuforge.knowledge.distill.decision import Bench
from npuforge.knowledge.embed.hashed import HashedEmbedder
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.index import Index
from npuforge.knowledge.outcomes import record_of
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.verify import verified
from npuforge.models import Client, Endpoint
from npuforge.models.cassette import read

UNKNOWN = KERNEL.replace("Adds(out, out, 1.0f, count);", "AddScalar(out, out, 1.0f, count);")
UNFREED = KERNEL.replace("        inQue.FreeTensor(in);\n", "")
LAUNCH = """\
blocks = 2

[[argument]]
name = "x"
shape = [300]
dtype = "float32"

[[argument]]
name = "y"
shape = [300]
dtype = "float32"
role = "out"

[[argument]]
kind = "workspace"
bytes = 16777216

[[argument]]
kind = "tiling"
fields = [["xDim0", "int64", 1], ["xDim1", "int64", 300]]

[expected]
y = "x * 2 + 1"
"""
STRUCTURE = "struct Sizes {\n    int64_t xDim0;\n    int64_t xDim1;\n};\n"
TOLD = """```toml
title = "A tensor of a queue is freed as soon as it has been read"
rationale = "A queue has as many buffers as its depth. The third AllocTensor waits for ever."
tags = ["buffers"]
identifiers = ["FreeTensor", "AllocTensor", "TQue"]
subject = "buffers of a queue"
choice = "free after use"

[expected]
y = "x * 2 + 1"
```"""


def standing(kernel: str) -> str:
    include = '#include "kernel_operator.h"\n'
    kernel = kernel.replace(include, f"{include}\n{STRUCTURE}")
    return kernel.replace("GET_TILING_DATA(", "GET_TILING_DATA_WITH_STRUCT(Sizes, ")


def add_scalar() -> Entry:
    return verified(
        Entry(
            id="adds-not-addscalar",
            title="A number is added to every element with Adds",
            criterion="difficulty",
            language="ascendc",
            rationale="There is no AddScalar. Adds takes the number after the source.",
            claim="does not compile",
            before=standing(UNKNOWN),
            after=standing(KERNEL),
            launch=LAUNCH,
            tags=("api",),
            identifiers=("Adds", "AddScalar"),
        )
    )


@contextmanager
def knowing(*entries: Entry) -> Iterator[Store]:
    with Store.open(None) as store:
        store.change("added", "for a test", [Put(entry, "active") for entry in entries])
        yield store


def run(
    folder: Path,
    store: Store | None,
    answers: tuple[Answer, ...],
    row: int = 300,
    learn: bool = False,
) -> Outcome:
    folder.mkdir(exist_ok=True)
    record = folder / "exchanges.jsonl"
    knowledge = None
    if store is not None:
        knowledge = Knowledge(Index(store, HashedEmbedder()), learn=learn)
    asked = Asked(
        "ascendc",
        search=Search(
            rounds=sum("```cpp" in str(a.lines) for a in answers), enough=0.0, patience=9
        ),
    )
    with (
        serving(*answers) as served,
        Client(Endpoint(model="m", base_url=served.base), record=record) as client,
    ):
        return generated(Scale(), writer_for(asked, client, knowledge), 50, row)


def told(folder: Path, number: int) -> str:
    messages = read(folder / "exchanges.jsonl")[number].request.messages
    return "\n".join(message.text for message in messages[2:])


def test_an_entry_turns_failure_into_success_and_then_gains_a_boundary(tmp_path: Path) -> None:
    with knowing(add_scalar()) as store:
        without = run(tmp_path / "without", None, (cpp(UNKNOWN), cpp(UNKNOWN)))
        assert without.verdict.compiled is False
        assert not without.used
        outcome = run(tmp_path / "with", store, (cpp(UNKNOWN), cpp(KERNEL)))
        assert outcome.verdict.ok
        assert "But so:" in told(tmp_path / "with", 1)
        assert "Adds takes the number after the source" in told(tmp_path / "with", 1)
        last = outcome.used[-1]
        assert (last.ids, last.before, last.effect) == (
            ("adds-not-addscalar",), "does not compile", "helped",
        )  # fmt: skip
        assert "adds-not-addscalar" in render(outcome)

        # Rows of seven elements: whoever follows the entry there comes less far than before.
        wrong = KERNEL.replace("1.0f, count", "1.5f, count")
        for number in range(2):
            run(tmp_path / f"harmed{number}", store, (cpp(wrong), cpp(UNKNOWN)), row=7)
        record = record_of(store, "adds-not-addscalar")
        assert len(record.of("harmed")) == 2
        assert record.of("helped")
        bench = Bench(store, Index(store, HashedEmbedder()))
        assert [decision.kind for decision in distill(bench)] == ["misapplied"]
        (boundary,) = store.get("adds-not-addscalar").entry.boundary
        assert boundary.fact in ("row", "row_bytes", "elements")
        after = run(tmp_path / "after", store, (cpp(UNKNOWN),), row=7)
        assert not after.used  # it is not served there any more
        again = run(tmp_path / "again", store, (cpp(UNKNOWN), cpp(KERNEL)))
        assert again.used
        store.undo()
        assert not store.get("adds-not-addscalar").entry.boundary


def test_a_recording_is_replayed_with_what_was_known_then(tmp_path: Path) -> None:
    with knowing(add_scalar()) as store:
        outcome = run(tmp_path / "first", store, (cpp(UNKNOWN), cpp(KERNEL)))
    with Store.open(None) as empty, Client.replaying(tmp_path / "first/exchanges.jsonl") as client:
        knowledge = Knowledge(Index(empty, HashedEmbedder()), learn=True)
        asked = Asked("ascendc", search=Search(rounds=2, enough=0.0, patience=9))
        writer = writer_for(asked, client, knowledge)
        again = generated(Scale(), writer, 50, 300)
        assert not empty.entries()
    assert again.used == outcome.used
    assert again.verdict.time_us == outcome.verdict.time_us


def test_a_fault_that_lasted_becomes_an_entry_that_ran(tmp_path: Path) -> None:
    other = UNFREED.replace("TILE = 64", "TILE = 72")
    answers = (cpp(UNFREED), cpp(other), cpp(KERNEL), chat(TOLD))
    with Store.open(None) as store:
        outcome = run(tmp_path, store, answers, learn=True)
        (held,) = store.entries()
    assert any(note.startswith("learned: a-tensor-of-a-queue") for note in outcome.notes)
    entry = held.entry
    assert entry.verified
    assert entry.criterion == "difficulty"
    assert entry.claim.startswith("rule QUE-")
    assert "struct ScaleTilingData" in entry.after
    assert entry.operators == ("element-wise",)
    assert entry.evidence is not None
    assert entry.evidence.after == "right"


def test_what_an_expert_does_better_becomes_an_entry() -> None:
    words = TOLD.partition("\n[expected]")[0].replace('["buffers"]', '["cores"]') + "\n```"
    asked = Asked("tile", search=Search(rounds=1))
    with (
        Store.open(None) as store,
        serving(python(SLOW), chat(words)) as served,
        Client(Endpoint(model="m", base_url=served.base)) as client,
    ):
        knowledge = Knowledge(Index(store, HashedEmbedder()), learn=True)
        outcome = generated(Softmax(), writer_for(asked, client, knowledge), 900, 200)
        entries = [held.entry for held in store.entries()]
    assert outcome.program == SLOW  # what was learned is not what was written
    (entry,) = entries
    assert (entry.criterion, entry.claim, entry.language) == ("speed", "slower 1.10", "tile")
    assert entry.before == SLOW
    assert entry.evidence is not None
    assert entry.evidence.ratio is not None
    assert entry.evidence.ratio >= 1.10


def test_a_lesson_that_does_not_hold_is_not_kept(tmp_path: Path) -> None:
    other = UNFREED.replace("TILE = 64", "TILE = 72")
    untrue = TOLD.replace("x * 2 + 1", "x * 3")
    with Store.open(None) as store:
        answers = (cpp(UNFREED), cpp(other), cpp(KERNEL), chat(untrue))
        outcome = run(tmp_path, store, answers, learn=True)
        assert not store.entries()
    assert any("After is not right" in note for note in outcome.notes)
