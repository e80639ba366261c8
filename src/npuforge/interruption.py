# SPDX-License-Identifier: Apache-2.0
"""Signals that end a process as Ctrl-C does, so that what it opened is closed and removed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """The process was asked to end by a signal; `exit_status` is what a shell shows for that."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_status = 128 + number


def run_process(main: Callable[[], int]) -> int:
    """Run a worker process's main function; a signal ends it with the signal's status."""
    try:
        with ended_by_signals():
            return main()
    except Terminated as end:
        return end.exit_status


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise `Terminated` in the main thread for SIGTERM and SIGHUP while the block runs.

    A second signal does not interrupt the clearing up. A signal that somebody else handles or
    ignores (nohup) stays as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, _: FrameType | None) -> NoReturn:
        for each in ours:
            signal.signal(each, signal.SIG_IGN)
        raise Terminated(number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is end:
                signal.signal(number, signal.SIG_DFL)
