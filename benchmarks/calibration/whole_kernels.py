# SPDX-License-Identifier: Apache-2.0
"""The twin's time against published measurements, on the unmodified public kernel sources.

    python benchmarks/calibration/whole_kernels.py --asc-devkit PATH [--only TEXT] [--json OUT]

`kernels.toml` lists sources, launches and measurements; kernels whose repository has no checkout
are left out and counted. A checkout at another commit than the listed one is used with a warning.
"""

from __future__ import annotations

import json
import struct
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
from agreement import Comparison, print_table, spearman

from npuforge.dtypes import HostTensor, find
from npuforge.errors import NpuforgeError
from npuforge.sandbox import GIB, Limits
from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import (
    Argument,
    Launch,
    ScalarArgument,
    TensorArgument,
    TilingArgument,
)

LIST = Path(__file__).with_name("kernels.toml")
_NUMBERS = {"i64": "<q", "u32": "<I"}
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_LIMITS = Limits(cpu_s=300.0, wall_s=600.0, memory_bytes=6 * GIB)


@dataclass(frozen=True, slots=True)
class Task:
    """One case of one kernel; `values` are the case's keys on top of the kernel's."""

    name: str
    source: Path
    values: Mapping[str, Any]

    @property
    def with_data(self) -> bool:
        return bool(self.values.get("with_data", False))

    def filled(self, text: Any) -> Any:
        """`text` with the case's values in its braces; a lone `{name}` keeps its type."""
        if not isinstance(text, str):
            return text
        if text.startswith("{") and text.endswith("}"):
            return self.values[text[1:-1]]
        return text.format_map(self.values)


@dataclass(slots=True)
class Outcome:
    """What became of the tasks."""

    rows: list[Comparison] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    without_checkout: int = 0


def tasks(checkouts: Mapping[str, Path], outcome: Outcome) -> Iterator[Task]:
    """Every listed case whose repository is at hand."""
    for kernel in tomllib.loads(LIST.read_text("utf-8"))["kernel"]:
        cases = kernel.pop("cases")
        root = checkouts.get(kernel["repository"])
        if root is None:
            outcome.without_checkout += len(cases)
            continue
        for case in cases:
            values = {**kernel, **case}
            source = root / kernel["source"].format_map(values)
            yield Task(f"{kernel['name']} {case['name']}", source, values)


def arguments(task: Task) -> list[Argument]:
    """The launch's arguments; tensors have values only where the kernel's path depends on them."""
    result: list[Argument] = []
    random = np.random.default_rng(0)
    for number, (kind, *rest) in enumerate(task.values["arguments"]):
        name, given = f"a{number}", [task.filled(part) for part in rest]
        if kind in _NUMBERS:
            result.append(ScalarArgument(name, struct.pack(_NUMBERS[kind], given[0])))
        elif kind == "tiling":
            result.append(TilingArgument(name, struct.pack(given[0], *given[1:])))
        else:
            dtype, count = find(given[0]), int(given[1])
            data = None
            if kind == "in" and task.with_data:
                data = HostTensor.of(random.uniform(-1.0, 1.0, count).astype(np.float32), dtype)
            result.append(TensorArgument(name, (count,), dtype, kind, data))
    return result


def compare(task: Task) -> tuple[Comparison, float]:
    """Build and time one task; raises NpuforgeError with the reason where that fails."""
    build = Kernel.build(
        task.source,
        entry=task.values["entry"],
        defines=task.values.get("defines", {}),
    )
    if not build.ok:
        first = next(iter(build.diagnostics), None)
        raise NpuforgeError(f"does not compile: {first.message if first else build.log[-200:]}")
    launch = Launch(task.values["blocks"], arguments(task))
    result = execute(
        build,
        launch,
        mode="timed" if task.with_data else "time",
        soc=task.values["soc"],
        limits=_LIMITS,
    )
    if result.timing is None:
        raise NpuforgeError(result.error or "no time")
    pipe = task.values.get("pipe")
    modelled = result.timing.pipes[pipe].busy_us if pipe else result.timing.time_us
    note = result.timing_note or ("with data" if task.with_data else "")
    return Comparison(task.name, task.values["measured_us"], modelled, note), result.seconds


def check_commit(root: Path, wanted: str) -> None:
    done = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    if done.returncode == 0 and not done.stdout.startswith(wanted):
        click.echo(f"{root} is at {done.stdout.strip()[:12]}, listed is {wanted[:12]}", err=True)


def write_json(out: Path, outcome: Outcome) -> None:
    pairs = [(row.measured_us, row.modelled_us) for row in outcome.rows]
    errors = [abs(row.error) for row in outcome.rows]
    record = {
        "rows": [
            {**asdict(row), "error": row.error, "seconds": outcome.seconds[row.name]}
            for row in outcome.rows
        ],
        "median_absolute_error": float(np.median(errors)) if errors else None,
        "spearman": spearman(pairs) if pairs else None,
        "failures": outcome.failures,
        "without_checkout": outcome.without_checkout,
    }
    out.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def checked(given: Mapping[str, Path | None]) -> dict[str, Path]:
    """The checkouts that were given, by repository."""
    listed = tomllib.loads(LIST.read_text("utf-8"))["kernel"]
    commits = {kernel["repository"]: kernel["commit"] for kernel in listed}
    found = {name: path for name, path in given.items() if path is not None}
    for name, path in found.items():
        check_commit(path, commits[name])
    return found


@click.command()
@click.option("--asc-devkit", type=_FOLDER, help="checkout of asc-devkit")
@click.option("--cann-bench", type=_FOLDER, help="checkout of cann-bench")
@click.option("--optim-agent", type=_FOLDER, help="checkout of ascendc-optim-agent")
@click.option("--only", multiple=True, metavar="TEXT", help="cases whose name contains it")
@click.option("--json", "out", type=click.Path(dir_okay=False, path_type=Path))
def main(
    asc_devkit: Path | None,
    cann_bench: Path | None,
    optim_agent: Path | None,
    only: tuple[str, ...],
    out: Path | None,
) -> None:
    checkouts = checked(
        {
            "asc-devkit": asc_devkit,
            "cann-bench": cann_bench,
            "ascendc-optim-agent": optim_agent,
        }
    )
    outcome = Outcome()
    for task in tasks(checkouts, outcome):
        if only and not any(text in task.name for text in only):
            continue
        try:
            row, seconds = compare(task)
        except NpuforgeError as problem:
            outcome.failures[task.name] = str(problem)
            click.echo(f"{task.name}: {problem}", err=True)
            continue
        outcome.rows.append(row)
        outcome.seconds[task.name] = round(seconds, 2)
        click.echo(f"{task.name}: {seconds:.1f} s", err=True)
    print_table(outcome.rows)
    print(f"failed {len(outcome.failures)}, without a checkout {outcome.without_checkout}")
    if out is not None:
        write_json(out, outcome)
    raise SystemExit(1 if outcome.failures else 0)


if __name__ == "__main__":
    main()
