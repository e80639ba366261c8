# SPDX-License-Identifier: Apache-2.0
"""One thing that distillation decides, before it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from npuforge.knowledge.distill.judge import Judge
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.index import Index
from npuforge.knowledge.outcomes import Record, record_of
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.verify import evidence_of

Kind = Literal["broken", "flawed", "idle", "misapplied", "conflict", "redundant"]


@dataclass(frozen=True, slots=True)
class Decision:
    """`puts` is empty where nothing could be decided; `why` then says what is open."""

    kind: Kind
    entries: tuple[str, ...]
    action: str
    why: str
    puts: tuple[Put, ...] = ()
    by: Literal["rules", "model"] = "rules"


@dataclass(frozen=True, slots=True)
class Bench:
    """What steps decide with. `judge` is None where no model may be asked."""

    store: Store
    index: Index
    judge: Judge | None = None
    prove: Callable[[Entry], object] = field(default=evidence_of)

    def record(self, entry: Entry) -> Record:
        """The uses in situations where the entry would still be served: what a boundary rules out
        by now is settled."""
        whole = record_of(self.store, entry.id)
        return whole.within([entry.scope.suits(use.situation) for use in whole.uses])

    def active(self) -> list[Entry]:
        return [held.entry for held in self.store.entries()]
