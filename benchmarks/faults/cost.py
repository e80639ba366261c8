# SPDX-License-Identifier: Apache-2.0
"""Measure what safety costs: two programs do the same work in turn, in one run.

    python -m benchmarks.faults.cost --before PROGRAM --after PROGRAM
                                     [--pairs 20] [--seed 0] [--work generate,check,bench]

PROGRAM is the `npuforge` of a source tree's own environment. The work: a module to a verdict, a
kernel to a verdict, and a few tasks of a benchmark with two jobs. Each program has a cache of its
own, which a first round fills and which is not measured; the kernel's text is new in each round, so
that it is compiled. The order within a pair is random. Prints medians, and the ratio of after to
before with a 95 % bootstrap interval over pairs. Exit status 1 if a ratio is above 1.1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 1.1
_RESAMPLES = 10_000
WORK: dict[str, list[str]] = {
    "generate": ["generate", "softmax.py", "--tune", "0", "--out", "made", "--quiet"],
    "check": ["check", "rms_norm.cpp", "--launch", "launch.toml"],
    "bench": [
        *("bench", "forge", "--tasks", "math/[ns]*", "--jobs", "2"),
        *("--out", "run", "--quiet"),
    ],
}


def measure(program: Path, words: Sequence[str], cache: Path, number: int) -> float:
    """Return the seconds that one round takes, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="cost-") as temporary:
        folder = Path(temporary)
        shutil.copy(ROOT / "examples" / "modules" / "softmax.py", folder)
        shutil.copy(ROOT / "examples" / "rms_norm" / "launch.toml", folder)
        text = (ROOT / "examples" / "rms_norm" / "rms_norm.cpp").read_text("utf-8")
        (folder / "rms_norm.cpp").write_text(f"{text}\n// {number}\n", "utf-8")
        environment = {**os.environ, "NPUFORGE_CACHE": str(cache), "TMPDIR": temporary}
        started = time.monotonic()
        done = subprocess.run(
            [program, *words], cwd=folder, env=environment, capture_output=True, check=False
        )
        spent = time.monotonic() - started
    if done.returncode not in (0, 1):
        raise SystemExit(f"{program} {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return spent


def ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the median of the second over the median of the first."""
    before, after = zip(*pairs, strict=True)
    return float(statistics.median(after) / statistics.median(before))


def interval(pairs: Sequence[tuple[float, float]], dice: random.Random) -> tuple[float, float]:
    """Return the bounds of 95 % of the ratios of resampled pairs."""
    ratios = sorted(ratio(dice.choices(pairs, k=len(pairs))) for _ in range(_RESAMPLES))
    return ratios[_RESAMPLES * 25 // 1000], ratios[_RESAMPLES * 975 // 1000]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=_program, required=True)
    parser.add_argument("--after", type=_program, required=True)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", default=",".join(WORK))
    given = parser.parse_args()
    dice = random.Random(given.seed)
    programs = [given.before, given.after]
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="cost-cache-") as temporary:
        caches = [Path(temporary) / "before", Path(temporary) / "after"]
        for work in given.work.split(","):
            for program, cache in zip(programs, caches, strict=True):
                measure(program, WORK[work], cache, -1)
            pairs: list[tuple[float, float]] = []
            for number in range(given.pairs):
                seconds = [0.0, 0.0]
                for place in dice.sample((0, 1), 2):
                    seconds[place] = measure(programs[place], WORK[work], caches[place], number)
                pairs.append((seconds[0], seconds[1]))
                print(f"{work} {number + 1}: {seconds[0]:.2f} s, {seconds[1]:.2f} s", flush=True)
            low, high = interval(pairs, dice)
            before, after = (statistics.median(times) for times in zip(*pairs, strict=True))
            worst = max(worst, ratio(pairs))
            print(
                f"{work}: before {before:.2f} s, after {after:.2f} s, "
                f"ratio {ratio(pairs):.3f} (95 %: {low:.3f} to {high:.3f})",
                flush=True,
            )
    return 1 if worst > MOST else 0


def _program(text: str) -> Path:
    path = Path(text).absolute()
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"no program: {path}")
    return path


if __name__ == "__main__":
    sys.exit(main())
