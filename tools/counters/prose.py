# SPDX-License-Identifier: Apache-2.0
"""Docstrings and pages: the words that docstrings begin with, and the length of sentences.

A docstring begins badly if its first word is a question word, the verb of a question, or a word
that leans on a noun which is not there. A sentence ends with `.`, `!` or `?` before a space, or
with its paragraph; an item of a list is a paragraph. Code, tables and headings are no sentences.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterable, Iterator

from tools.counters.tree import Place, Source

BAD_OPENERS = frozenset((
    "what", "whatever", "whether", "where", "wherever", "when", "who", "whoever", "whose", "whom",
    "which", "how", "why", "is", "are", "was", "were", "does", "do", "did", "may", "can", "could",
    "has", "have", "those", "nothing", "of",
))  # fmt: skip
LONG = 25  # words

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_APART = re.compile(r"\s*(?:[#|<!]|$)")  # headings, tables, HTML, images, blank lines
_ITEM = re.compile(r"^\s*(?:[*+-]|\d+\.)\s+")
_END = re.compile(r"(?<=[.!?])(?<!\.\.\.)[\"')*`]*\s+")
_WORD = re.compile(r"\w")


def docstrings(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every docstring."""
    documented: list[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef] = [
        *source.nodes(ast.Module),
        *source.nodes(ast.ClassDef),
        *source.nodes(ast.FunctionDef),
        *source.nodes(ast.AsyncFunctionDef),
    ]
    for node in documented:
        text = ast.get_docstring(node)
        if text:
            yield node.body[0].lineno, text


def first_word(text: str) -> str:
    """Return the word that a docstring begins with, less quotes and commas."""
    return text.split(maxsplit=1)[0].strip("`*'\"(),.:;")


def badly_opened(source: Source) -> list[Place]:
    """List the docstrings that begin badly."""
    return [
        Place(source.path, line, f"a docstring begins with {first_word(text)!r}")
        for line, text in sorted(docstrings(source))
        if first_word(text).lower() in BAD_OPENERS
    ]


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a docstring or a page."""
    text = _COMMENT.sub("", _FENCED.sub("", text))
    for paragraph in _paragraphs(text.splitlines()):
        yield from (part for part in _END.split(paragraph) if _WORD.search(part))


def lengths(texts: Iterable[str]) -> list[int]:
    """Count the words of every sentence."""
    return [
        sum(bool(_WORD.search(word)) for word in sentence.split())
        for text in texts
        for sentence in sentences(text)
    ]


def median(counts: list[int]) -> float | None:
    """Return the median, None of nothing."""
    return statistics.median(counts) if counts else None


def _paragraphs(lines: list[str]) -> Iterator[str]:
    held: list[str] = []
    for line in [*lines, ""]:
        apart, item = _APART.match(line), _ITEM.match(line)
        code = line.startswith("    ") and item is None and not held
        if (apart or item or code) and held:
            yield " ".join(held)
            held = []
        if not apart and not code:
            held.append(_ITEM.sub("", line, count=1).strip())
