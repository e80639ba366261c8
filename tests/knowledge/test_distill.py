# SPDX-License-Identifier: Apache-2.0
"""Knowledge judged by its effect: every decision is what the outcomes say, and can be undone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.knowledge.entries import proven
from tests.models.server import Answer, serving

from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.distill import STEPS, Decision, Step, distill
from npuforge.knowledge.distill.decision import Bench
from npuforge.knowledge.distill.judge import Judge
from npuforge.knowledge.distill.separate import separating
from npuforge.knowledge.embed.hashed import HashedEmbedder
from npuforge.knowledge.entry import Advice, Entry, Evidence
from npuforge.knowledge.index import Index
from npuforge.knowledge.outcomes import Use, effect_of, note, record_of, totals
from npuforge.knowledge.situation import Situation
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.verify import RefusedError
from npuforge.models import Client, Endpoint

_WORTH = {"harmed": ((2.0,), (1.0,)), "nothing": ((2.0,), (2.0,)), "helped": ((1.0,), (2.0,))}


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(None) as held:
        yield held


def _use(effect: str, entry: str = "short-rows", task: str = "t", **known: Any) -> Use:
    before, after = _WORTH[effect]
    return Use(
        entry=entry,
        task=task,
        situation=Situation(language="ascendc", **known),
        cause_before="rule",
        cause_after="wrong",
        worth_before=before,
        worth_after=after,
    )


def _distill(
    store: Store, *steps: Step, judge: Judge | None = None, dry: bool = False
) -> list[Decision]:
    bench = Bench(store, Index(store, HashedEmbedder()), judge, prove=lambda _entry: None)
    return list(distill(bench, steps or STEPS, dry=dry))


def _state(store: Store, entry: str) -> str:
    return store.get(entry).state


def test_an_effect_is_how_much_further_a_program_came(store: Store) -> None:
    assert effect_of((4, 0, 0.0), (4, 1, 0.0)) == "helped"
    assert effect_of((7, 3, 0.5), (7, 3, 0.5)) == "nothing"
    assert effect_of((7, 3, 0.5), (7, 3, 0.4)) == "nothing"  # slower, and dropped
    assert effect_of((7, 3, 0.5), (6, 2, 0.0)) == "harmed"
    assert effect_of((), (1, 0, 0.0)) == "helped"
    uses = [_use("helped"), _use("harmed"), _use("helped", task="u")]
    note(store, uses)
    assert record_of(store, "short-rows").uses == tuple(uses)
    assert record_of(store, "short-rows").balance == 1
    assert totals(store) == {"helped": 2, "nothing": 0, "harmed": 1}


def test_what_only_harms_is_purged(store: Store) -> None:
    store.change("add", "", [Put(proven())])
    note(store, [_use("harmed"), _use("harmed")])
    assert _distill(store) == []  # one task is no pattern
    note(store, [_use("harmed", task="u")])
    assert [(one.kind, one.action) for one in _distill(store, dry=True)] == [("flawed", "purge")]
    assert _state(store, "short-rows") == "active"
    [decision] = _distill(store)
    assert "harmed 3 times on 2 tasks" in decision.why
    assert _state(store, "short-rows") == "purged"
    store.undo()
    assert _state(store, "short-rows") == "active"


def test_what_never_helps_makes_room(store: Store) -> None:
    store.change("add", "", [Put(proven())])
    note(store, [_use("nothing", task=str(n % 4)) for n in range(11)])
    assert _distill(store) == []
    note(store, [_use("nothing", task="3")])
    assert [one.kind for one in _distill(store)] == ["idle"]


def test_what_is_misapplied_gets_a_boundary(store: Store) -> None:
    store.change("add", "", [Put(proven())])
    note(store, [_use("helped", facts={"row_bytes": 100, "row": 50})])
    note(store, [_use("harmed", facts={"row_bytes": 128, "row": 64})])
    [decision] = _distill(store)
    assert (decision.kind, decision.action) == ("misapplied", "bound")
    [boundary] = store.get("short-rows").entry.boundary
    assert (boundary.fact, boundary.holds) == ("row_bytes", "not multiple of 32")
    assert store.get("short-rows").entry.verified
    assert _distill(store) == []  # the damage is outside the boundary now
    [change] = store.changes(batch=2)
    assert change.action == "misapplied"
    assert change.before is not None
    assert "boundary" not in change.before[1]
    store.undo()
    assert store.get("short-rows").entry.boundary == ()


def test_what_does_not_hold_any_more_is_not_served(store: Store) -> None:
    store.change("add", "", [Put(proven("a")), Put(proven("b"))])

    def prove(entry: Entry) -> None:
        if entry.id == "a":
            raise RefusedError("a: After is not right")

    bench = Bench(store, Index(store, HashedEmbedder()), prove=prove)
    assert [one.entries for one in distill(bench, ("broken",))] == [("a",)]
    assert (_state(store, "a"), _state(store, "b")) == ("broken", "active")


def _side(name: str, choice: str, ratio: float | None = None, **changes: Any) -> Entry:
    advises = Advice("copy of a tail", choice)
    bare = proven(name, advises=advises, **changes)
    evidence = Evidence(
        digest=bare.digest, soc="910b2", version="0", cases=1, after="right", ratio=ratio
    )
    return proven(name, advises=advises, **changes, evidence=evidence)


def test_a_conflict_is_settled_by_outcomes(store: Store) -> None:
    store.change("add", "", [Put(_side("pad", "pad", 1.2)), Put(_side("plain", "plain", 9.0))])
    note(store, [_use("helped", "pad"), _use("nothing", "plain")])
    [decision] = _distill(store, "conflict")
    assert (decision.action, decision.entries) == ("purge", ("pad", "plain"))
    assert _state(store, "plain") == "purged"


def test_a_conflict_is_settled_by_evidence(store: Store) -> None:
    store.change("add", "", [Put(_side("pad", "pad", 1.2)), Put(_side("plain", "plain", 1.5))])
    [decision] = _distill(store, "conflict")
    assert decision.action == "supersede"
    assert _state(store, "pad") == "superseded"


def test_a_conflict_is_settled_by_a_fact(store: Store) -> None:
    store.change("add", "", [Put(_side("pad", "pad")), Put(_side("plain", "plain"))])
    note(store, [_use("helped", "pad", dtypes=("float16",))])
    note(store, [_use("helped", "plain", dtypes=("float32",))])
    [decision] = _distill(store, "conflict")
    assert decision.action == "bound"
    pad, plain = (store.get(name).entry.boundary[0] for name in ("pad", "plain"))
    assert (pad.holds, plain.holds) == ("in float16", "not in float16")
    assert pad.excludes(plain)
    assert _distill(store, "conflict") == []
    store.undo()
    assert store.get("plain").entry.boundary == ()


def test_no_conflict_where_both_are_never_served_together(store: Store) -> None:
    store.change("add", "", [
        Put(_side("pad", "pad", dtypes=("float16",))),
        Put(_side("plain", "plain", dtypes=("float32",))),
        Put(_side("other", "other", tags=("sorting",), dtypes=("float32",))),
    ])  # fmt: skip
    assert _distill(store, "conflict") == []


def test_an_open_conflict_is_said(store: Store) -> None:
    store.change("add", "", [Put(_side("pad", "pad")), Put(_side("plain", "plain"))])
    [decision] = _distill(store, "conflict")
    assert (decision.action, decision.puts) == ("open", ())


def test_what_says_the_same_is_merged(store: Store) -> None:
    one = _side("one", "pad", 1.5, dtypes=("float16",), identifiers=("DataCopy",))
    two = _side("two", "pad", 1.1, identifiers=("DataCopyPad",))
    other = _side("three", "pad", rationale="Queues are another matter altogether.", title="Queues")
    store.change("add", "", [Put(entry) for entry in (one, two, other)])
    [decision] = _distill(store, "redundant")
    assert (decision.action, decision.entries) == ("merge", ("one", "two"))
    merged = store.get("one").entry
    assert merged.dtypes == ()
    assert merged.identifiers == ("DataCopy", "DataCopyPad")
    assert merged.after == one.after
    assert _state(store, "two") == "superseded"
    assert len(store.undo()) == 2
    assert store.get("one").entry == one
    assert _state(store, "two") == "active"


def _judge(base: str) -> Judge:
    return Judge(Client(Endpoint(model="m", base_url=base, retries=0)))


def _says(**answer: Any) -> Answer:
    said = f"I think\n{json.dumps(answer)}\n"
    return Answer(body={"choices": [{"message": {"content": said}, "finish_reason": "stop"}]})


def test_a_model_is_asked_where_rules_cannot_decide(store: Store) -> None:
    store.change("add", "", [Put(_side("pad", "pad")), Put(_side("plain", "plain"))])
    answer = _says(action="bound", entry="pad", why="odd rows", fact="row", holds="<= 8")
    with serving(answer) as served:
        [decision] = _distill(store, "conflict", judge=_judge(served.base))
    assert (decision.by, decision.action) == ("model", "bound")
    assert store.get("pad").entry.boundary == (Boundary("row", "<= 8", "odd rows"),)
    assert store.get("plain").entry.boundary == (Boundary("row", ">= 9", "odd rows"),)
    asked = served.requests[0]["messages"][0]["content"]
    assert "neither outcomes nor evidence decide" in asked
    assert "# plain" in asked


def test_a_model_is_asked_about_damage_without_a_pattern(store: Store) -> None:
    store.change("add", "", [Put(proven())])
    note(store, [_use("helped"), _use("harmed"), _use("harmed", task="u")])
    assert [one.action for one in _distill(store)] == ["open"]
    with serving(_says(action="purge", why="it is wrong")) as served:
        [decision] = _distill(store, "misapplied", judge=_judge(served.base))
    assert (decision.by, decision.action) == ("model", "purge")
    assert _state(store, "short-rows") == "purged"


def test_a_model_may_see_that_two_are_one(store: Store) -> None:
    store.change("add", "", [Put(proven("one")), Put(proven("two"))])
    assert _distill(store, "redundant") == []
    with serving(_says(action="merge", entry="two", why="the same")) as served:
        [decision] = _distill(store, "redundant", judge=_judge(served.base))
    assert (decision.by, decision.action) == ("model", "merge")
    assert (_state(store, "one"), _state(store, "two")) == ("superseded", "active")


@pytest.mark.parametrize(
    "answer",
    [
        _says(action="delete", entry="pad", why="w"),
        _says(action="purge", entry="another", why="w"),
        _says(action="purge", why="w"),
        _says(action="bound", entry="pad", why="w", fact="row", holds="small"),
        _says(action="purge", entry="pad", why=""),
        _says(action="purge", entry="pad", why="w", more="x"),
        Answer(body={"choices": [{"message": {"content": "purge it"}, "finish_reason": "stop"}]}),
    ],
)
def test_an_answer_in_another_form_decides_nothing(store: Store, answer: Answer) -> None:
    store.change("add", "", [Put(_side("pad", "pad")), Put(_side("plain", "plain"))])
    with serving(answer) as served:
        [decision] = _distill(store, "conflict", judge=_judge(served.base))
    assert (decision.action, decision.puts) == ("open", ())


def test_prompts_of_ones_own(store: Store, tmp_path: Path) -> None:
    (tmp_path / "two.md.j2").write_text("Say about {{ first.id }}.", "utf-8")
    store.change("add", "", [Put(_side("pad", "pad")), Put(_side("plain", "plain"))])
    with serving(_says(action="keep", why="w")) as served:
        client = Client(Endpoint(model="m", base_url=served.base, retries=0))
        _distill(store, "conflict", judge=Judge(client, tmp_path))
    assert served.requests[0]["messages"][0]["content"] == "Say about pad."


_SITUATIONS = st.lists(
    st.builds(
        lambda dtype, row, rows: Situation(
            language="ascendc", dtypes=(dtype,), facts={"row": row, "rows": rows}
        ),
        st.sampled_from(["float16", "float32", "int8"]),
        st.integers(1, 200),
        st.integers(1, 9),
    ),
    min_size=1,
    max_size=4,
)


@given(_SITUATIONS, _SITUATIONS)
def test_a_separating_fact_separates(inside: list[Situation], outside: list[Situation]) -> None:
    found = separating(inside, outside)
    if found is None:
        return
    boundary = Boundary(found[0], str(found[1]), "why")
    assert all(boundary.allows(situation) for situation in inside)
    assert not any(boundary.allows(situation) for situation in outside)


def test_kind_comes_before_size() -> None:
    def situation(dtype: str, **facts: int) -> Situation:
        return Situation(language="ascendc", dtypes=(dtype,), facts=facts)

    small, large = situation("float16", rows=1, row=8), situation("float32", rows=2, row=900)
    assert [str(part) for part in separating([small], [large]) or ()] == ["dtype", "in float16"]
    larger = situation("float16", rows=2, row=904)
    assert [str(part) for part in separating([small], [larger]) or ()] == ["row", "<= 8"]
    assert separating([small], [small]) is None
    assert separating([], [small]) is None
