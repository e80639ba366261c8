# SPDX-License-Identifier: Apache-2.0
"""What models are told: templates, each of which a user's folder may replace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npuforge.models.templates import rendered

_OWN = Path(__file__).parent


def render(name: str, folder: Path | None = None, /, **values: Any) -> str:
    """The template `NAME.md.j2` with these values; `UsageError` for a user's own that fails."""
    return rendered(_OWN, name, folder, **values)
