# SPDX-License-Identifier: Apache-2.0
"""Where attempts are made: here, or on the machines of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Protocol

from npuforge.bench.attempt import Attempt
from npuforge.bench.worker import Job
from npuforge.errors import UsageError

NAMES = ("local", "ray")


class Executor(Protocol):
    """Makes attempts and hands each over as it ends, in any order."""

    def run(self, jobs: Iterable[Job], started: Callable[[Job], None]) -> Generator[Attempt]: ...


def make(name: str, count: int, on_nodes: str | None = None) -> Executor:
    """Return the executor of that name, for `count` attempts at once.

    `on_nodes` is the checkout's path on each node of a cluster; by default it is sent.
    """
    if on_nodes is not None and name != "ray":
        raise UsageError("--on-nodes goes with --executor ray")
    if name == "local":
        from npuforge.bench.executors.local import LocalExecutor  # noqa: PLC0415

        return LocalExecutor(count)
    if name == "ray":
        from npuforge.bench.executors.cluster import RayExecutor  # noqa: PLC0415 (optional)

        return RayExecutor(count, on_nodes)
    raise UsageError(f"no executor {name!r}; executors: {', '.join(NAMES)}")
