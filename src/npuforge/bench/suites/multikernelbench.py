# SPDX-License-Identifier: Apache-2.0
"""MultiKernelBench: `reference/<category>/<task>.py` of the user's checkout."""

from __future__ import annotations

from pathlib import Path

from npuforge.bench.modules.protocol import load
from npuforge.bench.modules.suite import ModuleSuite
from npuforge.bench.settings import Settings
from npuforge.bench.suites import checkout
from npuforge.bench.task import Task
from npuforge.errors import UsageError


def open_suite(settings: Settings) -> ModuleSuite:
    """The suite of a checkout."""
    folder = checkout(settings) / "reference"
    tasks = [
        Task(f"{file.parent.name}/{file.stem}", file.parent.name, None, file.resolve())
        for file in sorted(folder.glob("*/*.py"))
        if not file.name.startswith("_")
    ]
    if not tasks:
        raise UsageError(f"{folder} has no tasks: is it a checkout of MultiKernelBench?")
    return ModuleSuite(settings, load(Path(__file__).with_suffix(".toml")), tasks)
