# SPDX-License-Identifier: Apache-2.0
"""Somebody else's answers in a folder.

MultiKernelBench writes `output/<language>/<strategy>/<settings>/<model>/run<k>/<task>.txt`;
a folder of `<task>.py`, `.txt` or `.json` files will do, and folders in it are further samples.
"""

from __future__ import annotations

import re
from pathlib import Path

from npuforge.bench.task import Task
from npuforge.twin.sources.model_answer import SUFFIXES

_NUMBER = re.compile(r"(\d+)")


def find(answers: Path, task: Task, sample: int) -> Path | None:
    """The answer to a task of that number; None where there are not so many."""
    name = task.place.stem
    found = [path for suffix in SUFFIXES for path in answers.rglob(f"{name}{suffix}")]
    # A category's folder tells tasks of one name apart, where answers are kept so.
    exact = [path for path in found if path.parent.name == task.category]
    ordered = sorted(exact or found, key=lambda path: _natural(path.relative_to(answers)))
    return ordered[sample] if sample < len(ordered) else None


def _natural(path: Path) -> list[tuple[int, str]]:
    """`run10` comes after `run9`."""
    parts = _NUMBER.split(str(path))
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
