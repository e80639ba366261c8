# SPDX-License-Identifier: Apache-2.0
"""Code out of what a model says: tolerant of how it is wrapped, strict about what it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from npuforge.models.exchange import Reply

_FENCE = re.compile(r"^(?P<mark>```+|~~~+)[^\n]*\n", re.MULTILINE)
_LONGEST = 400_000
_REFUSALS = re.compile(
    r"\b(I (can(no|')t|am unable to|won't)|I'm (unable|sorry)|as an AI|cannot (help|assist))", re.I
)


class AnswerError(Exception):
    """There is nothing to judge in an answer; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; one that is not `closed` was cut off."""

    text: str
    closed: bool


def blocks(text: str) -> list[Block]:
    """All fenced blocks in order."""
    found: list[Block] = []
    place = 0
    while (opening := _FENCE.search(text, place)) is not None:
        mark = opening["mark"]
        end = re.compile(rf"^{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
        closing = end.search(text, opening.end())
        stop = closing.start() if closing else len(text)
        found.append(Block(text[opening.end() : stop], closing is not None))
        place = closing.end() if closing else len(text)
    return found


def tile_program(reply: Reply) -> str:
    """The tile program in a reply."""
    return _code(reply, re.compile(r"@ascend_kernel\b"), "a tile program (@ascend_kernel)")


def _code(reply: Reply, sign: re.Pattern[str], what: str) -> str:
    text = reply.text
    if reply.stop == "refused":
        raise AnswerError("the model refused to answer")
    if not text.strip():
        cut = " before its answer began" if reply.stop == "length" else ""
        raise AnswerError(f"the answer is empty{cut}")
    if len(text) > _LONGEST:
        raise AnswerError(f"the answer has {len(text)} characters")
    fenced = [block for block in blocks(text) if sign.search(block.text)]
    if fenced:
        last = fenced[-1]
        if not last.closed and reply.stop == "length":
            raise AnswerError("the answer was cut off in the middle of the program")
        return last.text.strip() + "\n"
    if blocks(text) or not sign.search(text):
        refused = " (it declines)" if _REFUSALS.search(text) else ""
        raise AnswerError(f"the answer has no {what.removeprefix('a ')}{refused}")
    return _bare(text)


def _bare(text: str) -> str:
    """A program without fences: from its first line on that is one."""
    lines = text.splitlines()
    starts = ("import ", "from ", "@", "def ", "#", '"""')
    first = next((n for n, line in enumerate(lines) if line.startswith(starts)), 0)
    return "\n".join(lines[first:]).strip() + "\n"
