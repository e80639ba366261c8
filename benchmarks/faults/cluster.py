# SPDX-License-Identifier: Apache-2.0
"""Kill workers and nodes of a Ray cluster while a benchmark runs on it, and compare the results.

    python -m benchmarks.faults.cluster [--tasks 12] [--workers 8] [--nodes 2] [--seed 0]

Starts a head and three nodes of one processor on this machine. Runs the same tasks here and there;
while the cluster works, kills so many workers and whole nodes (a new node replaces a dead one) at
random moments, and every worker that takes the last task. At the end kills the head under load and
resumes without a cluster. Exit status 1 if a verdict differs or an attempt is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

NODES = 3
_STORE_BYTES = 80 << 20
_TASK = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * {factor} + 1


def get_inputs():
    return [torch.randn(24, 96)]


def get_init_inputs():
    return []
"""


def checkout(folder: Path, count: int) -> Path:
    """Write so many tasks in MultiKernelBench's form."""
    place = folder / "reference" / "simple"
    place.mkdir(parents=True)
    for number in range(count):
        (place / f"task{number:02}.py").write_text(_TASK.format(factor=number + 2), "utf-8")
    return folder


@contextmanager
def cluster() -> Iterator[Any]:
    """Yield a Ray cluster of this machine: a head without processors, and nodes with one each."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (optional)

    head = {"num_cpus": 0, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
    made: Any = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(NODES):
            add_node(made)
        yield made
    finally:
        made.shutdown()


def add_node(made: Any) -> None:
    made.add_node(num_cpus=1, object_store_memory=_STORE_BYTES)


def bench(
    suite: Path, run: Path, *more: str, address: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a benchmark, on the cluster at `address` or here."""
    executor = ["--executor", "local", "--jobs", "2"]
    env = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    if address is not None:
        executor = ["--executor", "ray", "--jobs", str(NODES)]
        env["RAY_ADDRESS"] = address
    command = ["bench", "multikernelbench", "--path", str(suite), "--out", str(run), *executor]
    return subprocess.Popen(
        [sys.executable, "-m", "npuforge.cli", *command, *more],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def verdicts(document: Path) -> dict[str, dict[str, Any]]:
    """Read the attempts by task, less the time they took and their losses."""
    attempts = json.loads(document.read_text("utf-8"))["tasks"]
    assert len({attempt["task"] for attempt in attempts}) == len(attempts)
    for attempt in attempts:
        del attempt["seconds"]
    return {attempt["task"]: attempt for attempt in attempts}


def ray_workers() -> list[tuple[int, str]]:
    """List the Ray workers of our own that make an attempt now, with the task's name."""
    workers = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"npuforge.bench.worker_process" in words:
                job = json.loads(Path(os.fsdecode(words[3])).read_bytes())
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                name = Path(f"/proc/{parent}/cmdline").read_bytes()
                if name.startswith(b"ray::"):
                    workers.append((parent, str(job["task"]["name"])))
    return workers


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


class Hunter(threading.Thread):
    """Kills every worker that takes one task, and counts them."""

    def __init__(self, task: str) -> None:
        super().__init__(daemon=True)
        self.killed: set[int] = set()
        self._task = task
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(0.1):
            for process, task in ray_workers():
                if task == self._task and process not in self.killed:
                    self.killed.add(process)
                    kill(process)

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def disturb(made: Any, moves: Sequence[str], dice: random.Random, busy: Callable[[], bool]) -> int:
    """Make the moves, `worker` or `node`, at random moments while `busy`; return how many."""
    done = 0
    for move in moves:
        time.sleep(dice.uniform(1.0, 4.0))
        while busy() and not ray_workers():
            time.sleep(0.1)
        if not busy():
            break
        if move == "worker":
            victims = ray_workers()
            if not victims:
                continue
            kill(dice.choice(victims)[0])
        else:
            node = dice.choice(list(made.worker_nodes))
            made.remove_node(node, allow_graceful=False)
            add_node(made)
        done += 1
        print(f"killed a {move}", flush=True)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--tasks", 12), ("--workers", 8), ("--nodes", 2), ("--seed", 0)):
        parser.add_argument(name, type=int, default=default)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    moves = ["worker"] * given.workers + ["node"] * given.nodes
    dice.shuffle(moves)
    with tempfile.TemporaryDirectory(prefix="faults-") as temporary:
        place = Path(temporary)
        suite = checkout(place / "suite", given.tasks)
        expected = _here(suite, place)
        last = max(expected)
        with cluster() as made:
            hunter = Hunter(last)
            hunter.start()
            out = place / "there.json"
            run = bench(suite, place / "there", "--json", str(out), address=made.address)
            killed = disturb(made, moves, dice, lambda: run.poll() is None)
            _, said = run.communicate()
            hunter.stop()
            print(said.decode(errors="replace").strip())
            same = _compared(expected, verdicts(out), last)
            same &= _without_head(made, suite, place, expected)
    print(f"{killed} workers and nodes killed, {len(hunter.killed)} more for {last}: ", end="")
    print("the same verdicts" if same else "DIFFERENT")
    return 0 if same else 1


def _here(suite: Path, place: Path) -> dict[str, dict[str, Any]]:
    run = bench(suite, place / "here", "--json", str(place / "here.json"))
    run.communicate()
    return verdicts(place / "here.json")


def _compared(
    expected: dict[str, dict[str, Any]], found: dict[str, dict[str, Any]], hunted: str
) -> bool:
    """Compare; the hunted task must say how many workers it took."""
    same = expected.keys() == found.keys()
    for task in sorted(expected.keys() & found.keys()):
        losses = found[task].pop("lost")
        wanted = {name: value for name, value in expected[task].items() if name != "lost"}
        if task == hunted:
            right = losses == 3 and "3 workers died" in found[task]["reason"]
        else:
            right = found[task] == wanted or losses == 3
        if losses or not right:
            print(f"{task}: lost {losses} times, {'as it should be' if right else found[task]}")
        same &= right
    return same


def _without_head(made: Any, suite: Path, place: Path, expected: dict[str, dict[str, Any]]) -> bool:
    status, said, resumed = beheaded(made, suite, place)
    print(f"without a head: status {status}, {said!r}")
    return status == 2 and "\n" not in said and resumed == expected


def beheaded(made: Any, suite: Path, place: Path) -> tuple[int, str, dict[str, dict[str, Any]]]:
    """Kill the head under load; return the run's status and words, and what resuming it gave."""
    run = bench(suite, place / "headless", "--quiet", address=made.address)
    while run.poll() is None and not ray_workers():
        time.sleep(0.1)
    made.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
    _, said = run.communicate()
    again = bench(suite, place / "headless", "--resume", "--json", str(place / "again.json"))
    again.communicate()
    return run.returncode, said.decode(errors="replace").strip(), verdicts(place / "again.json")


if __name__ == "__main__":
    sys.exit(main())
