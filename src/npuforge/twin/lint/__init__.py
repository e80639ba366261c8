# SPDX-License-Identifier: Apache-2.0
"""What the vendor's device compiler refuses although a host compiler accepts it.

Works on the kernel's source text. Only device code is judged: functions reachable from a kernel
entry. What the text does not decide is not reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npuforge.errors import UsageError
from npuforge.twin.lint import calls, casts, kernel, language
from npuforge.twin.lint.context import Context
from npuforge.twin.lint.finding import Finding, SourceText
from npuforge.twin.lint.model import build
from npuforge.twin.lint.source import read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from npuforge.twin.project_files import ProjectFiles

__all__ = ["Finding", "SourceText", "lint"]


def lint(
    sources: Sequence[Path | SourceText],
    *,
    entry: str | None = None,
    include_roots: Sequence[Path] = (),
    files: ProjectFiles | None = None,
) -> list[Finding]:
    """The broken rules in the device code of `sources`, by file and line.

    `entry` limits the search to what that kernel reaches. Local includes are followed, next to the
    including file and in `include_roots`, as far as they are `files` of the project; headers of the
    toolkit are not.
    """
    try:
        context = Context(build(read(sources, include_roots, files), entry))
        for check in (language.check, calls.check, casts.check, kernel.check):
            check(context)
    except RecursionError:
        raise UsageError("the source is nested too deeply to be understood") from None
    return sorted(context.findings)
