# SPDX-License-Identifier: Apache-2.0
"""Pass rates of `ascendc` without knowledge, `ascendc` with it, and `tile`, on the same 20 tasks.

    python benchmarks/strategies.py run --mkb CHECKOUT --cann CHECKOUT --out FOLDER CONDITION
    python benchmarks/strategies.py table FOLDER

Two tasks are drawn (with a fixed seed) of each of MultiKernelBench's seven vector categories, three
of CANN Bench's levels 1 and 2 each. CONDITION is plain, known or tile; the model is named by the
environment or `npuforge.toml` in the current folder (docs/models.md). A program has four rounds,
and counts as soon as it is right; of a task of CANN Bench the first case is taken. An interrupted
run goes on with the same command.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

CATEGORIES = ("activation", "loss", "math", "normalization", "optimizer", "reduce", "pooling")
CONDITIONS = {
    "plain": ("ascendc without knowledge", ["--strategy", "ascendc", "--knowledge", "off"]),
    "known": ("ascendc with knowledge", ["--strategy", "ascendc", "--knowledge", "full"]),
    "tile": ("tile", ["--strategy", "tile", "--knowledge", "off"]),
}
SEARCH = ["--rounds", "4", "--patience", "4", "--enough", "0", "--limit", "7000"]
SEED = 6


def drawn(mkb: Path, cann: Path) -> list[tuple[str, str]]:
    """Suite and task; the same for the same checkouts."""
    dice = random.Random(SEED)
    found = []
    for category in CATEGORIES:
        files = (mkb / "reference" / category).glob("*.py")
        names = sorted(path.stem for path in files if path.stem != "__init__")
        found += [("mkb", f"{category}/{name}") for name in sorted(dice.sample(names, 2))]
    for level in ("level1", "level2"):
        names = sorted(path.name for path in (cann / "tasks" / level).iterdir() if path.is_dir())
        found += [("cann", f"{level}/{name}") for name in sorted(dice.sample(names, 3))]
    return found


def run(given: argparse.Namespace) -> int:
    _, flags = CONDITIONS[given.condition]
    place = given.out / given.condition
    place.mkdir(parents=True, exist_ok=True)
    for suite, task in drawn(given.mkb, given.cann):
        name = task.replace("/", "_")
        which = ["multikernelbench", "--path", str(given.mkb)]
        if suite == "cann":
            which = ["cannbench", "--path", str(given.cann), "--cases", "1"]
        out = ["--out", str(place / suite / name), "--json", str(place / f"{suite}_{name}.json")]
        command = [sys.executable, "-m", "npuforge.cli", "bench", *which, "--tasks", task]
        if given.condition == "known":
            command += ["--store", str(place / "store.sqlite")]
        subprocess.run([*command, *flags, *SEARCH, "--resume", *out], check=False)
    return table(given)


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The one task of every run of a condition, by its name."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        for task in json.loads(path.read_text())["tasks"]:
            found[path.stem] = task
    return found


def rounds(folder: Path, name: str) -> int:
    """How often the coder was asked."""
    suite, _, task = name.partition("_")
    lines = [
        line
        for file in (folder / suite / task).rglob("exchanges.jsonl")
        for line in file.read_text().splitlines()
    ]
    return sum(json.loads(line)["purpose"].startswith("coder") for line in lines)


def table(given: argparse.Namespace) -> int:
    known = {name: results(given.out / name) for name in CONDITIONS}
    tasks = sorted({task for found in known.values() for task in found})
    print("| task | " + " | ".join(title for title, _ in CONDITIONS.values()) + " |")
    print("|---|" + "---|" * len(CONDITIONS))
    for task in tasks:
        cells = [_cell(given.out / name, task, found.get(task)) for name, found in known.items()]
        print(f"| {task.replace('_', '/', 2)} | {' | '.join(cells)} |")
    for what, key in (("compiled", "compiled"), ("passed", "correct")):
        shares = [
            f"{sum(one[key] is True for one in found.values())} of {len(found)}"
            for found in known.values()
        ]
        print(f"| **{what}** | {' | '.join(shares)} |")
    return 0


def _cell(folder: Path, task: str, found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    if found["correct"] is True:
        speed = f", {found['speedup']:.2f}x" if found["speedup"] else ""
        return f"passed in {rounds(folder, task)}{speed}"
    return "wrong" if found["compiled"] else "does not compile"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--mkb", type=Path, required=True)
    runs.add_argument("--cann", type=Path, required=True)
    runs.add_argument("--out", type=Path, required=True)
    runs.add_argument("condition", choices=list(CONDITIONS))
    runs.set_defaults(do=run)
    shown = commands.add_parser("table")
    shown.add_argument("out", type=Path)
    shown.set_defaults(do=table)
    given = parser.parse_args()
    answer: int = given.do(given)
    return answer


if __name__ == "__main__":
    sys.exit(main())
