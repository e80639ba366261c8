# SPDX-License-Identifier: Apache-2.0
"""An endpoint on this machine that says what a test tells it to."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any


@dataclass
class Answer:
    """`lines` are sent as they are; `status` other than 200 sends `body` as JSON."""

    lines: list[str] = field(default_factory=list)
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Served:
    """The address, and every request as it came."""

    base: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def serving(*answers: Answer) -> Iterator[Served]:
    """Gives the answers in order; the last one again and again."""
    left = list(answers)
    served = Served("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            served.requests.append(json.loads(self.rfile.read(size)))
            served.headers.append({k.lower(): v for k, v in self.headers.items()})
            served.paths.append(self.path)
            answer = left.pop(0) if len(left) > 1 else left[0]
            body = "".join(f"{line}\n" for line in answer.lines).encode()
            kind = "text/event-stream"
            if answer.body is not None:
                body, kind = json.dumps(answer.body).encode(), "application/json"
            self.send_response(answer.status)
            for name, value in {"Content-Type": kind, **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    served.base = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def chat(*texts: str, stop: str | None = "stop", usage: tuple[int, int] | None = None) -> Answer:
    """A streamed chat completion."""
    chunks: list[dict[str, Any]] = [
        {"model": "served", "choices": [{"delta": {"content": text}}]} for text in texts
    ]
    if stop is not None:
        chunks.append({"choices": [{"delta": {}, "finish_reason": stop}]})
    if usage is not None:
        asked, said = usage
        chunks.append({"choices": [], "usage": {"prompt_tokens": asked, "completion_tokens": said}})
    lines = [line for chunk in chunks for line in (f"data: {json.dumps(chunk)}", "")]
    return Answer([*lines, "data: [DONE]", ""] if stop is not None else lines)


def message(*texts: str, stop: str = "end_turn") -> Answer:
    """A streamed message of Anthropic's."""
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {
                "model": "served",
                "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1},
            },
        },
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}},
        *(
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
            for text in texts
        ),
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return Answer(
        [
            line
            for event in events
            for line in (f"event: {event['type']}", f"data: {json.dumps(event)}", "")
        ]
    )


@dataclass
class Flood:
    """The address of a server that sends bytes, how many it got rid of, and what it was sent."""

    base: str = ""
    sent: int = 0
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def flooding(parts: Callable[[], Iterable[bytes]]) -> Iterator[Flood]:
    """Answers each request with raw bytes, as long as the client listens."""
    flood = Flood()
    over = threading.Event()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = self.rfile.readline()
                if not line:
                    return
                head += line
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            flood.requests.append(head + self.rfile.read(int(length[1]) if length else 0))
            try:
                for part in parts():
                    if over.is_set():
                        return
                    self.wfile.write(part)
                    flood.sent += len(part)
            except OSError:
                pass

    class Server(ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    flood.base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield flood
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
