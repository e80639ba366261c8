# SPDX-License-Identifier: Apache-2.0
"""Attempts as tasks of a Ray cluster.

Each node needs npuforge with its dependencies and a compiler; the folders that attempts read are
sent (`luggage.py`). What an attempt leaves comes back as an archive and is unpacked where a local
attempt would have left it. Workers and nodes may die at any time (`retry.py`).
"""

from __future__ import annotations

import importlib
import io
import os
import socket
import tarfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import msgspec

from npuforge.bench.attempt import Attempt
from npuforge.bench.codec import decode, encode
from npuforge.bench.executors import luggage
from npuforge.bench.executors.process import Child
from npuforge.bench.executors.retry import Lost, attempts
from npuforge.bench.worker import Job
from npuforge.errors import NpuforgeError, UsageError
from npuforge.keys import keys_hidden
from npuforge.scratch import remove, scratch_folder

_LOOK_S = 2.0  # between looks whether the cluster is still there
_PATIENCE_S = 30.0  # Ray itself ends the whole process a minute after its head is gone
_NO_PROCESSOR_S = 120.0  # time for a cluster to bring up machines
_FETCH_S = 120.0


class ClusterGoneError(NpuforgeError):
    """The cluster ended or cannot do the work; the run's results are kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the Ray cluster failed ({reason}): --resume goes on with this run")


class RayExecutor:
    """`count` attempts at once, wherever the cluster has a processor.

    RAY_ADDRESS names the cluster; without it a cluster of this machine is started. `on_nodes` is
    the checkout's path on each node, if it is not to be sent.
    """

    def __init__(self, count: int, on_nodes: str | None = None) -> None:
        self.count = count
        self._on_nodes = on_nodes
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError:
            raise UsageError("--executor ray needs Ray: pip install 'npuforge[ray]'") from None

    def run(self, jobs: Iterable[Job], started: Callable[[Job], None]) -> Generator[Attempt]:
        """Yield attempts as they end; lost ones are made again."""
        jobs = list(jobs)
        if not jobs:
            return
        packed = luggage.pack(jobs[0].settings, self._on_nodes)
        with self._joined(jobs[0].settings.model is not None):
            nodes = _Nodes(self._ray, packed, self._on_nodes)
            yield from attempts(jobs, nodes, self.count, started)

    @contextmanager
    def _joined(self, asks: bool) -> Iterator[None]:
        """Join the cluster; a local one inherits keys only if attempts ask a model."""
        here = {"address": "local", "num_cpus": self.count, "include_dashboard": False}
        try:
            with nullcontext() if asks else keys_hidden():
                self._ray.init(
                    **({} if os.environ.get("RAY_ADDRESS") else here),
                    log_to_driver=False,
                    logging_level="error",
                )
        except Exception as error:  # Ray raises whatever its parts raise
            raise UsageError(f"cannot join the Ray cluster: {_line(error)}") from None
        try:
            yield
        finally:
            self._ray.shutdown()


class _Nodes:
    """The cluster's nodes as `retry.Machines`; tickets are Ray's references."""

    def __init__(self, ray: Any, packed: bytes, on_nodes: str | None) -> None:
        self._ray = ray
        self._on_nodes = on_nodes
        # Spread: what took one machine with it, or was taken by one, tries another.
        remote = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")
        self._remote = remote(_on_node)
        with self._present():
            self._packed = ray.put(packed)
        self._head = ray.get_runtime_context().gcs_address
        self._answered = self._had_processors = time.monotonic()

    def begin(self, job: Job) -> Any:
        with self._present():
            return self._remote.remote(encode(job), self._packed, str(job.place), self._on_nodes)

    def ended(self, running: Sequence[Any]) -> tuple[Any, Attempt | Lost]:
        while True:
            with self._present():
                ready, _ = self._ray.wait(list(running), num_returns=1, timeout=_LOOK_S)
            if ready:
                return ready[0], self._result(ready[0])
            self._look()

    def abandon(self, ticket: Any) -> None:
        with suppress(Exception):  # the cluster may be gone, and the attempt with it
            self._ray.cancel(ticket, force=True)

    def _result(self, ticket: Any) -> Attempt | Lost:
        errors = self._ray.exceptions
        died = (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError)
        full = (errors.OutOfMemoryError, errors.OutOfDiskError, errors.ObjectStoreFullError)
        try:
            text, archive, place = self._ray.get(ticket, timeout=_FETCH_S)
        except errors.RayTaskError as error:
            if isinstance(error.cause, ImportError):
                raise UsageError(f"a node lacks something: {_line(error.cause)}") from None
            return Lost(_line(error.cause or error))
        except (*died, *full, errors.GetTimeoutError) as error:
            return Lost(f"{type(error).__name__}: {_line(error)}")
        except Exception as error:  # Ray raises whatever its parts raise
            raise ClusterGoneError(f"{type(error).__name__}: {_line(error)}") from None
        _unpack(archive, Path(place))
        return Attempt.from_json(text)

    @contextmanager
    def _present(self) -> Iterator[None]:
        """Turn errors of Ray into the end of the run."""
        try:
            yield
        except Exception as error:  # Ray raises whatever its parts raise
            raise ClusterGoneError(f"{type(error).__name__}: {_line(error)}") from None

    def _look(self) -> None:
        """Raise `ClusterGoneError` if the head or the last processor has been away for long."""
        now = time.monotonic()
        if not _answers(self._head):
            if now - self._answered > _PATIENCE_S:
                raise ClusterGoneError(f"its head at {self._head} does not answer")
            return
        self._answered = now
        with self._present():
            processors = self._ray.cluster_resources().get("CPU", 0)
        if processors >= 1:
            self._had_processors = now
        elif now - self._had_processors > _NO_PROCESSOR_S:
            raise ClusterGoneError("none of its nodes has a processor left")


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _LOOK_S).close()
    except OSError:
        return False
    return True


def _on_node(
    text: bytes, carried: bytes, place: str, on_nodes: str | None
) -> tuple[bytes, bytes, str]:
    """On a node: make the attempt; return it, an archive of what it left, and `place`."""
    job = decode(text, Job)
    with scratch_folder("attempt") as folder:
        settings = luggage.unpack(job.settings, carried, folder / "luggage", on_nodes)
        here = folder / "place"
        attempt = Child().run(msgspec.structs.replace(job, settings=settings, place=here))
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(here, arcname=".", filter=_plain)
        return attempt.to_json(), packed.getvalue(), place


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out links, pipes and devices."""
    return member if member.isfile() or member.isdir() else None


def _unpack(archive: bytes, place: Path) -> None:
    remove(place)
    place.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(place, filter="data")


def _line(error: BaseException) -> str:
    """Return the first line of an error's text."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
