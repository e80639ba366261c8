# SPDX-License-Identifier: Apache-2.0
"""Entries for tests."""

from __future__ import annotations

from typing import Any

from npuforge.knowledge.entry import Entry, Evidence

LAUNCH = """\
blocks = 1

[[argument]]
name = "x"
shape = [32]
dtype = "float32"

[[argument]]
name = "y"
role = "out"
shape = [32]
dtype = "float32"

[expected]
y = "x"
"""


def entry(**changes: Any) -> Entry:
    """A well-formed entry, which nobody has run."""
    given: dict[str, Any] = {
        "id": "short-rows",
        "title": "Rows that do not end on 32 bytes are copied with DataCopyPad",
        "criterion": "difficulty",
        "language": "ascendc",
        "rationale": "DataCopy moves whole blocks of 32 bytes.",
        "after": "// after\n",
        "launch": LAUNCH,
        "tags": ("alignment",),
        "identifiers": ("DataCopy", "DataCopyPad", "ALN-01"),
    }
    return Entry(**{**given, **changes})


def proven(name: str = "short-rows", **changes: Any) -> Entry:
    """An entry with evidence as if it had been run."""
    bare = entry(**{"id": name, **changes})
    evidence = Evidence(digest=bare.digest, soc="910b2", version="0", cases=1, after="right")
    return bare if "evidence" in changes else entry(id=name, evidence=evidence, **changes)
