# SPDX-License-Identifier: Apache-2.0
"""Attempts as tasks of a Ray cluster.

Every machine needs npuforge and the suite's checkout at the same path. What an attempt leaves comes
back as an archive and is unpacked where a local attempt would have left it.
"""

from __future__ import annotations

import importlib
import io
import tarfile
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import msgspec

from npuforge.bench.attempt import Attempt
from npuforge.bench.codec import decode, encode
from npuforge.bench.executors.process import Child
from npuforge.bench.worker import Job
from npuforge.errors import UsageError
from npuforge.scratch import scratch_folder


class RayExecutor:
    """`count` attempts at once, wherever the cluster has room; a cluster of one is started here
    where none is named by RAY_ADDRESS."""

    def __init__(self, count: int) -> None:
        self.count = count
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError:
            raise UsageError("--executor ray needs Ray: pip install 'npuforge[ray]'") from None

    def run(self, jobs: Iterable[Job], started: Callable[[Job], None]) -> Generator[Attempt]:
        """Attempts as they end."""
        ray = self._ray
        mine = not ray.is_initialized()
        if mine:
            ray.init(num_cpus=self.count, include_dashboard=False, log_to_driver=False)
        remote = ray.remote(num_cpus=1, max_retries=0)(_on_node)
        waiting = list(jobs)[::-1]
        running: dict[Any, Job] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.count:
                    job = waiting.pop()
                    started(job)
                    running[remote.remote(encode(job))] = job
                (ready,), _ = ray.wait(list(running), num_returns=1)
                job = running.pop(ready)
                text, archive = ray.get(ready)
                _unpack(archive, job.place)
                yield Attempt.from_json(text)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
            if mine:
                ray.shutdown()


def _on_node(text: bytes) -> tuple[bytes, bytes]:
    """On a machine of the cluster: the attempt, and what it left."""
    job = decode(text, Job)
    with scratch_folder("attempt") as folder:
        place = folder / "place"
        attempt = Child().run(msgspec.structs.replace(job, place=place))
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(place, arcname=".")
        return attempt.to_json(), packed.getvalue()


def _unpack(archive: bytes, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(place, filter="data")
