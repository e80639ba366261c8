# SPDX-License-Identifier: Apache-2.0
"""Kill a benchmark run at random points, resume it, and compare it with an undisturbed one.

    python benchmarks/bench_kill.py [--tasks GLOB] [--kills 20] [--seed 0] [--jobs 2]

Runs `npuforge bench forge` twice on the same tasks: once left alone, once killed with SIGKILL and
resumed so often. Prints both summaries; exits 1 where anything but the seconds taken differs.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from npuforge.bench.store import FILE, Store


def command(folder: Path, given: argparse.Namespace) -> list[str]:
    start = [sys.executable, "-m", "npuforge.cli", "bench", "forge", "--out", str(folder)]
    return [*start, "--resume", "--tasks", given.tasks, "--jobs", str(given.jobs), "--quiet"]


def without_seconds(value: Any) -> Any:
    """The document less what depends on how busy the machine was."""
    if isinstance(value, dict):
        return {k: without_seconds(v) for k, v in value.items() if not k.startswith("seconds")}
    return [without_seconds(item) for item in value] if isinstance(value, list) else value


def finished(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    out = folder.with_suffix(".json")
    subprocess.run([*command(folder, given), "--json", str(out)], check=False)
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def kept(folder: Path) -> int:
    """Attempts that a run killed just now has in its store."""
    if not (folder / FILE).exists():
        return 0
    with Store(folder) as store:
        return len(store.attempts())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", default="m*/*")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="npuforge-kill-") as place:
        started = time.monotonic()
        whole = finished(Path(place) / "whole", given)
        # Up to the time of two attempts: some kills come before the first is done, some after.
        attempts = max(1, whole["summary"]["tasks"])
        pause = 2 * given.jobs * (time.monotonic() - started) / attempts
        folder = Path(place) / "killed"
        for kill in range(given.kills):
            child = subprocess.Popen(command(folder, given))
            time.sleep(dice.uniform(0.2, pause))
            child.send_signal(signal.SIGKILL)
            child.wait()
            print(f"kill {kill + 1}: {kept(folder)} of {attempts} attempts are kept", flush=True)
        killed = finished(folder, given)
    same = without_seconds(whole) == without_seconds(killed)
    for name, run in (("undisturbed", whole), ("killed", killed)):
        print(f"{name}: {run['summary']['passed']} of {run['summary']['tasks']} passed")
    print("the same" if same else "DIFFERENT")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
