# SPDX-License-Identifier: Apache-2.0
"""Text of strangers (kernels, models, servers, files) made fit for a terminal.

A terminal obeys control characters: they move the cursor, rename the window, hide or reorder text.
They are shown as Python would escape them (`\\x1b`), as are characters without a glyph and those
that change the direction of writing. Only lines and tabs stay.
"""

from __future__ import annotations

MOST = 100_000  # characters of one text on a screen
_LONGEST_LINE = 500
_KEPT = "\n\t"


def printable(text: str, most: int = MOST) -> str:
    """Return the text with everything escaped that is no glyph, cut after `most` characters."""
    left_out = len(text) - most
    text = text[:most].replace("\r\n", "\n")
    if not text.isprintable():
        text = "".join(
            char if char.isprintable() or char in _KEPT else _escaped(char) for char in text
        )
    return f"{text}... ({left_out} characters more)" if left_out > 0 else text


def one_line(text: str, most: int = _LONGEST_LINE) -> str:
    """Return the text printable, on one line, and of at most `most` characters."""
    line = printable(" ".join(text.split()), len(text))
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
