# SPDX-License-Identifier: Apache-2.0
"""Exchanges kept in a file, and answers out of it."""

from __future__ import annotations

import threading
from collections import defaultdict
from pathlib import Path
from typing import IO

import msgspec

from npuforge.errors import UsageError
from npuforge.fileformat import RECORDING
from npuforge.models.errors import ModelError
from npuforge.models.exchange import Reply, Request

FILE = "exchanges.jsonl"


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its reply; `purpose` is what a strategy asked for, `notes` what it wants to
    find again when the exchange is replayed."""

    request: Request
    reply: Reply
    purpose: str = ""
    notes: dict[str, str] = {}


class Recorder:
    """Adds lines to a file; each is there as soon as its exchange is over."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._out: IO[bytes] = file.open("ab")
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror}") from None

    def add(self, exchange: Exchange) -> None:
        line = RECORDING.encode(exchange) + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def close(self) -> None:
        self._out.close()


def read(file: Path) -> list[Exchange]:
    """All that were recorded; a last line that was not finished is left out."""
    try:
        text = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    whole = text[: text.rfind(b"\n") + 1]
    return [RECORDING.decode(line, Exchange, file) for line in whole.splitlines()]


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
