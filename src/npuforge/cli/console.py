# SPDX-License-Identifier: Apache-2.0
"""The only way by which a command's words reach a terminal: without a stranger's orders to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from npuforge.printable import printable


class SafeConsole(Console):
    """A console whose text is printable, whoever wrote it; colours are those of the markup."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of what is printed, of tables and lists too."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(printable(text, len(text)), style)
