# SPDX-License-Identifier: Apache-2.0
"""Correct kernels and seeded faults: loading them, building all in one unit, running each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from npuforge.twin.execute import RunResult, execute
from npuforge.twin.kernel import KernelBuild
from npuforge.twin.launch import (
    Argument,
    Launch,
    ScalarArgument,
    WorkspaceArgument,
    output,
    tensor,
)
from npuforge.twin.toolchain import Toolchain

FOLDER = Path(__file__).parent
_COMPILE_FAMILIES = ("DTY", "CVT", "LNT")


@cache
def _described(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """How the kernels of a folder are launched."""
    found: Mapping[str, Mapping[str, Any]] = tomllib.loads((folder / "kernels.toml").read_text())
    return found


KERNELS = _described(FOLDER)


@dataclass(frozen=True)
class Variant:
    """A kernel as it is (`kind` is empty) or with one fault."""

    kernel: str
    kind: str = ""
    rules: tuple[str, ...] = ()
    edits: tuple[tuple[str, str], ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    blocks: int = 0
    folder: Path = FOLDER

    @property
    def id(self) -> str:
        return re.sub(r"\W+", "-", f"{self.kernel} {self.kind}".strip())

    @property
    def symbol(self) -> str:
        return self.id.replace("-", "_")

    @property
    def linted(self) -> bool:
        return any(rule.startswith("LNT") for rule in self.rules)

    @property
    def stops_the_compiler(self) -> bool:
        return any(rule.startswith(_COMPILE_FAMILIES) for rule in self.rules)

    def source(self) -> str:
        text = (self.folder / "kernels" / f"{self.kernel}.cpp").read_text()
        for old, new in self.edits:
            assert old in text, f"{self.id}: the source has no {old!r}"
            text = text.replace(old, new, 1)
        return text

    def launch(self) -> Launch:
        described = _described(self.folder)[self.kernel]
        random = np.random.default_rng(1)
        return Launch(
            self.blocks or described["blocks"],
            [_argument(spec, self.roles, random) for spec in described["arguments"]],
        )

    def auto_sync(self) -> bool:
        return bool(_described(self.folder)[self.kernel].get("auto_sync", True))


def clean() -> list[Variant]:
    return [Variant(name) for name in KERNELS]


def faults() -> list[Variant]:
    return [
        Variant(
            name,
            entry["kind"],
            tuple(entry["rules"]),
            tuple((old, new) for old, new in entry.get("edits", [])),
            entry.get("roles", {}),
            entry.get("blocks", 0),
        )
        for name in KERNELS
        for entry in tomllib.loads((FOLDER / "faults" / f"{name}.toml").read_text())["fault"]
    ]


def build_together(variants: Sequence[Variant], folder: Path) -> Path:
    """One library with all of them, each in a namespace: the headers are read once."""
    parts = ['#include "kernel_operator.h"\n#include "npu/entry.h"\n']
    for variant in variants:
        body = re.sub(r"^#include.*\n", "", variant.source(), flags=re.MULTILINE)
        body = body.replace('extern "C" ', "")
        parts.append(
            f"namespace {variant.symbol} {{\n{body}\n}}\n"
            f"NPUFORGE_ENTRY_AS({variant.symbol}, {variant.symbol}::{variant.kernel})\n"
        )
    unit = folder / "variants.cpp"
    unit.write_text("".join(parts))
    built = Toolchain.find().compile([unit], kind="kernel", name="variants")
    assert built.path is not None, built.log
    return built.path


def run(variant: Variant, library: Path) -> RunResult:
    build = KernelBuild(
        entry=variant.symbol,
        source=FOLDER / "kernels" / f"{variant.kernel}.cpp",
        root=FOLDER,
        library=library,
        diagnostics=[],
        violations=[],
    )
    return execute(build, variant.launch(), mode="check", auto_sync=variant.auto_sync())


def reported(result: RunResult) -> set[str]:
    return {item.rule for item in (*result.findings, *result.races)}


def _argument(
    spec: Mapping[str, Any], roles: Mapping[str, str], random: np.random.Generator
) -> Argument:
    if "number" in spec:
        return ScalarArgument("number", int(spec["number"]).to_bytes(4, "little"))
    if "workspace" in spec:
        return WorkspaceArgument("workspace", spec["workspace"])
    name, dtype, shape = spec["name"], spec["dtype"], spec["shape"]
    role = roles.get(name, spec.get("role", "in"))
    if role == "out":
        return output(name, shape, dtype)
    values = _values(spec["fill"], int(np.prod(shape)), random).reshape(shape)
    if dtype == "bfloat16":
        bits = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return tensor(name, bits, dtype=dtype, role=role)
    return tensor(name, values.astype(dtype), role=role)


def _values(fill: str, count: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
    if fill == "zeros":
        return np.zeros(count, np.float32)
    if fill == "integers":
        return random.integers(-8, 8, count)
    if fill == "downwards":  # byte offsets of floats, last one first
        return (count - 1 - np.arange(count)) * 4
    if fill == "truth":
        return random.integers(0, 2, count)
    if fill == "places":  # of rows in a short table
        return random.integers(0, 8, count)
    values = random.standard_normal(count).astype(np.float32)
    return -np.abs(values) if fill == "negative" else values
