# SPDX-License-Identifier: Apache-2.0
"""Parts put together: without repetition, split by structure, as files to train on.

* `variant.jsonl`: chat records to begin with, interpreted only
* `kernel.jsonl`, `ascendc.jsonl`, `project.jsonl`, `repair.jsonl`, `document.jsonl`: chat records
* `preference.jsonl`: pairs, `tasks.jsonl`: questions for reinforcement
* `validation.jsonl`: kernels of structures that no other file has
* `README.md`: the card
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, get_args

import msgspec

from npuforge.fileformat import RECORD
from npuforge.files import replacement, write_whole
from npuforge.train.dataset.build import Part
from npuforge.train.dataset.card import card
from npuforge.train.dataset.counts import Counts
from npuforge.train.dataset.record import Chat, GrownTask, Preference, Record, Source

MOST_ALIKE = 12  # operators of one structure
_HELD_OUT = 50  # one structure in so many is for validation
TASKS, VALIDATION = "tasks.jsonl", "validation.jsonl"
FILES = (*(f"{source}.jsonl" for source in get_args(Source)), TASKS, VALIDATION)


def assemble(
    parts: Iterable[Part], documents: Iterable[Chat], avoid: Collection[str], out: Path
) -> Counts:
    """Write all files; the counts are those of the card."""
    out.mkdir(parents=True, exist_ok=True)
    counts = Counts()
    with ExitStack() as held:
        paths = {name: held.enter_context(replacement(out / name)) for name in FILES}
        opened = {name: held.enter_context(path.open("wb")) for name, path in paths.items()}
        _write(opened, chain(_kept(parts, avoid, counts), documents), counts)
    write_whole(out / "README.md", card(counts))
    return counts


def held_out(structure: str) -> bool:
    """Return whether operators of this structure are for validation."""
    return int(structure, 16) % _HELD_OUT == 0


def _write(opened: Mapping[str, BinaryIO], records: Iterable[Record], counts: Counts) -> None:
    seen: set[bytes] = set()
    for record in records:
        line = RECORD.encode(record)
        mark = hashlib.sha256(_content(record)).digest()
        if mark in seen:
            counts.repeated += 1
            continue
        seen.add(mark)
        structure = record.origin.structure
        if structure and held_out(structure):
            if not (isinstance(record, Chat) and record.source == "kernel"):
                continue
            name = VALIDATION
        else:
            name = TASKS if isinstance(record, GrownTask) else f"{record.source}.jsonl"
        opened[name].write(line + b"\n")
        counts.records[name.removesuffix(".jsonl")] += 1


def _kept(parts: Iterable[Part], avoid: Collection[str], counts: Counts) -> Iterator[Record]:
    """Records of operators that may be trained on, not too many of one structure."""
    alike: Counter[str] = Counter()
    for part in parts:
        for grown in part.grown:
            counts.operators += 1
            if grown.reason:
                counts.reasons[_kind(grown.reason)] += 1
            elif grown.structure in avoid:
                counts.reasons["its structure is kept for evaluation"] += 1
            elif alike[grown.structure] >= MOST_ALIKE:
                counts.reasons["enough of its structure"] += 1
            else:
                alike[grown.structure] += 1
                counts.grown += 1
                counts.families[grown.family] += 1
                counts.structures.add(grown.structure)
                for record in grown.records:  # variants have structures of their own
                    if record.origin.structure not in avoid:
                        yield record


def _content(record: Record) -> bytes:
    """Return the content of a record, by which repetitions are found."""
    if isinstance(record, Chat):
        return msgspec.json.encode(record.messages)
    if isinstance(record, Preference):
        return msgspec.json.encode([record.prompt, record.chosen, record.rejected])
    return msgspec.json.encode(record.prompt)


def _kind(reason: str) -> str:
    """Reasons without what is particular to one operator."""
    if "no plan for this operation" in reason:
        return "an operation without a plan"
    if reason.startswith("not proven"):
        return "not proven"
    return "kept for evaluation" if "evaluation" in reason else "no plan"
