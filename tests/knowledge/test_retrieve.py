# SPDX-License-Identifier: Apache-2.0
"""From a failure to entries: names, meaning, both together, and never what is out of bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tests.knowledge.entries import proven

from npuforge import rules
from npuforge.knowledge import prepared, shipped
from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.embed import Vectors
from npuforge.knowledge.embed.hashed import HashedEmbedder
from npuforge.knowledge.embed.packaged import PackagedEmbedder, installed
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.index import Index
from npuforge.knowledge.names import Names, best_first
from npuforge.knowledge.query import Query, query_of
from npuforge.knowledge.retrieve import Axes, retrieve
from npuforge.knowledge.situation import Situation
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.terms import code_terms, description, terms

_HERE = Situation(language="ascendc")


def _base() -> list[Entry]:
    return [
        proven("pad"),
        proven(
            "queue",
            title="A tensor that is taken out of a queue is given back",
            rationale="Every AllocTensor has a FreeTensor, or the queue runs dry and waits.",
            tags=("buffers",),
            identifiers=("AllocTensor", "FreeTensor", "QUE-01"),
            after="// [\nin.FreeTensor(a);\n// ]\n",
        ),
        proven(
            "wide-sum",
            title="Sums of half are taken in float",
            rationale="Ten bits of mantissa lose what is added to a large sum.",
            tags=("precision", "reduction"),
            identifiers=("Cast", "ReduceSum"),
            dtypes=("float16",),
        ),
        proven("tiles", language="tile", title="Tile programs align their pieces"),
    ]


@pytest.fixture
def index() -> Iterator[Index]:
    with Store.open(None) as store:
        store.change("add", "", [Put(entry) for entry in _base()])
        yield Index(store, HashedEmbedder())


def _ids(index: Index, query: Query, axes: Axes = "both", k: int = 6) -> list[str]:
    return [served.entry.id for served in retrieve(index, query, k, axes)]


def test_names_are_kept_and_split() -> None:
    assert list(terms("DataCopyPad")) == ["datacopypad", "data", "copy", "pad"]
    assert list(terms("ALN-01")) == ["aln_01", "aln"]
    assert list(terms("tl.num_cores")) == ["tl_num_cores", "tl", "num", "cores"]
    assert list(terms("AscendC::GM_ADDR")) == ["ascendc_gm_addr", "ascend", "gm", "addr"]
    assert list(terms("the copy, and 32 of it")) == ["copy", "32"]
    assert list(code_terms('Add(a); // Sub\nprintf("Mul"); /* Div */')) == ["add", "printf"]


def test_names_find_rules_and_calls(index: Index) -> None:
    def found(names: str) -> list[str]:
        return _ids(index, Query(names, "", _HERE), "identifiers")

    assert found("QUE-01") == ["queue"]
    assert found("DataCopyPad")[0] == "pad"
    assert found("FreeTensor AllocTensor")[0] == "queue"
    assert found("nothing like it") == []
    assert found('quote " and * NEAR(') == []


def test_names_are_ranked_by_bm25() -> None:
    """Against the formula, term by term."""
    made = [
        proven(
            "a", identifiers=("Rare",), title="Common word", after="// [\nCommon(Other);\n// ]\n"
        ),
        proven("b", identifiers=("Common",), title="Word", after="// [\nFew(Many);\n// ]\n"),
        proven(
            "c", identifiers=("Another",), title="Thing", after="// [\nCommon(Rare, It2);\n// ]\n"
        ),
    ]
    with Store.open(None) as store:
        store.change("add", "", [Put(entry) for entry in made])
        sizes = {"a": 4, "b": 4, "c": 5}  # terms of each, 13 / 3 on average
        where = {"rare": {"a": 3.0, "c": 1.0}, "common": {"a": 3.0, "b": 3.0, "c": 1.0}}
        numbers = dict(store.rows("SELECT number, id FROM entries"))
        found = Names(store).scores("Rare Common Unknown")
        for number, name in numbers.items():
            assert store.rows("SELECT terms FROM entries WHERE id = ?", (name,)) == [(sizes[name],)]
            wanted = 0.0
            for held in where.values():
                if name in held:
                    idf = math.log(1 + (3 - len(held) + 0.5) / (len(held) + 0.5))
                    length = 0.25 + 0.75 * sizes[name] / (13 / 3)
                    wanted += idf * held[name] * 2.2 / (held[name] + 1.2 * length)
            assert found[number] == pytest.approx(wanted, rel=1e-5)
        assert found[0] == 0
        assert list(best_first(np.array([5, 6, 7]), np.array([1.0, 2.0, 2.0], np.float32), 1)) == [
            6,
            7,
            5,
        ]


def test_meaning_finds_words(index: Index) -> None:
    query = Query("", "the sum in half precision loses bits of mantissa", _HERE)
    assert _ids(index, query, "meaning")[0] == "wide-sum"
    assert _ids(index, Query("", " ", _HERE)) == []


def test_both_axes_add_up(index: Index) -> None:
    query = Query("FreeTensor", "every tensor of a queue is given back, or it waits", _HERE)
    best, *others = retrieve(index, query)
    assert best.entry.id == "queue"
    assert (best.name_rank, best.meaning_rank) == (1, 1)
    assert best.score == pytest.approx(2 / 61)
    assert all(other.score < best.score for other in others)
    assert len(retrieve(index, query, 1)) == 1


def test_only_what_suits_is_served(index: Index) -> None:
    anything = "DataCopyPad FreeTensor ReduceSum aligned pieces"
    assert set(_ids(index, Query(anything, anything, _HERE))) == {"pad", "queue", "wide-sum"}
    single = Situation(language="ascendc", dtypes=("float32",), facts={"row_bytes": 64})
    assert "wide-sum" not in _ids(index, Query(anything, anything, single))
    assert _ids(index, Query(anything, anything, Situation(language="tile"))) == ["tiles"]
    excluded = Query(anything, anything, _HERE, exclude=frozenset({"pad"}))
    assert "pad" not in _ids(index, excluded)
    bounded = proven("pad", boundary=(Boundary("row_bytes", "not multiple of 32", "why"),))
    index.store.change("bound", "", [Put(bounded)])
    assert "pad" not in _ids(index, Query(anything, anything, single))
    assert "pad" in _ids(index, Query(anything, anything, _HERE))
    index.store.change("purge", "", [Put(bounded, "purged")])
    assert "pad" not in _ids(index, Query(anything, anything, _HERE))
    index.store.undo()
    assert "pad" in _ids(index, Query(anything, anything, _HERE))


def test_far_down_the_ranking_is_still_found() -> None:
    """What may not be served takes no place, however much of it there is."""
    many = [proven(f"tile-{n}", language="tile") for n in range(700)]
    with Store.open(None) as store:
        store.change("add", "", [Put(entry) for entry in [*many, proven("last")]])
        index = Index(store, HashedEmbedder())
        for axes in ("identifiers", "meaning"):
            query = Query("DataCopyPad", "rows of 32 bytes", _HERE)
            assert _ids(index, query, axes) == ["last"]


def test_what_is_shown_of_an_entry(index: Index) -> None:
    [served] = retrieve(index, Query("QUE-01", "", _HERE))
    whole = served.shown()
    assert "in.FreeTensor(a);" in whole
    assert "1 cases: after, right" in whole
    assert served.shown("plain") == f"### {served.entry.title}\n\n{served.entry.rationale}"


def test_another_embedder_makes_the_vectors_again(index: Index) -> None:
    class Counting:
        name = "counting"

        def __init__(self) -> None:
            self.texts: list[str] = []

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.texts += texts
            return np.ones((len(texts), 3), np.float32)

    index.vectors()
    counting = Counting()
    other = Index(index.store, counting)
    assert other.vectors()[1].shape == (4, 3)
    assert len(counting.texts) == 4
    again = Counting()
    assert Index(index.store, again).vectors()[1].shape == (4, 3)
    assert again.texts == []
    changed = proven("pad", title="Another title")
    index.store.change("edit", "", [Put(changed)])
    other.vectors()
    assert len(counting.texts) == 5
    assert Index(index.store, HashedEmbedder()).vectors()[1].shape[1] == 512


class _Counting(HashedEmbedder):
    """Notes what it is asked for."""

    asked: ClassVar[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return super().embed(texts)


def test_shipped_entries_have_their_vectors_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "folder", lambda: tmp_path)
    monkeypatch.setattr(shipped, "entries", lambda: (proven("a"), proven("b", title="Other")))
    assert prepared.write(HashedEmbedder()) == 2
    embedder = _Counting()
    with Store.open(None) as store:
        added = [proven("a"), proven("b", title="Other"), proven("c", title="Mine")]
        store.change("add", "", [Put(entry) for entry in added])
        vectors = Index(store, embedder).vectors()[1]
    assert embedder.asked == [description(proven("c", title="Mine"))]
    wanted = HashedEmbedder().embed([description(entry) for entry in added])
    np.testing.assert_allclose(vectors, wanted, atol=1e-3)
    assert prepared.prepared(HashedEmbedder(64)) == {}


@pytest.mark.skipif(not installed(), reason="the packaged model is not installed")
def test_the_vectors_that_are_shipped_are_of_the_entries_that_are() -> None:
    texts = [description(entry) for entry in shipped.entries()]
    assert texts
    embedder = PackagedEmbedder()
    known = prepared.prepared(embedder)
    missing = [text for text in texts if prepared.digest(text) not in known]
    assert not missing, "run python -m npuforge.knowledge.prepared"
    [again] = embedder.embed(texts[:1])
    np.testing.assert_allclose(known[prepared.digest(texts[0])], again, atol=1e-3)


_SOURCE = """\
__global__ __aicore__ void k(GM_ADDR x) {
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, xGm, 20);
    Adds<float>(a, a, 1.0f, 20);
}
"""


def test_a_broken_rule_as_a_query() -> None:
    feedback = (
        "It breaks rules of the hardware (lines of the AscendC made from it):\n"
        "- CPY-01: 80 bytes are no multiple of 32\n  line 3: DataCopy(a, xGm, 20);\n"
        "  remedy: use DataCopyPad"
    )
    situation = Situation(language="ascendc", operators=("element-wise",), dtypes=("float16",))
    query = query_of(situation, "rule", feedback, _SOURCE, ["pad"])
    assert query.names.split() == ["CPY-01", "DataCopy"]
    assert "multiple of 32" in query.meaning
    assert "breaks a rule of the hardware" in query.meaning
    assert "element-wise" in query.meaning
    assert "float16" in query.meaning
    assert "80" not in query.meaning
    assert query.exclude == {"pad"}


def test_a_race_as_a_query() -> None:
    feedback = "It has a race: SYNC-02: both touch it\n  line 3: DataCopy(a, xGm, 20); (MTE2)"
    query = query_of(_HERE, "race", feedback, _SOURCE)
    assert query.names.split() == ["SYNC-02", "DataCopy"]
    assert rules.get("SYNC-02").text in query.meaning


def test_a_diagnostic_as_a_query() -> None:
    feedback = (
        "It does not compile:\n- use of undeclared identifier 'DataCopyPed'\n"
        "  line 4: Adds<float>(a)"
    )
    query = query_of(_HERE, "does not compile", feedback, _SOURCE)
    assert query.names.split() == ["DataCopyPed", "Adds"]


def test_a_slow_kernel_as_a_query() -> None:
    situation = Situation(language="ascendc", bottleneck="scalar")
    query = query_of(situation, "slow", "It is right. It takes 9.3 us.", _SOURCE)
    assert query.names == ""
    assert {"AllocTensor", "DataCopy", "Adds", "LocalTensor"} <= set(query.context.split())
    assert "the scalar unit takes the time" in query.meaning
    assert "9.3" not in query.meaning
