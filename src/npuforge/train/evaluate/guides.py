# SPDX-License-Identifier: Apache-2.0
"""Guides that read along in processes of their own, so that many answers are looked at at once.

All answers to a question go to the same process: what was said of a beginning is known there.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from typing import Self

from npuforge.generate.lm.guide.guide import Advice, Guide
from npuforge.train.pool import pool

_QUESTIONS = 64  # whose guides a process keeps


class Guides:
    """So many processes; use it in a `with`."""

    def __init__(self, jobs: int) -> None:
        self._open = ExitStack()
        self._next = cycle([self._open.enter_context(pool(1)) for _ in range(jobs)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def guide(self, asked: str) -> DistantGuide:
        """For all answers to a question."""
        return DistantGuide(asked, next(self._next))


@dataclass(frozen=True, slots=True)
class DistantGuide:
    """What a `Guide` says, in another process."""

    asked: str
    process: ProcessPoolExecutor

    def line(self, answer: str) -> Advice:
        return self.process.submit(_line, self.asked, answer).result()

    def end(self, answer: str) -> Advice:
        return self.process.submit(_end, self.asked, answer).result()


@lru_cache(_QUESTIONS)
def _guide(asked: str) -> Guide:
    return Guide(asked)


def _line(asked: str, answer: str) -> Advice:
    return _guide(asked).line(answer)


def _end(asked: str, answer: str) -> Advice:
    return _guide(asked).end(answer)
