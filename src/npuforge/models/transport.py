# SPDX-License-Identifier: Apache-2.0
"""One request over HTTP: its stream put together, failures of network and server tried again.

A reply leaves this module without the endpoint's key, whoever put it there, and bounded in length.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from npuforge.models.connection import Connection, Response
from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import AgainError
from npuforge.models.exchange import Reply, Request, Stop, Usage, guessed
from npuforge.models.sse import Event, events
from npuforge.models.tries import hidden, refused, shown, tried
from npuforge.models.wire import Piece
from npuforge.models.wire.kinds import wire_of

_LETTERS_A_TOKEN = 64  # far more than any tokenizer's mean: beyond it, nobody counts tokens
_LETTERS_AT_LEAST = 64 << 10
_LONGEST_GAP_S = 3600.0

Watch = Callable[[int], None]  # gets the number of letters that came


def unwatched(_letters: int) -> None:
    """Nobody looks on."""


@dataclass(slots=True)
class _Heard:
    """A reply so far; `most` letters at most."""

    most: int
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    letters: int = 0
    stop: Stop | None = None
    usage: Usage | None = None
    model: str = ""

    def take(self, piece: Piece) -> int:
        """Add a piece; return its letters."""
        self.text.append(piece.text)
        self.thinking.append(piece.thinking)
        letters = len(piece.text) + len(piece.thinking)
        self.letters += letters
        if self.letters > self.most:
            raise AgainError(f"the answer has more than {self.most} letters")
        if self.stop != "refused":
            self.stop = piece.stop or self.stop
        self.usage = piece.usage or self.usage
        self.model = piece.model or self.model
        return letters


class Transport:
    """For one endpoint; threads may share it."""

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], None] | None = None) -> None:
        self._endpoint = endpoint
        self._wire = wire_of(endpoint.kind)
        self._connection = Connection(endpoint)
        self._sleep = sleep or self._connection.sleep
        self._slots = threading.BoundedSemaphore(endpoint.concurrency)
        self._pace = _Pace(endpoint.requests_per_minute, self._sleep)

    def close(self) -> None:
        """Give the connections back."""
        self._connection.close()

    def stop(self) -> None:
        """End all requests at once, and refuse others."""
        self._connection.stop()

    def ask(self, request: Request, watch: Watch = unwatched) -> tuple[Reply, Usage]:
        """Return the reply, and the tokens of tries that broke off.

        `ModelError` after the last try.
        """
        started = time.monotonic()
        spent = Usage()

        def once() -> _Heard:
            nonlocal spent
            self._pace.wait()
            heard = _Heard(_LETTERS_AT_LEAST + _LETTERS_A_TOKEN * request.max_tokens)
            try:
                self._once(request, heard, watch)
            except AgainError:
                if heard.text:
                    spent += heard.usage or guessed(request, "".join(heard.text))
                raise
            return heard

        with self._slots:
            heard = tried(once, self._endpoint, self._sleep)
        return self._reply(request, heard, time.monotonic() - started), spent

    def _once(self, request: Request, heard: _Heard, watch: Watch) -> None:
        url = self._wire.url(self._endpoint.base_url)
        headers = self._wire.headers(self._endpoint.key)
        with self._connection.post(url, headers, self._wire.body(request)) as response:
            if response.status != 200:
                refused(self._endpoint, response, self._wire.complaint)
            for piece in self._wire.pieces(_events(response)):
                watch(heard.take(piece))
        if heard.stop is None:
            raise AgainError("the answer broke off")

    def _reply(self, request: Request, heard: _Heard, seconds: float) -> Reply:
        text, thinking = "".join(heard.text), "".join(heard.thinking)
        return Reply(
            text=hidden(self._endpoint, text),
            thinking=hidden(self._endpoint, thinking),
            stop=heard.stop or "end",
            usage=heard.usage or guessed(request, text + thinking),
            model=shown(self._endpoint, heard.model) or request.model,
            seconds=round(seconds, 3),
        )


def _events(response: Response) -> Iterator[Event]:
    """Yield those of a stream; a body that is no stream is one event."""
    if "text/event-stream" in response.headers.get("content-type", ""):
        yield from events(response.lines())
        return
    yield Event("message", response.whole().decode("utf-8", errors="replace"))


class _Pace:
    """No more requests in a minute than allowed, evenly."""

    def __init__(self, per_minute: float | None, sleep: Callable[[float], None]) -> None:
        self._gap = min(60.0 / per_minute, _LONGEST_GAP_S) if per_minute else 0.0
        self._sleep = sleep
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._gap
        if at > now:
            self._sleep(at - now)
