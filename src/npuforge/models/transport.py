# SPDX-License-Identifier: Apache-2.0
"""One request over HTTP: its stream put together, failures of network and server tried again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from npuforge.models.endpoint import Endpoint
from npuforge.models.exchange import Reply, Request, Stop, Usage, guessed
from npuforge.models.sse import Event, events
from npuforge.models.tries import AgainError, lost, refused, tried
from npuforge.models.wire import Piece
from npuforge.models.wire.kinds import wire_of

if TYPE_CHECKING:
    import httpx

_CONNECT_S = 20.0

Watch = Callable[[Piece], None]


def unwatched(_piece: Piece) -> None:
    """Nobody looks on."""


@dataclass(slots=True)
class _Heard:
    """A reply so far."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    stop: Stop | None = None
    usage: Usage | None = None
    model: str = ""

    def take(self, piece: Piece) -> None:
        self.text.append(piece.text)
        self.thinking.append(piece.thinking)
        if self.stop != "refused":
            self.stop = piece.stop or self.stop
        self.usage = piece.usage or self.usage
        self.model = piece.model or self.model


class Transport:
    """For one endpoint; threads may share it."""

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], None] = time.sleep) -> None:
        import httpx  # noqa: PLC0415 (only those who ask models pay for it)

        self._endpoint = endpoint
        self._wire = wire_of(endpoint.kind)
        self._sleep = sleep
        self._slots = threading.BoundedSemaphore(endpoint.concurrency)
        self._pace = _Pace(endpoint.requests_per_minute, sleep)
        self._http = httpx.Client(
            timeout=httpx.Timeout(endpoint.timeout_s, connect=_CONNECT_S),
            limits=httpx.Limits(max_connections=endpoint.concurrency),
        )

    def close(self) -> None:
        self._http.close()

    def ask(self, request: Request, watch: Watch = unwatched) -> tuple[Reply, Usage]:
        """The reply, and the tokens of tries that broke off. `ModelError` after the last try."""
        started = time.monotonic()
        spent = Usage()

        def once() -> _Heard:
            nonlocal spent
            self._pace.wait()
            heard = _Heard()
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
        import httpx  # noqa: PLC0415

        url = self._wire.url(self._endpoint.base_url)
        try:
            with self._http.stream(
                "POST",
                url,
                headers=self._wire.headers(self._endpoint.key),
                json=self._wire.body(request),
            ) as response:
                if response.status_code != 200:
                    response.read()
                    refused(self._endpoint, response, self._wire.complaint)
                for piece in self._wire.pieces(_events(response)):
                    heard.take(piece)
                    watch(piece)
        except httpx.HTTPError as error:
            raise lost(self._endpoint, error) from None
        if heard.stop is None:
            raise AgainError("the answer broke off")

    def _reply(self, request: Request, heard: _Heard, seconds: float) -> Reply:
        text, thinking = "".join(heard.text), "".join(heard.thinking)
        return Reply(
            text=text,
            thinking=thinking,
            stop=heard.stop or "end",
            usage=heard.usage or guessed(request, text + thinking),
            model=heard.model or request.model,
            seconds=round(seconds, 3),
        )


def _events(response: httpx.Response) -> Iterator[Event]:
    """Those of a stream; the one that the whole body is, from a server that does not stream."""
    if "text/event-stream" in response.headers.get("content-type", ""):
        yield from events(response.iter_lines())
        return
    response.read()
    yield Event("message", response.text)


class _Pace:
    """No more requests in a minute than allowed, evenly."""

    def __init__(self, per_minute: float | None, sleep: Callable[[float], None]) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
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
