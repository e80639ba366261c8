# SPDX-License-Identifier: Apache-2.0
"""What is known about tasks of the suite, from `known.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from npuforge.bench.task import Task
from npuforge.untrusted.inputs import read_source

_COMMAND = re.compile(r"EXEC_NPU_CMD\s*\(\s*aclnn(\w+)")


@cache
def known() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("known.toml").read_text("utf-8"))


def refused_answer(task: Task) -> str | None:
    """Why no answer to the task can be judged here, whoever wrote it."""
    table = known()
    if task.place.name in table["cube"] or task.category in table["cube"]:
        return "its answers use the matrix unit, which the twin does not have yet"
    binding = task.place / "validation" / "pybind.cpp"
    called = set(_COMMAND.findall(read_source(binding)))
    reached = {n for n, call in table["calls"].items() if call["operator"] == task.place.name}
    if called and not called & {"CustomOp", task.place.name, *reached}:
        return f"the suite's binding calls the built-in {sorted(called)[0]}, not the answer"
    return None


def broken(task: Task) -> str | None:
    """Why the suite's own answer cannot work as given."""
    found: str | None = known()["broken"].get(task.place.name)
    return found


def broken_cases(task: Task) -> tuple[list[int], str]:
    """Cases on which the suite's own answer cannot work, and why."""
    found = known()["broken_cases"].get(task.place.name, {"cases": [], "why": ""})
    return found["cases"], found["why"]


def defect(task: Task, rules: set[str]) -> str | None:
    """What is wrong with the suite's own answer, where it explains all these reports."""
    found = known()["defects"].get(task.place.name)
    explained = found is not None and rules <= set(found["rules"])
    return f"a known fault of the answer: {found['why']}" if found and explained else None
