# SPDX-License-Identifier: Apache-2.0
"""Exchanges kept in a file, and answers out of it."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from npuforge.errors import UsageError
from npuforge.fileformat import RECORDING
from npuforge.models.errors import ModelError
from npuforge.models.exchange import Reply, Request
from npuforge.private import private_file, private_folder
from npuforge.untrusted.inputs import read_input

FILE = "exchanges.jsonl"
_MOST_BYTES = 256 << 20
_PIECE = 1 << 20


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its reply; `purpose` is what a strategy asked for, `notes` what it wants to
    find again when the exchange is replayed."""

    request: Request
    reply: Reply
    purpose: str = ""
    notes: dict[str, str] = {}


class Recorder:
    """Adds lines to a file that only its owner reads; a line is there once its exchange is over.

    `hide` is what every line passes: it takes out what must not be kept.
    """

    def __init__(self, file: Path, hide: Callable[[str], str] = str) -> None:
        self._lock = threading.Lock()
        self._hide = hide
        private_folder(file.parent)
        self._out: IO[bytes] = os.fdopen(private_file(file), "r+b", buffering=0)
        try:
            _drop_torn_line(self._out)
        except OSError as error:
            self._out.close()
            raise UsageError(f"cannot write {file}: {error.strerror}") from None

    def add(self, exchange: Exchange) -> None:
        """Write a line."""
        line = self._hide(RECORDING.encode(exchange).decode()).encode() + b"\n"
        with self._lock:
            if not self._out.closed:  # by an interrupt, while a thread was still at work
                view = memoryview(line)
                while view:
                    view = view[self._out.write(view) :]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._out.close()


def _drop_torn_line(file: IO[bytes]) -> None:
    """Cut off what a killed process left of a line: the next would become a part of it."""
    end = file.seek(0, os.SEEK_END)
    start = end
    while start:
        start = max(0, start - _PIECE)
        file.seek(start)
        last = file.read(_PIECE).rfind(b"\n")
        if last >= 0:
            start += last + 1
            break
    if start < end:
        file.truncate(start)


def read(file: Path) -> list[Exchange]:
    """Return all exchanges of a recording; a last line that was not finished is left out."""
    text = read_input(file, _MOST_BYTES)
    whole = text[: text.rfind(b"\n") + 1]
    return [RECORDING.decode(line, Exchange, file) for line in whole.split(b"\n") if line]


class Replay:
    """Gives recorded replies; the n-th time a request is made, the n-th reply to it."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._lock = threading.Lock()
        self._left: dict[str, list[Reply]] = defaultdict(list)
        for exchange in exchanges:
            self._left[exchange.request.key].append(exchange.reply)
        self.notes = [exchange.notes for exchange in exchanges if exchange.notes]

    def ask(self, request: Request) -> Reply:
        with self._lock:
            left = self._left.get(request.key)
            if left:
                return left.pop(0)
        last = request.messages[-1].text.strip().splitlines()[:1] if request.messages else []
        words = last[0][:80] if last else "nothing"
        raise ModelError(f"the recording has no answer to this request ({words!r})")
