# SPDX-License-Identifier: Apache-2.0
"""Reads MultiKernelBench's answer formats without running them.

An answer is hostile input: sizes and numbers of sources are bounded, and every name in it is
checked here, before it is used in a path, in C++ text or in a report.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from npuforge import syntax
from npuforge.errors import UsageError
from npuforge.untrusted.documents import parse_json
from npuforge.untrusted.inputs import MIB, read_source, read_text
from npuforge.untrusted.names import checked_name

SIX = (
    "project_json_src",
    "host_tiling_src",
    "host_operator_src",
    "kernel_src",
    "python_bind_src",
    "model_src",
)
ANSWER_LIMIT = 4 * MIB
_MOST_SOURCES = 256
_FENCE = re.compile(r"```(?:python|py)?\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SixStrings:
    """An operator project, its binding and its model, as six strings."""

    strings: dict[str, str]
    operator: str

    @staticmethod
    def read(path: Path) -> SixStrings:
        text = read_source(path, ANSWER_LIMIT)
        if "kernel_src" not in text:
            raise UsageError(f"{path.name} is no answer: it does not define kernel_src")
        fenced = _FENCE.search(text)
        strings = _constants(fenced.group(1) if fenced else text, path.name)
        if missing := [name for name in SIX if name not in strings]:
            raise UsageError(f"{path.name} does not define {', '.join(missing)}")
        return SixStrings(strings, _operator(strings["project_json_src"], path.name))


class _Source(msgspec.Struct):
    path: str
    content: str


class _Entry(msgspec.Struct):
    model: str


class _Build(msgspec.Struct):
    module_name: str | None = None


class _Document(msgspec.Struct):
    """Text of a direct-launch answer; other keys are ignored."""

    sources: list[_Source]
    entry: _Entry
    build: _Build = msgspec.field(default_factory=_Build)


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """Sources with `<<<>>>` launches and a pybind module, in one JSON document."""

    sources: dict[str, str]  # by path
    model_file: str
    model_class: str
    module: str

    @staticmethod
    def read(path: Path) -> DirectAnswer:
        document = parse_json(read_text(path, ANSWER_LIMIT), path.name)
        try:
            answer = msgspec.convert(document, _Document)
        except msgspec.ValidationError as problem:
            raise UsageError(f"{path.name} is no direct-launch answer: {problem}") from None
        if len(answer.sources) > _MOST_SOURCES:
            raise UsageError(f"{path.name} has more than {_MOST_SOURCES} sources")
        sources = {
            checked_name("file", source.path, "the source path"): source.content
            for source in answer.sources
        }
        for place in sources:
            if any(str(parent) in sources for parent in PurePosixPath(place).parents):
                raise UsageError(f"{path.name}: {place!r} lies below a source")
        file, _, name = answer.entry.model.partition("::")
        if file not in sources:
            raise UsageError(f"{path.name}: the entry {file!r} is not among its sources")
        modules = [
            found.group(1)
            for text in sources.values()
            if (found := re.search(r"PYBIND11_MODULE\s*\(\s*(\w+)", text))
        ]
        if not modules:
            raise UsageError(f"{path.name} has no PYBIND11_MODULE")
        module = answer.build.module_name or modules[0]
        return DirectAnswer(
            sources,
            file,
            checked_name("identifier", name or "ModelNew", "the model's class"),
            checked_name("identifier", module, "the module's name"),
        )


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
            value.encode("utf-8")
        except (ValueError, TypeError, AttributeError, SyntaxError, RecursionError, MemoryError):
            raise UsageError(f"{name}: {target} must be a plain string") from None
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
        operator = parse_json(text, name)[0]["op"]
    except (LookupError, TypeError):
        raise UsageError(f"{name}: project_json_src does not name an operator") from None
    return checked_name("identifier", operator, f"{name}: the operator's name")
