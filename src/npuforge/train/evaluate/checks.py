# SPDX-License-Identifier: Apache-2.0
"""Prefix checks in processes of their own, so that many completions are looked at at once."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from npuforge.generate.lm.prefix import PrefixCheck
from npuforge.train.pool import pool


class Checks:
    """The processes; use it in a `with`."""

    def __init__(self, jobs: int) -> None:
        self._open = ExitStack()
        self.processes: ProcessPoolExecutor = self._open.enter_context(pool(jobs))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def distant(self, check: PrefixCheck) -> DistantCheck:
        return DistantCheck(check, self.processes)


@dataclass(frozen=True, slots=True)
class DistantCheck:
    """A `PrefixCheck` in another process."""

    check: PrefixCheck
    processes: ProcessPoolExecutor

    def line(self, completion: str) -> str | None:
        return self.processes.submit(self.check.line, completion).result()

    def end(self, completion: str) -> str | None:
        return self.processes.submit(self.check.end, completion).result()
