# SPDX-License-Identifier: Apache-2.0
"""All attempts of a run that are still to be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from npuforge.bench.attempt import Attempt
from npuforge.bench.executors import Executor
from npuforge.bench.store import Store
from npuforge.bench.worker import Job
from npuforge.errors import UsageError
from npuforge.untrusted.inputs import lies_within


def left(store: Store) -> list[Job]:
    """Attempts to make: first samples of all tasks, then second ones..."""
    settings, done = store.settings, store.done()
    return [
        Job(settings, task, sample, _own_place(store.folder, task.name, sample))
        for sample in range(settings.samples)
        for task in store.tasks
        if (task.name, sample) not in done
    ]


def run(store: Store, executor: Executor, started: Callable[[Job], None]) -> Iterator[Attempt]:
    """Make them; each is in the store before it is handed over."""
    with closing(executor.run(left(store), started)) as attempts:
        for attempt in attempts:
            store.add(attempt)
            yield attempt


def _own_place(folder: Path, task: str, sample: int) -> Path:
    """Return the attempt's folder, which is emptied; refuse one that links lead out of the run."""
    place = place_of(folder, task, sample)
    if not lies_within(folder, place):
        raise UsageError(f"{folder}: the attempt at {task} lies outside of the run's folder")
    return place


def place_of(folder: Path, task: str, sample: int) -> Path:
    """The folder of an attempt in a run's folder."""
    return folder / "attempts" / task / str(sample)
