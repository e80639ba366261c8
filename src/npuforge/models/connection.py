# SPDX-License-Identifier: Apache-2.0
"""The only place that speaks HTTP: one request, and an answer that is bounded in every way.

A server is a stranger. What it sends is bounded in bytes, in the length of a line, and in time, as
a whole and between two pieces; it is neither decompressed nor redirected. All connections can be
cut at once, which ends every request that waits.

Proxies of the environment (HTTPS_PROXY, NO_PROXY) are used for addresses with TLS, which hides the
request from them. An address without TLS is asked directly.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from npuforge.models.address import Address
from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import AgainError, ModelError

if TYPE_CHECKING:
    import httpx

MIB = 1 << 20
_MOST_BYTES = 64 * MIB  # of a stream: a token is some 200 bytes of it
_MOST_WHOLE = 8 * MIB  # of a body that is one document
MOST_LINE = MIB
_MOST_REFUSAL = 64 << 10
_CONNECT_S = 20.0
_LONGEST_PAUSE_S = 3600.0
_PLAIN = {"Accept-Encoding": "identity"}


@dataclass(slots=True)
class _Leash:
    """What cuts one request off: at its deadline, or when everything stops."""

    sockets: list[socket.socket] = field(default_factory=list)
    timer: threading.Timer | None = None
    is_cut: bool = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Keep hold of the connection: a copy of its descriptor outlives the wrapping in TLS."""
        if event == "connection.connect_tcp.complete":
            connected = info["return_value"].get_extra_info("socket")
            self.sockets.append(socket.socket(fileno=os.dup(connected.fileno())))
            if self.is_cut:
                self.cut()

    def cut(self) -> None:
        self.is_cut = True
        for connected in self.sockets:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        for connected in self.sockets:
            connected.close()
        self.sockets.clear()


@dataclass(frozen=True, slots=True)
class Response:
    """The head of an answer; the body is read by `lines` or `whole`, once."""

    status: int
    reason: str
    headers: Mapping[str, str]
    _parts: Iterator[bytes]

    def whole(self, most: int = _MOST_WHOLE) -> bytes:
        """Return the body."""
        held = bytearray()
        for part in self._parts:
            held += part
            if len(held) > most:
                raise AgainError(f"the answer has more than {most} bytes")
        return bytes(held)

    def refusal(self) -> bytes:
        """Return the beginning of the body, as far as one reads a complaint."""
        held = bytearray()
        for part in self._parts:
            held += part
            if len(held) > _MOST_REFUSAL:
                break
        return bytes(held[:_MOST_REFUSAL])

    def lines(self) -> Iterator[str]:
        """Yield the lines of a stream, without their ends."""
        held, total = bytearray(), 0
        for part in self._parts:
            total += len(part)
            if total > _MOST_BYTES:
                raise AgainError(f"the answer has more than {_MOST_BYTES} bytes")
            *ends, rest = part.split(b"\n")
            for end in ends:
                held += end
                yield held.removesuffix(b"\r").decode("utf-8", errors="replace")
                held.clear()
            held += rest
            if len(held) > MOST_LINE:
                raise AgainError(f"the answer has a line of more than {MOST_LINE} bytes")


class Connection:
    """To one endpoint; threads may share it. Each request has a connection of its own."""

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx  # noqa: PLC0415 (only those who ask models pay for it)

        self._endpoint = endpoint
        self._guard = threading.Lock()
        self._held: dict[int, _Leash] = {}
        self._stopped = threading.Event()
        self._http = httpx.Client(
            timeout=httpx.Timeout(endpoint.timeout_s, connect=_CONNECT_S),
            limits=httpx.Limits(max_connections=endpoint.concurrency, max_keepalive_connections=0),
            trust_env=Address.of(endpoint.base_url).is_encrypted,
            follow_redirects=False,
        )

    def close(self) -> None:
        """End what is under way, and give everything back."""
        self.stop()
        self._http.close()

    def stop(self) -> None:
        """End all requests, those that are made from now on too."""
        self._stopped.set()
        with self._guard:
            for leash in self._held.values():
                leash.cut()

    def check(self) -> None:
        """Raise if nothing is asked any more."""
        if self._stopped.is_set():
            raise ModelError("asking was interrupted")

    def sleep(self, seconds: float) -> None:
        """Wait, but no longer than until everything stops."""
        self._stopped.wait(min(seconds, _LONGEST_PAUSE_S))
        self.check()

    @contextmanager
    def post(self, url: str, headers: Mapping[str, str], body: Any) -> Iterator[Response]:
        """Ask; a failure is `AgainError` where another try may do."""
        import httpx  # noqa: PLC0415

        failure: AgainError | None = None
        with self._leashed() as leash:
            try:
                with self._http.stream(
                    "POST",
                    url,
                    headers={**headers, **_PLAIN},
                    json=body,
                    extensions={"trace": leash.trace},
                ) as answer:
                    yield _response(answer)
            except httpx.HTTPError as error:
                failure = self._lost(error)
            except AgainError as error:
                failure = error
            self.check()
            if leash.is_cut:
                failure = AgainError(f"the answer took more than {self._endpoint.limit_s:g} s")
        if failure is not None:  # outside the handler: the failure of HTTP holds the headers
            raise failure

    @contextmanager
    def _leashed(self) -> Iterator[_Leash]:
        self.check()
        leash = _Leash()
        leash.timer = threading.Timer(self._endpoint.limit_s, leash.cut)
        leash.timer.daemon = True
        leash.timer.start()
        with self._guard:
            self._held[id(leash)] = leash
        try:
            yield leash
        finally:
            with self._guard:
                del self._held[id(leash)]
            leash.release()

    def _lost(self, error: httpx.HTTPError) -> AgainError:
        import httpx  # noqa: PLC0415

        if isinstance(error, httpx.TimeoutException):
            return AgainError(f"no word for {self._endpoint.timeout_s:g} s")
        return AgainError(str(error) or type(error).__name__)


def _response(answer: httpx.Response) -> Response:
    encoding = answer.headers.get("content-encoding", "identity")
    if encoding.strip().lower() not in ("identity", ""):
        raise AgainError("the answer is compressed, which nobody asked for")
    return Response(answer.status_code, answer.reason_phrase, answer.headers, answer.iter_raw())
