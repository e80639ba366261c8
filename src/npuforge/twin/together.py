# SPDX-License-Identifier: Apache-2.0
"""Several kernels in one library: the compiler starts once, and what they share is compiled once.

For many kernels that are each run a few times on small tensors. Each has a namespace of its own, so
that classes of the same name do not meet; its entry, which C linkage puts outside of namespaces,
has a number behind its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npuforge.twin.kernel import KernelBuild, lint_violations, store_text
from npuforge.twin.project_files import ProjectFiles
from npuforge.twin.toolchain import Toolchain


@dataclass(frozen=True, slots=True)
class Part:
    """A kernel's source, and the name of its `__global__` function."""

    source: str
    entry: str


def build_together(parts: Sequence[Part]) -> list[KernelBuild] | None:
    """The kernels' builds, all in one library; None where any of them does not compile: which one,
    and why, their own builds say."""
    tools = Toolchain.find()
    paths = [store_text(part.source, tools) for part in parts]
    root = tools.cache.root / "sources"
    lines = ['#include "kernel_operator.h"', '#include "npu/entry.h"']
    for number, (part, path) in enumerate(zip(parts, paths, strict=True)):
        own = _numbered(part, number)
        lines += [
            f"#define {part.entry} {own}",
            f"namespace part_{number} {{",
            f'#include "{path}"',
            "}",
            f"#undef {part.entry}",
            f"NPUFORGE_ENTRY_AS({own}, part_{number}::{own})",
        ]
    text = "\n".join(lines) + "\n"
    built = tools.compile(
        [store_text(text, tools, "together.cpp")],
        kind="brief_kernel",
        name="together",
        root=root,
        files=ProjectFiles.of(*(path.parent for path in paths)),
    )
    if built.path is None:
        return None
    return [
        KernelBuild(
            entry=_numbered(part, number),
            source=path,
            root=root,
            library=built.path,
            diagnostics=[],
            violations=lint_violations([path], root, entry=part.entry),
            log=built.log,
            cached=built.cached,
        )
        for number, (part, path) in enumerate(zip(parts, paths, strict=True))
    ]


def _numbered(part: Part, number: int) -> str:
    return f"{part.entry}_{number}"
