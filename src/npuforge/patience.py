# SPDX-License-Identifier: Apache-2.0
"""An end to work that takes too long: random graphs may keep a planner busy for hours, and programs
that a model writes an interpreter."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN_S = 0.25  # what is interrupted may make nothing of it, as PyTorch does of much that fails


class TooLongError(Exception):
    """Not one of ours: what passes over operators that do not fit must not pass over it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` where what is inside takes more of this process's time than that. It is
    time on a processor, which hardly depends on what else a machine does. Only a main thread can be
    interrupted; in another one there is no end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        raise TooLongError(f"it took more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
