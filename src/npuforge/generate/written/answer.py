# SPDX-License-Identifier: Apache-2.0
"""Code out of what a model says: tolerant of how it is wrapped, strict about what it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from npuforge.models.exchange import Reply

_FENCE = re.compile(r"^(?P<mark>```+|~~~+)[^\n]*\n", re.MULTILINE)
_FILE = re.compile(r"^=+[ \t]*((?:op_host|op_kernel)/\w[\w-]*\.(?:h|hpp|cpp))[ \t]*=+[ \t]*$", re.M)
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


def ascendc_kernel(reply: Reply) -> str:
    """The kernel's source in a reply."""
    return _code(reply, re.compile(r"\b__global__\b"), "an AscendC kernel (__global__)")


def project_files(reply: Reply) -> dict[str, str]:
    """The files of an operator project in a reply: each after a line with its path."""
    text = _said(reply)
    found: dict[str, str] = {}
    parts = _FILE.split(text)
    for path, body in zip(parts[1::2], parts[2::2], strict=True):
        fenced = blocks(body)
        if fenced and not fenced[0].closed and reply.stop == "length":
            raise AnswerError(f"the answer was cut off in the middle of {path}")
        found[path] = (fenced[0].text if fenced else body).strip() + "\n"
    if not found:
        refused = " (it declines)" if _REFUSALS.search(text) else ""
        raise AnswerError(f"the answer has no files (==== path ====){refused}")
    return found


def joined(files: Mapping[str, str]) -> str:
    """Files as one text, in the form that answers have."""
    return "\n".join(f"==== {path} ====\n{text}" for path, text in files.items())


def files_in(text: str) -> dict[str, str]:
    """The files of a text that `joined` made."""
    parts = _FILE.split(text)
    return {
        path: body.strip("\n") + "\n" for path, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def _said(reply: Reply) -> str:
    """The text of a reply that has one of a reasonable length."""
    text = reply.text
    if reply.stop == "refused":
        raise AnswerError("the model refused to answer")
    if not text.strip():
        cut = " before its answer began" if reply.stop == "length" else ""
        raise AnswerError(f"the answer is empty{cut}")
    if len(text) > _LONGEST:
        raise AnswerError(f"the answer has {len(text)} characters")
    return text


def _code(reply: Reply, sign: re.Pattern[str], what: str) -> str:
    text = _said(reply)
    fenced = [block for block in blocks(text) if sign.search(block.text)]
    if fenced:
        last = fenced[-1]
        if not last.closed and reply.stop == "length":
            raise AnswerError("the answer was cut off in the middle of the program")
        return last.text.strip() + "\n"
    if blocks(text) or not sign.search(text):
        refused = " (it declines)" if _REFUSALS.search(text) else ""
        raise AnswerError(f"the answer has no {re.sub('^an? ', '', what)}{refused}")
    return _bare(text)


def _bare(text: str) -> str:
    """A program without fences: from its first line on that is one."""
    lines = text.splitlines()
    starts = ("import ", "from ", "@", "def ", "#", '"""', "//", "/*")
    first = next((n for n, line in enumerate(lines) if line.startswith(starts)), 0)
    return "\n".join(lines[first:]).strip() + "\n"
