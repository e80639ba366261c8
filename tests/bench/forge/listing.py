# SPDX-License-Identifier: Apache-2.0
"""The table of docs/forge.md, from the files: `python -m tests.bench.forge.listing` prints it."""

from __future__ import annotations

import ast

from npuforge.bench.settings import Settings
from npuforge.bench.suites.forge import open_suite

HEAD = ["| level | task | what it computes | shapes |", "|---|---|---|---|"]


def table() -> list[str]:
    suite = open_suite(Settings(suite="forge"))
    lines = list(HEAD)
    for task in suite.tasks():
        said = ast.get_docstring(ast.parse(task.place.read_text("utf-8")))
        lines.append(
            f"| {task.level} | `{task.name}` | {said} | {suite.groups.get(task.name, 1)} |"
        )
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
