# SPDX-License-Identifier: Apache-2.0
"""How long a search among many entries takes: both axes, fusion, boundaries.

    python benchmarks/knowledge_search.py [--entries 100000] [--queries 50] [--store FILE]

Entries are made by a seeded generator from the names of the API and the rules of the catalogue;
their vectors are drawn at random, as making 100,000 with a model takes hours and searching does not
care. What the packaged model takes for the vector of a query is measured by itself.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from npuforge import rules
from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.embed import Vectors, normalised
from npuforge.knowledge.embed.packaged import PackagedEmbedder, installed
from npuforge.knowledge.entry import Entry, Evidence
from npuforge.knowledge.index import Index
from npuforge.knowledge.query import Query, query_of
from npuforge.knowledge.retrieve import Axes, retrieve
from npuforge.knowledge.situation import Situation
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.words import words

_CALLS = (
    "DataCopy", "DataCopyPad", "Add", "Adds", "Sub", "Mul", "Muls", "Div", "Exp", "Ln", "Sqrt",
    "Rsqrt", "Abs", "Relu", "Max", "Min", "Maxs", "Mins", "Cast", "Duplicate", "ReduceSum",
    "ReduceMax", "ReduceMin", "WholeReduceSum", "BlockReduceSum", "PairReduceSum", "Compare",
    "Select", "Gather", "Scatter", "Transpose", "Sort32", "MrgSort", "AllocTensor",
    "FreeTensor", "EnQue", "DeQue", "InitBuffer", "SetFlag", "WaitFlag", "PipeBarrier",
    "SyncAll", "GetBlockIdx", "GetBlockNum", "SetGlobalBuffer", "SetAtomicAdd",
    "CopyRepeatParams", "DataCopyExtParams", "Axpy", "Brcb", "Broadcast", "And", "Or", "Not",
    "ShiftLeft",
)  # fmt: skip
_WIDTH = 384
_LAUNCH = 'blocks = 1\n[[argument]]\nname = "x"\nshape = [32]\ndtype = "float32"\n'


class Drawn:
    """Vectors by lot, the same ones for the same text."""

    name = "drawn"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [
            np.random.default_rng(zlib.crc32(text.encode())).standard_normal(_WIDTH, np.float32)
            for text in texts
        ]
        return normalised(np.stack(rows))


def entries(count: int, draw: random.Random) -> Iterator[Entry]:
    """Well-formed entries, in size and variety like those that are shipped."""
    known = words()
    ids = [rule.id for rule in rules.all_rules()]
    vocabulary = " ".join((*known.tags.values(), *known.facts.values())).split()
    for number in range(count):
        calls = draw.sample(_CALLS, 4)
        lines = [f"    {call}(a{draw.randrange(9)}, {draw.randrange(4096)});" for call in calls]
        code = "\n".join(lines)
        facts = draw.sample(sorted(known.facts), draw.choice((0, 0, 1)))
        bare = Entry(
            id=f"entry-{number}",
            title=f"{calls[0]} and {calls[1]} {' '.join(draw.choices(vocabulary, k=6))}",
            criterion="difficulty",
            language=draw.choice(("ascendc", "ascendc", "tile")),
            operators=tuple(draw.sample(known.operators, draw.choice((0, 0, 1, 2)))),
            dtypes=tuple(draw.sample(("float16", "float32", "bfloat16"), draw.choice((0, 0, 1)))),
            tags=tuple(draw.sample(sorted(known.tags), 2)),
            identifiers=(*calls, f"LocalName{number % 9973}", draw.choice(ids)),
            rationale=" ".join(draw.choices(vocabulary, k=60)),
            after=f"// [\n{code}\n// ]\n",
            launch=_LAUNCH,
            boundary=tuple(
                Boundary(fact, f"<= {2 ** draw.randrange(4, 20)}", "drawn") for fact in facts
            ),
        )
        evidence = Evidence(digest=bare.digest, soc="910b2", version="0", cases=1, after="right")
        yield msgspec.structs.replace(bare, evidence=evidence)


def queries(count: int, draw: random.Random) -> Iterator[Query]:
    """Failures as a judgement words them."""
    ids = [rule.id for rule in rules.all_rules()]
    for _ in range(count):
        calls = draw.sample(_CALLS, 12)
        source = "\n".join(f"{call}(a, b, c);" for call in calls)
        cause = draw.choice(("rule", "wrong", "slow", "does not compile"))
        feedback = f"- {draw.choice(ids)}: it is not so\n  line 3: {calls[2]}(a, b, c);"
        if cause in ("wrong", "slow"):
            feedback = "It is wrong on 2 cases and right on 3: the tail of every row is off"
        situation = Situation(
            language="ascendc",
            operators=tuple(draw.sample(words().operators, 2)),
            dtypes=("float16",),
            soc="910b2",
            facts={"row": draw.randrange(1, 9000), "elements": draw.randrange(1, 1 << 24)},
        )
        yield query_of(situation, cause, feedback, source)


def _measured(what: str, run: Callable[[Query], object], asked: Sequence[Query]) -> None:
    times = []
    for query in asked:
        started = time.perf_counter()
        run(query)
        times.append(1000 * (time.perf_counter() - started))
    print(f"{what:<44} median {statistics.median(times):6.1f} ms, worst {max(times):6.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--store", type=Path, help="keep the store here and use it again")
    given = parser.parse_args()
    asked = list(queries(given.queries, random.Random(2)))
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(given.store or Path(folder) / "store.sqlite")
        if not store.counts()["active"]:
            started = time.perf_counter()
            made = entries(given.entries, random.Random(1))
            store.change("add", "made up", (Put(entry) for entry in made))
            print(f"{given.entries} entries put in {time.perf_counter() - started:.0f} s")
        index = Index(store, Drawn())
        started = time.perf_counter()
        index.ready()
        print(f"index ready in {time.perf_counter() - started:.1f} s")
        retrieve(index, asked[0])  # the first search reads the file
        axes: tuple[Axes, ...] = ("both", "identifiers", "meaning")
        for each in axes:
            _measured(f"search, {each}", partial(retrieve, index, axes=each), asked)
        store.close()
    if installed():
        embedder = PackagedEmbedder()
        embedder.embed(["ready"])
        _measured("vector of a query, packaged model", lambda q: embedder.embed([q.meaning]), asked)


if __name__ == "__main__":
    main()
