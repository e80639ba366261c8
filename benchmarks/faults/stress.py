# SPDX-License-Identifier: Apache-2.0
"""Judge the same kernels from many threads and many processes on one cold cache.

    python -m benchmarks.faults.stress [--threads 16] [--processes 16] [--kernels 200]
                                       [--runtime FOLDER]

All threads and processes judge all kernels, each group in an order of its own, so that two workers
often build the same kernel. The cache is empty, so that they also build the runtime in a race;
FOLDER is a cache with the runtime, to be spared that. The verdicts are compared with those of one
process that judged one kernel after the other on another cache. Exit status 1 on any failure or
difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_TILE = ("gelu", "softmax")


def judged(number: int) -> str:
    """Return all that became of one kernel, as text: a failure is text, too."""
    try:
        result = _checked(number) if number % 2 else _launched(number)
    except Exception as error:
        return f"FAILED {type(error).__name__}: {error}"
    return json.dumps(result, sort_keys=True)


def _checked(number: int) -> Any:
    """Judge the RMS norm example with a constant of its own in its source."""
    from npuforge.twin import launch_file  # noqa: PLC0415 (workers import after their environment)
    from npuforge.twin.sources import recognise  # noqa: PLC0415
    from npuforge.twin.sources.kernel_file import KernelFile  # noqa: PLC0415
    from npuforge.twin.verify import verify  # noqa: PLC0415

    example = ROOT / "examples" / "rms_norm"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rms_norm.cpp"
        text = (example / "rms_norm.cpp").read_text("utf-8")
        source.write_text(f"{text}\nconstexpr int32_t VARIANT = {number};\n", "utf-8")
        subject = recognise(source, entry=None, soc="910b2")
        assert isinstance(subject, KernelFile)
        report = verify(subject, launch_file.load(example / "launch.toml"))
    return _lasting(json.loads(report.verdict.to_json()))


def _launched(number: int) -> Any:
    """Lower and run a tile program with a constant and a size of its own."""
    import numpy as np  # noqa: PLC0415

    from npuforge.lower.compiler import lower  # noqa: PLC0415
    from npuforge.lower.on_twin import TwinProgram  # noqa: PLC0415

    name = _TILE[number // 2 % len(_TILE)]
    text = (ROOT / "examples" / "tile" / f"{name}.py").read_text("utf-8")
    text = text.replace("0.7071067811865476", f"0.{70000 + number}")
    text = text.replace("tl.div(total[:n], 1.0,", f"tl.div(total[:n], 1.{number:04},")
    values = np.random.default_rng(number).standard_normal((32 + number % 7, 100 + number))
    inputs = {"x": values.astype(np.float16 if name == "gelu" else np.float32)}
    result = TwinProgram(lower(text)).launch(inputs, mode="check")
    return {
        "outputs": {
            name: hashlib.sha256(array.tobytes()).hexdigest()
            for name, array in result.outputs.items()
        },
        "findings": [repr(finding) for finding in result.findings],
        "races": [repr(race) for race in result.races],
        "error": result.error,
    }


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _lasting(one) for name, one in value.items() if "seconds" not in name}
    return [_lasting(one) for one in value] if isinstance(value, list) else value


def work(numbers: Sequence[int], threads: int) -> list[str]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(judged, numbers))


def _start(
    numbers: Sequence[int], threads: int, cache: Path, out: Path
) -> tuple[Sequence[int], Path, subprocess.Popen[bytes]]:
    environment = {**os.environ, "NPUFORGE_CACHE": str(cache), "OMP_NUM_THREADS": "1"}
    words = ["--threads", str(threads), "--work", json.dumps(list(numbers)), "--out", str(out)]
    command = [sys.executable, "-m", "benchmarks.faults.stress", *words]
    return numbers, out, subprocess.Popen(command, cwd=ROOT, env=environment)


def _ended(
    started: Sequence[tuple[Sequence[int], Path, subprocess.Popen[bytes]]],
) -> list[tuple[int, str]]:
    results: list[tuple[int, str]] = []
    for numbers, out, process in started:
        status = process.wait()
        texts = [f"FAILED status {status}"] * len(numbers)
        if status == 0:
            texts = json.loads(out.read_text("utf-8"))
        results += zip(numbers, texts, strict=True)
    return results


def _shuffled(kernels: int, seed: int) -> list[int]:
    numbers = list(range(kernels))
    random.Random(seed).shuffle(numbers)
    return numbers


def stress(folder: Path, threads: int, processes: int, kernels: int, runtime: Path | None) -> int:
    """Return how many verdicts failed or differ; print the first of each kind."""
    caches = [folder / "alone", folder / "together"]
    for cache in caches:
        if runtime is not None:
            shutil.copytree(runtime, cache, ignore=shutil.ignore_patterns("tmp", "locks"))
    began = time.monotonic()
    # The race comes first, while nothing is warm.
    started = [_start(_shuffled(kernels, 1), threads, caches[1], folder / "threads.json")]
    order = _shuffled(kernels, 2)
    for place in range(processes):
        out = folder / f"process{place}.json"
        started.append(_start(order[place::processes], 1, caches[1], out))
    together = _ended(started)
    print(f"together: {len(together)} verdicts in {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    alone = dict(_ended([_start(range(kernels), 1, caches[0], folder / "alone.json")]))
    print(f"alone: {len(alone)} verdicts in {time.monotonic() - began:.0f} s", flush=True)
    faults: Counter[str] = Counter()
    for number, text in together:
        if text.startswith("FAILED"):
            faults[f"failed: {text[:200]}"] += 1
        elif text != alone[number]:
            faults[f"kernel {number} differs: {text[:300]} instead of {alone[number][:300]}"] += 1
    faults.update(f"alone, {text[:200]}" for text in alone.values() if text.startswith("FAILED"))
    hidden = [path for path in caches[1].rglob(".*") if path.is_file()]
    hidden += list((caches[1] / "tmp").glob("*"))
    faults.update(f"left in the cache: {path.relative_to(folder)}" for path in hidden)
    for fault, count in faults.most_common():
        print(f"{count:4} x {fault}")
    bad = sum(faults.values())
    print(f"{threads} threads and {processes} processes, {kernels} kernels: {bad} faults")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--runtime", type=Path)
    parser.add_argument("--work", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        given.out.write_text(json.dumps(work(given.work, given.threads)), "utf-8")
        return 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        counts = (given.threads, given.processes, given.kernels)
        return 1 if stress(Path(folder), *counts, given.runtime) else 0


if __name__ == "__main__":
    sys.exit(main())
