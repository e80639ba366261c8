# SPDX-License-Identifier: Apache-2.0
"""Write the documentation page of the rules: `python -m npuforge.rules.page docs/rules.md`."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from npuforge.rules.catalogue import Rule, all_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

_FAMILIES = {
    "ALN": "Alignment",
    "CAP": "Capacity",
    "CPY": "Copies",
    "VEC": "Vector instructions",
    "MSK": "Masks",
    "OVL": "Overlap and banks",
    "DTY": "Data types",
    "CMP": "Compare",
    "GTH": "Gather",
    "SRT": "Sort",
    "RED": "Reductions",
    "CVT": "Conversions",
    "QUE": "Pipes, queues and buffers",
    "EVT": "Events within a core",
    "XCR": "Synchronisation across cores",
    "LNC": "Launch",
    "TIL": "Tiling data",
    "WSP": "Workspace",
    "SCL": "Scalar code",
    "ATM": "Atomics",
    "CUB": "Cube",
    "FIX": "Fixpipe",
    "MMH": "Matmul library",
    "SYNC": "Races and deadlocks",
    "MEM": "Memory",
    "LNT": "What the device compiler refuses",
    "ADV": "High-level API",
    "TL": "The tile language",
}

_PLACES = {
    "compile": "the twin's headers (the kernel does not compile)",
    "lint": "the lint, before building",
    "check": "`npuforge check`, while the kernel runs",
    "time": "`npuforge profile`, as advice with the cycles lost",
    "host": "the host side (tiling and launch)",
    "tile": "the tile compiler (the program does not compile)",
    "later": "not yet: waits for the part named",
    "no": "cannot be seen; the reason is given",
}


def render(rules: Iterable[Rule]) -> str:
    """The whole page as Markdown."""
    rules = list(rules)
    counts = Counter[str](place for rule in rules for place in rule.enforced)
    lines = [
        "<!-- Written by `python -m npuforge.rules.page docs/rules.md`; edit catalogue.toml. -->",
        "# Rules",
        "",
        f"{len(rules)} rules with stable ids. Those marked \\* are our own; the others are",
        "published constraints of NPU architecture 2201. A rule may be enforced in two places.",
        "",
        "Consequences: CE compile error, RE exception or hang, WR wrong result, SL slow,",
        "NOP silently nothing.",
        "",
        "| enforced | where | rules |",
        "|---|---|---|",
        *(f"| {place} | {where} | {counts[place]} |" for place, where in _PLACES.items()),
    ]
    by_family = sorted(rules, key=lambda rule: list(_FAMILIES).index(rule.family))
    for family, members in groupby(by_family, key=lambda rule: rule.family):
        lines += ["", f"## {family}: {_FAMILIES[family]}", ""]
        lines += ["| id | rule | what to do | effect | severity | enforced |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_row(rule) for rule in members]
    return "\n".join(lines) + "\n"


def _row(rule: Rule) -> str:
    mark = r" \*" if rule.origin == "ours" else ""
    where = ", ".join(rule.enforced) + (f": {rule.reason}" if rule.reason else "")
    effect = " ".join(rule.consequence)
    cells = [rule.id + mark, rule.text, rule.fix, effect, rule.severity, where]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(all_rules()), encoding="utf-8")
