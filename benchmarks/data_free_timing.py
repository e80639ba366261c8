# SPDX-License-Identifier: Apache-2.0
"""How long it takes to model a large element-wise kernel's time without its data.

    python benchmarks/data_free_timing.py [--rounds N]

An Add of two 8192 x 8192 fp32 tensors, and one of 6 GB in all. The kernel is built before; what is
measured is the wall time of `execute(mode="time")`, sandbox included, best of the rounds; the CPU
time beside it is what a machine with other work to do would need. Exits 1 when one takes 2 s or
more.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from npuforge import dtypes
from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import Launch, TensorArgument, output, scalar

_SOURCE = Path(__file__).parent / "speed" / "add.cpp"
_CASES = {"8192 x 8192": 8192 * 8192, "6 GB": 1 << 29}
_BLOCKS = 32
_MOST_SECONDS = 2.0


@dataclass(frozen=True)
class Run:
    """What one run of the model took, and the kernel's time as it sees it."""

    wall_s: float
    cpu_s: float
    modelled_us: float


def timed(build: KernelBuild, count: int) -> Run:
    inputs = [TensorArgument(name, (count,), dtypes.find("float32"), "in") for name in ("x", "y")]
    call = Launch(
        _BLOCKS, [*inputs, output("z", (count,), "float32"), scalar("n", count, "uint32")]
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = execute(build, call, mode="time")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.error is not None or result.timing is None or result.timing_note is not None:
        raise click.ClickException(result.error or result.timing_note or "no time")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(result.seconds, cpu, result.timing.time_us)


@click.command()
@click.option("--rounds", default=3)
def main(rounds: int) -> None:
    build = Kernel.build(_SOURCE)
    if not build.ok:
        raise click.ClickException(build.log)
    slow = False
    for name, count in _CASES.items():
        runs = [timed(build, count) for _ in range(rounds)]
        best = min(runs, key=lambda run: run.wall_s)
        slow |= best.wall_s >= _MOST_SECONDS
        print(
            f"{name:12} {3 * 4 * count / 1e9:5.2f} GB moved, modelled {best.modelled_us:7.1f} us, "
            f"took {best.wall_s:.2f} s ({best.cpu_s:.2f} s of CPU)"
        )
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
