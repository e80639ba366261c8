# SPDX-License-Identifier: Apache-2.0
"""Our own suite: `level<n>/<category>/<task>.py` beside this file. docs/forge.md describes it."""

from __future__ import annotations

import ast
from pathlib import Path

from npuforge import syntax
from npuforge.bench.modules.protocol import load
from npuforge.bench.modules.suite import ModuleSuite
from npuforge.bench.settings import Settings
from npuforge.bench.task import Task
from npuforge.errors import UsageError

_HERE = Path(__file__).parent


def tasks() -> list[Task]:
    """All tasks, level by level."""
    return [
        Task(f"{file.parent.name}/{file.stem}", file.parent.name, int(level.name[-1]), file)
        for level in sorted(_HERE.glob("level[0-9]"))
        for file in sorted(level.glob("*/*.py"))
    ]


def open_suite(settings: Settings) -> ModuleSuite:
    """The suite lies in the package: it has one protocol, and no checkout."""
    if settings.path is not None:
        raise UsageError("forge is part of npuforge: it takes no --path")
    if settings.protocol != "repository":
        raise UsageError("forge has no paper: its one protocol is in forge.toml")
    listed = tasks()
    counts = {task.name: _shapes(task.place) for task in listed}
    groups = {name: count for name, count in counts.items() if count}
    return ModuleSuite(settings, load(_HERE / "forge.toml"), listed, groups)


def _shapes(file: Path) -> int:
    """How many shapes a task lists: each makes one list of inputs."""
    for line in syntax.parse(file.read_text("utf-8")).body:
        match line:
            case ast.AnnAssign(target=ast.Name(id="SHAPES"), value=ast.List(elts=shapes)):
                return len(shapes)
    return 0
