# SPDX-License-Identifier: Apache-2.0
"""Templates of prompts: those of a package, each of which a user's folder may replace."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npuforge.untrusted.templates import Templates


@cache
def _templates(own: Path, folder: Path | None) -> Templates:
    import jinja2  # noqa: PLC0415 (only those who ask models need it)

    from npuforge.untrusted.templates import Templates  # noqa: PLC0415

    return Templates(
        [own] if folder is None else [folder, own],
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # prompts are text, not HTML
    )


def rendered(own: Path, name: str, folder: Path | None = None, /, **values: Any) -> str:
    """The template `NAME.md.j2` with these values; `UsageError` for a user's own that fails."""
    file = f"{name}.md.j2"
    return _templates(own, folder).named(file, f"the template {file}", **values)
