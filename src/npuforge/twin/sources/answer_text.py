# SPDX-License-Identifier: Apache-2.0
"""Reads MultiKernelBench's answer formats without running them."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from npuforge import syntax
from npuforge.errors import UsageError

SIX = (
    "project_json_src",
    "host_tiling_src",
    "host_operator_src",
    "kernel_src",
    "python_bind_src",
    "model_src",
)
_FENCE = re.compile(r"```(?:python|py)?\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SixStrings:
    """An operator project, its binding and its model, as six strings."""

    strings: dict[str, str]
    operator: str

    @staticmethod
    def read(path: Path) -> SixStrings:
        text = path.read_text("utf-8", errors="replace")
        if "kernel_src" not in text:
            raise UsageError(f"{path.name} is no answer: it does not define kernel_src")
        fenced = _FENCE.search(text)
        strings = _constants(fenced.group(1) if fenced else text, path.name)
        if missing := [name for name in SIX if name not in strings]:
            raise UsageError(f"{path.name} does not define {', '.join(missing)}")
        return SixStrings(strings, _operator(strings["project_json_src"], path.name))


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """Sources with `<<<>>>` launches and a pybind module, in one JSON document."""

    sources: dict[str, str]  # by path
    model_file: str
    model_class: str
    module: str

    @staticmethod
    def read(path: Path) -> DirectAnswer:
        try:
            document = json.loads(path.read_text("utf-8"))
            sources = {str(s["path"]): str(s["content"]) for s in document["sources"]}
            file, _, name = str(document["entry"]["model"]).partition("::")
        except (ValueError, KeyError, TypeError) as problem:
            raise UsageError(f"{path.name} is no direct-launch answer: {problem}") from None
        for place in sources:
            parts = PurePosixPath(place)
            if parts.is_absolute() or ".." in parts.parts:
                raise UsageError(f"{path.name}: source path {place!r} leaves the answer")
        if file not in sources:
            raise UsageError(f"{path.name}: the entry {file!r} is not among its sources")
        modules = [
            found.group(1)
            for text in sources.values()
            if (found := re.search(r"PYBIND11_MODULE\s*\(\s*(\w+)", text))
        ]
        wanted = document.get("build", {}).get("module_name")
        if not modules:
            raise UsageError(f"{path.name} has no PYBIND11_MODULE")
        return DirectAnswer(sources, file, name or "ModelNew", wanted or modules[0])


def _constants(text: str, name: str) -> dict[str, str]:
    """Module-level string assignments; anything but constants is refused, not evaluated."""
    try:
        tree = syntax.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise UsageError(f"{name} is not Python: {problem}") from None
    found: dict[str, str] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        target = node.targets[0].id
        if target not in SIX:
            continue
        try:
            value = ast.literal_eval(_without_strip(node.value))
        except ValueError:
            raise UsageError(f"{name}: {target} must be a plain string") from None
        if not isinstance(value, str):
            raise UsageError(f"{name}: {target} must be a string")
        found[target] = value
    return found


def _without_strip(node: ast.expr) -> ast.expr:
    """`\"\"\"...\"\"\".strip()` is common and harmless."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("strip", "lstrip", "rstrip")
        and not node.args
    ):
        return node.func.value
    return node


def _operator(text: str, name: str) -> str:
    try:
        return str(json.loads(text)[0]["op"])
    except (ValueError, LookupError, TypeError):
        raise UsageError(f"{name}: project_json_src does not name an operator") from None
