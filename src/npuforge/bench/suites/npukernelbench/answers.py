# SPDX-License-Identifier: Apache-2.0
"""Somebody's answers: the suite's own run folders, or operator projects by task name.

A run folder keeps what a model said (a JSON file with its text) and the sources made of it, below
`lvl1/Math/Sqrt[/fixed_case_0]/sample0`; texts come first, as they are what is judged.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from npuforge.bench.settings import Interface
from npuforge.bench.task import Task
from npuforge.errors import UsageError
from npuforge.untrusted.documents import parse_json
from npuforge.untrusted.inputs import read_input, read_source

_ROOTS = ("", "msopgen", "cann-ops", "runs", "runs/msopgen", "runs/cann-ops")
_PROJECT = ("op_host", "op_kernel")
_SOURCES = {".cpp", ".cc", ".h", ".hpp", ".txt"}
_MOST_TEXT = 16 << 20


class UnreadableAnswerError(UsageError):
    """An answer is there, and not in the form that is asked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer: the folder of a project, or a file with what a model said."""

    path: Path


def operator_name(task: Task) -> str:
    return task.place.name.split("_")[0]


def kernel_name(task: Task) -> str:
    """`AddCustom` is `add_custom`, in the suite's way."""
    parted = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", operator_name(task))
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", parted).lower()


def find(folder: Path, task: Task, sample: int, case: int | None) -> Found | None:
    """The answer for a task's sample; `case` is the one it is for, where it is for one only."""
    if not folder.is_dir():
        raise UsageError(f"no such folder of answers: {folder}")
    for place in _run_folders(folder, task, sample, case):
        texts = sorted((place / "log").glob("*_code_gen_prompt.json"))
        if texts:
            return Found(texts[0])
        for project in (place / "src" / "src" / "ops" / kernel_name(task), place / "src"):
            if (project / "op_kernel").is_dir():
                return Found(project)
    for place in _projects(folder, task, sample, case):
        if (place / "op_kernel").is_dir():
            return Found(place)
    return None


def _run_folders(folder: Path, task: Task, sample: int, case: int | None) -> Iterator[Path]:
    fixed = "" if case is None else f"fixed_case_{case}"
    for root in _ROOTS:
        yield (
            folder
            / root
            / f"lvl{task.level}"
            / task.category
            / task.place.name
            / fixed
            / (f"sample{sample}")
        )


def _projects(folder: Path, task: Task, sample: int, case: int | None) -> Iterator[Path]:
    cases = [""] if case is None else [f"fixed_case_{case}", ""]
    samples = [f"sample{sample}", str(sample), *([""] if sample == 0 else [])]
    for name in (task.name, task.place.name, kernel_name(task)):
        for fixed in cases:
            for one in samples:
                yield folder / name / fixed / one


def project_of(found: Found, task: Task, interface: Interface, place: Path) -> Path:
    """The answer as an operator project in the folder `place`.

    `UnreadableAnswerError` says what is missing. In the kernel-only form the host side is the
    suite's own.
    """
    if found.path.is_dir():
        for name in _PROJECT:
            if (found.path / name).is_dir():
                _copy(found.path / name, place / name)
    else:
        for path, text in _said(found.path, kernel_name(task), interface).items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text, "utf-8")
    if interface == "kernel":
        shutil.rmtree(place / "op_host", ignore_errors=True)
    if not (place / "op_host").is_dir():
        if interface != "kernel":
            raise UnreadableAnswerError("the answer has no host code")
        _copy(task.place / "question" / "op_host", place / "op_host")
    return place


def _copy(source: Path, target: Path) -> None:
    """Sources only, and no links: the folder is somebody else's."""
    for path in sorted(source.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix not in _SOURCES:
            continue
        copy = target / path.relative_to(source)
        content = read_input(path, _MOST_TEXT, within=source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)


def _said(file: Path, kernel: str, interface: Interface) -> dict[str, str]:
    """The files in what a model said: tagged for a kernel alone, under headings otherwise."""
    try:
        said = parse_json(read_source(file, _MOST_TEXT), file.name)
        answer = str(said.get("gen_content") or "")
        text = f"{said.get('reasoning_content') or ''}\n{answer}"
    except (UsageError, AttributeError):
        raise UnreadableAnswerError(f"{file.name} is not what the suite saves") from None
    if not answer:
        raise UnreadableAnswerError("the answer is empty")
    if interface == "kernel":
        code = _code(re.search(r"<kernel_impl>(.*?)</kernel_impl>", text, re.DOTALL))
        # The prompt shows the signature without its last parameter.
        code = code.replace("GM_ADDR workspace", "GM_ADDR workspace, GM_ADDR tiling")
        return {f"op_kernel/{kernel}.cpp": code}
    rule = "=" * 18
    paths = (f"op_host/{kernel}_tiling.h", f"op_host/{kernel}.cpp", f"op_kernel/{kernel}.cpp")
    return {
        path: _code(
            re.search(rf"{rule} {re.escape(path)} {rule}\n```cpp\n(.*?)\n```", text, re.DOTALL),
            path,
        )
        for path in paths
    }


def _code(match: re.Match[str] | None, what: str = "kernel") -> str:
    text = match.group(1).strip() if match else ""
    inner = re.search(r"```cpp\s*(.*?)\s*```", text, re.DOTALL)
    text = inner.group(1).strip() if inner else text
    if not text:
        raise UnreadableAnswerError(f"no {what} in the answer")
    return text
