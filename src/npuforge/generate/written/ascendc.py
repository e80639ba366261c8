# SPDX-License-Identifier: Apache-2.0
"""What a model is told about AscendC, and what its source has to have."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from npuforge.verdict import Diagnostic


@cache
def page() -> str:
    """The page about AscendC, as models get it."""
    return (Path(__file__).parent / "prompts" / "ascendc.md").read_text("utf-8")


def departure(code: str, name: str, entry: str) -> Diagnostic | None:
    """How a source differs from what is asked for: its entry function, and what calls it."""
    found = re.search(rf"\bvoid\s+{re.escape(name)}\s*\(([^)]*)\)", code)
    if found is None:
        return Diagnostic(None, None, f"the source has no entry function {name}; wanted: {entry}")
    wanted = entry.count("GM_ADDR")
    given = found.group(1).count(",") + 1 if found.group(1).strip() else 0
    if given != wanted:
        line = code.count("\n", 0, found.start()) + 1
        words = f"{name} takes {given} parameters instead of {wanted}; wanted: {entry}"
        return Diagnostic(None, line, words)
    return None
