# SPDX-License-Identifier: Apache-2.0
"""KernelBench: `KernelBench/level<n>/<number>_<name>.py` of the user's checkout, levels 1 to 3."""

from __future__ import annotations

import re
from pathlib import Path

from npuforge.bench.modules.protocol import load
from npuforge.bench.modules.suite import ModuleSuite
from npuforge.bench.settings import Settings
from npuforge.bench.suites import checkout
from npuforge.bench.task import Task
from npuforge.errors import UsageError

_LEVELS = (1, 2, 3)
_NUMBER = re.compile(r"(\d+)_")


def open_suite(settings: Settings) -> ModuleSuite:
    """The suite of a checkout."""
    folder = checkout(settings) / "KernelBench"
    tasks = [
        Task(f"level{level}/{file.stem}", f"level{level}", level, file.resolve())
        for level in _LEVELS
        for file in sorted((folder / f"level{level}").glob("*_*.py"), key=_number)
    ]
    if not tasks:
        raise UsageError(f"{folder} has no tasks: is it a checkout of KernelBench?")
    return ModuleSuite(settings, load(Path(__file__).with_suffix(".toml")), tasks)


def _number(file: Path) -> int:
    found = _NUMBER.match(file.name)
    return int(found.group(1)) if found else 0
