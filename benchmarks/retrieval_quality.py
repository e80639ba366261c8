# SPDX-License-Identifier: Apache-2.0
"""How often the right entry is among the first six: recall@6 over labelled failures.

    python benchmarks/retrieval_quality.py [--set tuned|held-out] [--k 6] [--missed]
                                           [--embeddings packaged|hashed]

`tuned` is retrieval/failures.jsonl, which was looked at while the search was made; `held-out` is
retrieval/held_out.jsonl, whose faults were chosen and labelled before any search. A failure counts
as found when one of the entries that teach its remedy is served; those that no entry teaches are
counted apart. Both axes fused, identifiers alone (BM25) and meaning alone (dense) see the same
queries, made as generation makes them. The exit status is 1 where both axes together stay below
0.9.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from npuforge.knowledge import shipped
from npuforge.knowledge.embed import Embedder, Vectors, choose
from npuforge.knowledge.index import Index
from npuforge.knowledge.query import query_of
from npuforge.knowledge.retrieve import Axes, retrieve
from npuforge.knowledge.situation import Situation

HERE = Path(__file__).parent / "retrieval"
SETS = {"tuned": "failures.jsonl", "held-out": "held_out.jsonl"}
WANTED = 0.9


@dataclass
class Remembering:
    """An embedder that embeds a query once, whichever axes ask for it."""

    inner: Embedder
    known: dict[str, Vectors] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.inner.name

    def embed(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self.known]
        if missing:
            made = self.inner.embed(missing)
            self.known |= {text: made[n : n + 1] for n, text in enumerate(missing)}
        return np.concatenate([self.known[text] for text in texts])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--set", choices=SETS, default="tuned", help="the failures to look for")
    options.add_argument("--k", type=int, default=6)
    options.add_argument("--missed", action="store_true", help="name the failures that are missed")
    options.add_argument("--embeddings", help="packaged, hashed, or a model behind an endpoint")
    given = options.parse_args()
    lines = (HERE / SETS[given.set]).read_text("utf-8").splitlines()
    collected = [json.loads(line) for line in lines]
    failures = [failure for failure in collected if failure["right"]]
    named = {"NPUFORGE_EMBEDDINGS": given.embeddings} if given.embeddings else None
    with tempfile.TemporaryDirectory() as folder:
        index = Index(shipped.open_store(Path(folder) / "base.sqlite"), Remembering(choose(named)))
        known = {entry.id for entry in shipped.entries()}
        print(f"{len(failures)} failures, {len(known)} entries, k = {given.k}")
        if len(failures) < len(collected):
            print(f"{len(collected) - len(failures)} further failures that no entry teaches")
        unknown = {right for failure in failures for right in failure["right"]} - known
        for right in sorted(unknown):
            print(f"no entry {right!r}: its failures count as missed")
        both = 0.0
        axes: Axes
        for axes in ("both", "identifiers", "meaning"):
            found = [_found(index, failure, given.k, axes) for failure in failures]
            recall = sum(found) / len(found)
            both = recall if axes == "both" else both
            causes = _by_cause(failures, found)
            print(f"{axes:12} recall@{given.k} {recall:.3f}   {causes}", flush=True)
            if given.missed:
                for failure, hit in zip(failures, found, strict=True):
                    if not hit:
                        print(f"    {failure['id']}: wants {', '.join(failure['right'])}")
    return 0 if both >= WANTED else 1


def _found(index: Index, failure: dict[str, Any], k: int, axes: Axes) -> bool:
    situation = msgspec.convert(failure["situation"] | {"cause": failure["cause"]}, Situation)
    query = query_of(situation, failure["cause"], failure["feedback"], failure["source"])
    served = {one.entry.id for one in retrieve(index, query, k, axes)}
    return bool(served & set(failure["right"]))


def _by_cause(failures: list[dict[str, Any]], found: list[bool]) -> str:
    total = Counter(failure["cause"] for failure in failures)
    hits = Counter(f["cause"] for f, hit in zip(failures, found, strict=True) if hit)
    return ", ".join(f"{cause} {hits[cause]}/{count}" for cause, count in sorted(total.items()))


if __name__ == "__main__":
    sys.exit(main())
