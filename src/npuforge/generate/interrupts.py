# SPDX-License-Identifier: Apache-2.0
"""Signals that ask a generation to end: it ends at the first, with what is right so far.

The first SIGINT or SIGTERM raises `KeyboardInterrupt`, which ends a search; where only seconds of
work are left, it is noted and the work is finished. Any further one always raises.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import FrameType, TracebackType
from typing import Any, NoReturn, TypeVar

STATUS = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WORKER = "npuforge-attempt"
_PATIENCE_S = 2.0

Result = TypeVar("Result")


class Interrupts:
    """`with Interrupts() as interrupts:` in the main thread; elsewhere it never hears of any.

    At its end the process ends with it if it was interrupted and a worker does not stop.
    """

    def __init__(self) -> None:
        self.asked = False
        self._finishing = False
        self._before: dict[int, Any] = {}

    def finish(self) -> None:
        """Note the first signal from now on, without raising."""
        self._finishing = True

    def note(self) -> None:
        """Remember that an interrupt ended a part of the work; the rest is finished."""
        self.asked = True
        self._finishing = True

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in _SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        if self._before and self.asked and _workers_remain():
            if kind is not None:
                sys.stderr.write("npuforge: interrupted\n")
            _leave()

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        first, self.asked = not self.asked, True
        if not (first and self._finishing):
            raise KeyboardInterrupt


def in_background(work: Callable[[], Result]) -> Future[Result]:
    """Start the work in a thread that the end of the process does not wait for."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=_WORKER, daemon=True).start()
    return future


def _workers_remain() -> bool:
    """Tell whether a worker is still at it after a moment."""
    workers = [one for one in threading.enumerate() if one.name == _WORKER]
    for worker in workers:
        worker.join(_PATIENCE_S / len(workers))
    return any(worker.is_alive() for worker in workers)


def _leave() -> NoReturn:
    """End the process at once, without its temporary folders.

    A worker may be in the middle of native code, which does not survive the end of the interpreter.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STATUS)
