# SPDX-License-Identifier: Apache-2.0
"""Templates of prompts: those of a package, each of which a user's folder may replace."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npuforge.errors import UsageError

if TYPE_CHECKING:
    import jinja2


@cache
def _templates(own: Path, folder: Path | None) -> jinja2.Environment:
    import jinja2  # noqa: PLC0415 (only those who ask models need it)

    places = [own] if folder is None else [folder, own]
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(places),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # prompts are text, not HTML
    )


def rendered(own: Path, name: str, folder: Path | None = None, /, **values: Any) -> str:
    """The template `NAME.md.j2` with these values; `UsageError` for a user's own that fails."""
    import jinja2  # noqa: PLC0415

    try:
        return _templates(own, folder).get_template(f"{name}.md.j2").render(**values)
    except jinja2.TemplateError as error:
        raise UsageError(f"the template {name}.md.j2 fails: {error}") from None
