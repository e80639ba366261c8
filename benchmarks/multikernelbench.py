# SPDX-License-Identifier: Apache-2.0
"""Generate operators for MultiKernelBench's tasks and say how many are proven, and how fast.

    python benchmarks/multikernelbench.py CHECKOUT [--categories activation,loss] [--json OUT]

Every task goes through `npuforge generate` as a user would type it, one after the other. CHECKOUT
is your own copy of the suite; one of its first release (d19e390) has the shapes that eager times
were measured at. `--resume` keeps the results of tasks that OUT has already.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SEVEN = ("activation", "loss", "math", "normalization", "optimizer", "reduce", "pooling")
LIMIT_S = 300


def generate(task: Path, folder: Path) -> dict[str, Any]:
    """The verdict on one task, with the seconds the command took."""
    answer = folder / f"{task.stem}.json"
    command = [sys.executable, "-m", "npuforge.cli", "generate", str(task), "--quiet"]
    command += ["--out", str(folder / task.stem), "--json", str(answer)]
    started = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        last = (done.stderr.strip().splitlines() or [""])[-1]
    except subprocess.TimeoutExpired:
        last = f"took more than {LIMIT_S} s"
    found: dict[str, Any] = json.loads(answer.read_text()) if answer.is_file() else {}
    found.setdefault("name", task.stem)
    found.setdefault("error", None if found.get("cases") else last)
    return {**found, "category": task.parent.name, "wall_s": time.monotonic() - started}


def proven(verdict: dict[str, Any]) -> bool:
    errors = [v for v in verdict.get("violations", []) if v["severity"] == "error"]
    return bool(verdict.get("correct")) and not errors and not verdict.get("races")


def line(verdict: dict[str, Any]) -> str:
    mark = "ok " if proven(verdict) else "NO "
    right = sum(bool(case["correct"]) for case in verdict.get("cases", []))
    text = f"{mark} {verdict['category']}/{verdict['name']}: "
    if verdict.get("time_us") is not None:
        text += f"{right} of {len(verdict['cases'])} cases, {verdict['time_us']:.1f} us"
        if verdict.get("speedup") is not None:
            source = verdict["baseline_source"]
            text += (
                f", {verdict['speedup']:.2f}x of eager {verdict['baseline_us']:.1f} us ({source})"
            )
    else:
        text += str(verdict.get("error"))
    return f"{text}, {verdict['wall_s']:.1f} s"


def summary(verdicts: list[dict[str, Any]]) -> str:
    good = [verdict for verdict in verdicts if proven(verdict)]
    compiled = sum(bool(verdict.get("compiled")) for verdict in verdicts)
    fast = {
        bound: sum((verdict.get("speedup") or 0) >= bound for verdict in good)
        for bound in (0.2, 0.8, 1.0)
    }
    walls = [verdict["wall_s"] for verdict in verdicts]
    shares = ", ".join(
        f"Fast_{bound}: {number} ({number / len(verdicts):.1%})" for bound, number in fast.items()
    )
    return (
        f"{len(verdicts)} tasks: {compiled} compiled, {len(good)} proven; {shares}; "
        f"median {statistics.median(walls):.1f} s, {sum(walls) / 60:.1f} min in all"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--categories", default=",".join(SEVEN))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--resume", action="store_true")
    given = parser.parse_args()
    kept: list[dict[str, Any]] = []
    if given.resume and given.json is not None and given.json.is_file():
        kept = json.loads(given.json.read_text())
    have = {(verdict["category"], verdict["name"]) for verdict in kept}
    verdicts = list(kept)
    with tempfile.TemporaryDirectory(prefix="npuforge-mkb-") as place:
        for category in given.categories.split(","):
            tasks = sorted((given.checkout / "reference" / category).glob("*.py"))
            if not tasks:
                parser.error(f"no tasks under {given.checkout}/reference/{category}")
            for task in tasks:
                if (category, task.stem) in have:
                    continue
                folder = Path(place) / category
                folder.mkdir(exist_ok=True)
                verdicts.append(generate(task, folder))
                print(line(verdicts[-1]), flush=True)
                if given.json is not None:
                    given.json.write_text(json.dumps(verdicts, indent=1))
    print(summary(verdicts))


if __name__ == "__main__":
    main()
