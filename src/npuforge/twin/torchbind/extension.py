# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ binding of a candidate against the thin torch headers."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from pathlib import Path

from npuforge.sandbox import Sandbox
from npuforge.twin.toolchain import BuildResult, Toolchain


def build_extension(
    sources: Sequence[Path],
    name: str,
    *,
    include_dirs: Sequence[Path] = (),
    toolchain: Toolchain | None = None,
    sandbox: Sandbox | None = None,
) -> BuildResult:
    """One importable module called `name` (what `TORCH_EXTENSION_NAME` expands to)."""
    python = Path(sysconfig.get_paths()["include"])
    return (toolchain or Toolchain.find()).compile(
        sources,
        kind="extension",
        name=name,
        include_dirs=[*include_dirs, python],
        defines={"TORCH_EXTENSION_NAME": name},
        sandbox=sandbox,
    )


def build_direct_extension(
    sources: Sequence[Path],
    name: str,
    *,
    include_dirs: Sequence[Path] = (),
    toolchain: Toolchain | None = None,
    sandbox: Sandbox | None = None,
) -> BuildResult:
    """A module whose kernels run in the process that imports it."""
    python = Path(sysconfig.get_paths()["include"])
    return (toolchain or Toolchain.find()).compile(
        sources,
        kind="direct_extension",
        name=name,
        include_dirs=[*include_dirs, python],
        defines={"TORCH_EXTENSION_NAME": name, "NPUFORGE_DIRECT_EXTENSION": "1"},
        prelude='#include "npu/direct.h"\n',
        sandbox=sandbox,
    )
