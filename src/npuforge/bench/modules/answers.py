# SPDX-License-Identifier: Apache-2.0
"""Somebody else's answers in a folder.

MultiKernelBench writes `output/<language>/<strategy>/<settings>/<model>/run<k>/<task>.txt`;
a folder of `<task>.py`, `.txt` or `.json` files will do, and folders in it are further samples.
A folder `<task>` with an operator project or a kernel and its launch file is an answer too.
"""

from __future__ import annotations

import re
from pathlib import Path

from npuforge.bench.modules.project_answer import is_project
from npuforge.bench.task import Task
from npuforge.twin.sources.model_answer import SUFFIXES
from npuforge.twin.sources.program_folder import copy_plain
from npuforge.untrusted.inputs import lies_within, read_input

_NUMBER = re.compile(r"(\d+)")


def find(answers: Path, task: Task, sample: int) -> Path | None:
    """The answer to a task of that number; None where there are not so many."""
    name = task.place.stem
    found = [path for suffix in SUFFIXES for path in answers.rglob(f"{name}{suffix}")]
    found += [path for path in answers.rglob(name) if path.is_dir() and project_in(path)]
    found = [path for path in found if lies_within(answers, path)]
    # A category's folder tells tasks of one name apart, where answers are kept so.
    exact = [path for path in found if path.parent.name == task.category]
    ordered = sorted(exact or found, key=lambda path: _natural(path.relative_to(answers)))
    if sample >= len(ordered):
        return None
    chosen = ordered[sample]
    return project_in(chosen) if chosen.is_dir() else chosen


def project_in(folder: Path) -> Path | None:
    """The project that a task's folder is, or holds as its one folder that is one."""
    if is_project(folder):
        return folder
    inside = (child for child in folder.iterdir() if lies_within(folder, child))
    held = [child for child in inside if child.is_dir() and is_project(child)]
    return held[0] if len(held) == 1 else None


def copy(answer: Path, to: Path) -> None:
    """Keep an answer's plain files with the attempt; there are no links and no pipes in it."""
    if answer.is_dir():
        copy_plain(answer, to)
    else:
        to.write_bytes(read_input(answer))


def _natural(path: Path) -> list[tuple[int, str]]:
    """`run10` comes after `run9`."""
    parts = _NUMBER.split(str(path))
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
