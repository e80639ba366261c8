# SPDX-License-Identifier: Apache-2.0
"""Entries for tests."""

from __future__ import annotations

from typing import Any

from npuforge.knowledge.entry import Entry

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
