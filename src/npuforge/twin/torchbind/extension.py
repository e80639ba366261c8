# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ binding of a candidate against the thin torch headers."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from pathlib import Path

from npuforge.sandbox import Sandbox
from npuforge.twin.project_files import ProjectFiles
from npuforge.twin.toolchain import BuildResult, Toolchain

_LAUNCHES = '#define NPUFORGE_DIRECT_EXTENSION 1\n#include "npu/direct.h"\n'


def build_extension(
    sources: Sequence[Path],
    name: str,
    *,
    launches: bool = False,
    include_dirs: Sequence[Path] = (),
    root: Path | None = None,
    toolchain: Toolchain | None = None,
    sandbox: Sandbox | None = None,
) -> BuildResult:
    """One importable module called `name` (what `TORCH_EXTENSION_NAME` expands to); `root` is what
    its sources and folders are parts of, wherever it is.

    `launches` says that its kernels run in the process that imports it.
    """
    python = Path(sysconfig.get_paths()["include"])
    folder = root or sources[0].parent
    return (toolchain or Toolchain.find()).compile(
        sources,
        kind="direct_extension" if launches else "extension",
        name=name,
        include_dirs=[*include_dirs, python],
        defines={"TORCH_EXTENSION_NAME": name},
        prelude=_LAUNCHES if launches else None,
        root=folder,
        files=ProjectFiles.of(folder, opened=[python] if python.is_dir() else []),
        sandbox=sandbox,
    )
