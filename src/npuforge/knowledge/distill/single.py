# SPDX-License-Identifier: Apache-2.0
"""What is decided about one entry alone.

BROKEN       its programs do not bear it out any more: not served
FLAWED       harmed on two tasks or more and in most of its uses, and never helped: purged
IDLE         served often on several tasks, and never helped: purged
MISAPPLIED   helped here and harmed there, and a fact tells where: a boundary
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npuforge import __version__
from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.distill.decision import Bench, Decision
from npuforge.knowledge.distill.separate import separating
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.store import Put
from npuforge.knowledge.verify import RefusedError

_HARMED = 2
_IDLE = 12
_IDLE_TASKS = 4


def broken(bench: Bench, everything: bool = False) -> Iterator[Decision]:
    """Entries whose evidence is of another version of npuforge (or all) are run again."""
    for entry in bench.active():
        known = entry.evidence
        if not everything and known is not None and known.version == __version__:
            continue
        try:
            bench.prove(entry)
        except RefusedError as refused:
            yield Decision("broken", (entry.id,), "broken", str(refused), (Put(entry, "broken"),))


def flawed(bench: Bench) -> Iterator[Decision]:
    """Knowledge that does damage."""
    for entry in bench.active():
        record = bench.record(entry)
        harmed = record.of("harmed")
        tasks = {use.task for use in harmed}
        often = 2 * len(harmed) > len(record.uses)
        if record.of("helped") or not often or min(len(harmed), len(tasks)) < _HARMED:
            continue
        why = f"it harmed {len(harmed)} times on {len(tasks)} tasks and never helped"
        yield Decision("flawed", (entry.id,), "purge", why, (Put(entry, "purged"),))


def idle(bench: Bench) -> Iterator[Decision]:
    """Knowledge that takes the place of better."""
    for entry in bench.active():
        record = bench.record(entry)
        tasks = {use.task for use in record.uses}
        if record.of("helped") or len(record.uses) < _IDLE or len(tasks) < _IDLE_TASKS:
            continue
        why = f"it was served {len(record.uses)} times on {len(tasks)} tasks and never helped"
        yield Decision("idle", (entry.id,), "purge", why, (Put(entry, "purged"),))


def misapplied(bench: Bench) -> Iterator[Decision]:
    """Knowledge that is right, but not everywhere."""
    for entry in bench.active():
        record = bench.record(entry)
        helped, harmed = record.of("helped"), record.of("harmed")
        if not helped or not harmed:
            continue
        found = separating([use.situation for use in helped], [use.situation for use in harmed])
        if found is not None:
            fact, condition = found
            why = (
                f"it helped {len(helped)} times where {fact} is {condition} and harmed "
                f"{len(harmed)} times elsewhere"
            )
            bounded = with_boundary(entry, Boundary(fact, str(condition), why))
            yield Decision("misapplied", (entry.id,), "bound", why, (Put(bounded),))
        elif len(harmed) >= _HARMED:
            yield _asked(bench, entry, len(helped), len(harmed))


def with_boundary(entry: Entry, boundary: Boundary) -> Entry:
    """The entry with one more."""
    kept = [
        one for one in entry.boundary if (one.fact, one.holds) != (boundary.fact, boundary.holds)
    ]
    return msgspec.structs.replace(entry, boundary=(*kept, boundary))


def _asked(bench: Bench, entry: Entry, helped: int, harmed: int) -> Decision:
    open_ = f"it helped {helped} times and harmed {harmed} times, and no fact tells where"
    if bench.judge is None:
        return Decision("misapplied", (entry.id,), "open", open_)
    verdict = bench.judge.of_one(entry, bench.record(entry), open_)
    if verdict is None or verdict.action == "keep":
        return Decision("misapplied", (entry.id,), "open", open_, by="model")
    if verdict.action == "purge":
        put = Put(entry, "purged")
    else:
        assert verdict.boundary is not None
        put = Put(with_boundary(entry, verdict.boundary))
    return Decision("misapplied", (entry.id,), verdict.action, verdict.why, (put,), "model")
