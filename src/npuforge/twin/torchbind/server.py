# SPDX-License-Identifier: Apache-2.0
"""Serve the operator calls of a sandboxed process, which may send and do whatever it likes.

Lines cross two named pipes that are opened before the process starts; only their descriptors are
used here, so what the process does to the names matters to itself alone. A line is bounded, calls
and their bytes are counted, and every wait ends with the process.
"""

from __future__ import annotations

import os
import re
import select
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType

import msgspec

from npuforge.errors import NpuforgeError
from npuforge.printable import one_line
from npuforge.sandbox import Limits
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.torchbind.calls import perform
from npuforge.twin.torchbind.requests import (
    MOST_CALLS,
    MOST_LINE,
    MOST_SESSION_BYTES,
    Reply,
    parse_request,
)

_PATH = re.compile(r"(?<![\w)\]])(?:\.{0,2}/[^\s/:'\",;()]+)+/")
_PIECE = 1 << 16
# What a call that fits its type can still be wrong about: values, ranges, sizes.
_MALFORMED = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Service:
    """Means of answering calls; `timed` models the time of each call too."""

    operators: Mapping[str, OperatorSource]
    mode: Mode = "check"
    limits: Limits | None = None
    timed: bool = False


@dataclass(slots=True)
class CallServer:
    """`with CallServer(folder, service) as server:` answers calls until the block ends.

    `calls` are those that were performed, without their tensors. `refused` says why serving ended
    before the process did, which is to be stopped when the descriptor `until` can be read.
    """

    folder: SharedFolder
    service: Service
    calls: list[tuple[str, RunResult]] = field(default_factory=list)
    refused: str | None = None
    until: int = -1
    _asked: int = 0
    _bytes: int = 0
    _requests: int = -1
    _answers: int = -1
    _enough: int = -1
    _end: tuple[int, int] = (-1, -1)
    _thread: threading.Thread | None = None
    _failure: BaseException | None = None

    def __enter__(self) -> CallServer:
        self._requests = self.folder.fifo("requests")
        self._answers = self.folder.fifo("answers")
        self._end = os.pipe()
        self.until, self._enough = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.write(self._end[1], b"e")
        assert self._thread is not None
        self._thread.join()  # a launch that has begun ends within its limits
        for handle in (self._requests, self._answers, *self._end, self.until, self._enough):
            os.close(handle)
        if self._failure is not None and error is None:
            raise self._failure

    def _run(self) -> None:
        try:
            self._serve()
        except HostileFileError as problem:
            self.refused = str(problem)
        except BaseException as problem:  # raised where the server was started
            self._failure = problem
        os.write(self._enough, b"e")

    def _serve(self) -> None:
        pending = b""
        while self._ready(self._requests, select.POLLIN):
            try:
                pending += os.read(self._requests, _PIECE)
            except BlockingIOError:  # the process reads its own requests
                continue
            while b"\n" in pending:
                line, _, pending = pending.partition(b"\n")
                if not self._send(self._answer(line)):
                    return
            if len(pending) > MOST_LINE:
                raise HostileFileError(f"an operator call has over {MOST_LINE} bytes")

    def _ready(self, handle: int, event: int) -> bool:
        """Wait for the pipe; False once the process has ended."""
        poll = select.poll()
        poll.register(handle, event)
        poll.register(self._end[0], select.POLLIN)
        return all(number == handle for number, _ in poll.poll())

    def _send(self, reply: Reply) -> bool:
        """Write the reply; False where the process ends without reading it."""
        left = memoryview(msgspec.json.encode(reply) + b"\n")
        while left:
            if not self._ready(self._answers, select.POLLOUT):
                return False
            try:
                left = left[os.write(self._answers, left) :]
            except BlockingIOError:
                continue
        return True

    def _answer(self, line: bytes) -> Reply:
        self._asked += 1
        if self._asked > MOST_CALLS:
            raise HostileFileError(f"over {MOST_CALLS} operator calls")
        try:
            request = parse_request(line)
            self._bytes += request.size()
            if self._bytes > MOST_SESSION_BYTES:
                return Reply(f"the calls have over {MOST_SESSION_BYTES} bytes of tensors")
            operators = self.service.operators
            source = operators.get(request.api.removeprefix("aclnn"))
            if source is None:
                built = ", ".join(sorted(operators))
                return Reply(f"no operator {request.api} is built; built: {built}")
            service = self.service
            result, written = perform(
                source, request, self.folder, service.mode, service.limits, service.timed
            )
        except NpuforgeError as problem:
            return Reply(plain_words(str(problem)))
        except _MALFORMED:
            return Reply("malformed operator call")
        self.calls.append((request.api, replace(result, outputs={}, tensors={})))
        return Reply(result.error and plain_words(result.error), written)


def plain_words(text: str) -> str:
    """Return an error as the sandbox may see it: one line, paths without their folders."""
    return _PATH.sub("", one_line(text))
