# SPDX-License-Identifier: Apache-2.0
"""Tell what a path holds. A new form adds a line here and a module beside this one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.twin.sources.direct import SUFFIXES, DirectProgram, has_main
from npuforge.twin.sources.kernel_file import KernelFile
from npuforge.twin.sources.model_answer import SUFFIXES as ANSWER_SUFFIXES
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.sources.operator import OperatorSource
from npuforge.untrusted.inputs import is_plain_file, shown_path

Source = KernelFile | OperatorSource | DirectProgram | ModelAnswer


def recognise(
    path: Path,
    *,
    entry: str | None = None,
    soc: str = "910b2",
    include_dirs: Sequence[Path] = (),
    golden: Sequence[str] = (),
) -> Source:
    """The source at `path`; `UsageError` when it is none of the known forms.

    `include_dirs` are folders outside of it that its sources may include from, `golden` patterns
    of a program's files that only its judge reads.

    A folder is an operator project (`op_host`, `op_kernel`) or holds a program with its own `main`;
    a file is such a program's main source, a kernel, or an answer of MultiKernelBench.
    """
    if not os.path.exists(path):
        raise UsageError(f"no such file or folder: {shown_path(path)}")
    if path.is_dir():
        if _is_project(path):
            return OperatorSource.open(path, operator=entry, soc=soc, include_dirs=include_dirs)
        if any(child.suffix in SUFFIXES for child in path.iterdir()):
            return DirectProgram.open(path, include_dirs=include_dirs, golden=golden)
        raise UsageError(
            f"{path} is neither an operator project (op_host, op_kernel) nor a program's folder"
        )
    if not is_plain_file(path):
        raise UsageError(f"{shown_path(path)} is not a plain file")
    if path.suffix in ANSWER_SUFFIXES:
        return ModelAnswer.open(path, soc=soc)
    if path.suffix not in SUFFIXES:
        known = ", ".join((*SUFFIXES, *ANSWER_SUFFIXES))
        raise UsageError(f"{path.name}: sources end in {known}")
    if has_main(path):
        return DirectProgram.open(path, include_dirs=include_dirs, golden=golden)
    return KernelFile(Path(os.path.realpath(path)), entry, include_dirs)


def _is_project(path: Path) -> bool:
    names = {child.name for child in path.iterdir() if child.is_dir()}
    return bool(names & {"op_host", "op_kernel", "answer"}) or path.name in ("op_host", "op_kernel")
