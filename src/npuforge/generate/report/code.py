# SPDX-License-Identifier: Apache-2.0
"""Source text as HTML: line numbers, and colour for comments, strings, words and numbers."""

from __future__ import annotations

import re
from html import escape

_PYTHON_WORDS = (
    "and as assert break class continue def del elif else except finally for from global if import "
    "in is lambda not or pass raise return try while with yield None True False self"
)
_CPP_WORDS = (
    "auto bool break case class const constexpr continue default delete do double else enum extern "
    "false float for half if inline int int32_t int64_t namespace new nullptr operator private "
    "protected public return sizeof static struct switch template this true typename uint8_t "
    "uint16_t uint32_t uint64_t unsigned using void while __aicore__ __global__ __gm__ GM_ADDR"
)
_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_NUMBER = r"\b(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)[fuUlL]*\b"


def _pattern(comment: str, words: str) -> re.Pattern[str]:
    parts = {
        "comment": comment,
        "string": _STRING,
        "word": rf"\b(?:{'|'.join(words.split())})\b",
        "number": _NUMBER,
    }
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()), re.S)


_PYTHON = _pattern(r"#[^\n]*|\"\"\".*?\"\"\"", _PYTHON_WORDS)
_CPP = _pattern(r"//[^\n]*|/\*.*?\*/", _CPP_WORDS)


def listing(text: str, path: str) -> str:
    """A table of lines; the language follows from the path."""
    pattern = _PYTHON if path.endswith(".py") else _CPP
    lines = _coloured(text, pattern).rstrip("\n").split("\n")
    rows = "".join(f'<li value="{place}">{line or " "}</li>' for place, line in enumerate(lines, 1))
    return f'<ol class="code">{rows}</ol>'


def _coloured(text: str, pattern: re.Pattern[str]) -> str:
    """Escaped text with spans, none of which goes over the end of a line."""
    out: list[str] = []
    place = 0
    for match in pattern.finditer(text):
        out.append(escape(text[place : match.start()]))
        style = str(match.lastgroup)
        parts = match[0].split("\n")
        out.append("\n".join(f'<span class="c-{style}">{escape(part)}</span>' for part in parts))
        place = match.end()
    out.append(escape(text[place:]))
    return "".join(out)
