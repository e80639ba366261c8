# SPDX-License-Identifier: Apache-2.0
"""Streaming fp32 kernels in run mode against the same PyTorch operation on one thread.

    python benchmarks/streaming_speed.py [--elements N] [--rounds N]

Both sides are measured in this run, in thread CPU time, best of the rounds, on the same values.
Prints PyTorch's time over the kernel's for each operation (1 is equal, above is faster than
PyTorch) and exits 1 when one is below 0.25.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import torch

from npuforge.sandbox import Limits
from npuforge.twin.sources.direct import DirectProgram

_PROGRAM = Path(__file__).parent / "speed" / "streaming.asc"
_BLOCKS = 40
_TILE = 8192
_LEAST = 0.25

Tensor = torch.Tensor
_OPERATIONS: dict[str, Callable[[Tensor, Tensor, Tensor], object]] = {
    "Add": lambda a, b, c: torch.add(a, b, out=c),
    "Sub": lambda a, b, c: torch.sub(a, b, out=c),
    "Mul": lambda a, b, c: torch.mul(a, b, out=c),
    "Div": lambda a, b, c: torch.div(a, b, out=c),
    "Max": lambda a, b, c: torch.maximum(a, b, out=c),
    "Relu": lambda a, _, c: torch.clamp_min(a, 0, out=c),
    "Abs": lambda a, _, c: torch.abs(a, out=c),
    "Sqrt": lambda a, _, c: torch.sqrt(a, out=c),
    "Exp": lambda a, _, c: torch.exp(a, out=c),
    "Ln": lambda a, _, c: torch.log(a, out=c),
    "Muls": lambda a, _, c: torch.mul(a, 3.0, out=c),
    "Adds": lambda a, _, c: torch.add(a, 3.0, out=c),
}


def twin(per_block: int, rounds: int) -> dict[str, float]:
    """Seconds of each kernel, as the program measured them."""
    program = DirectProgram.open(_PROGRAM)
    build = program.build()
    if not build.ok:
        raise click.ClickException(build.log)
    done = program.run(
        build,
        mode="run",
        arguments=[str(per_block), str(rounds)],
        limits=Limits(cpu_s=300, wall_s=600, processes=8),
    )
    if done.error is not None:
        raise click.ClickException(done.error)
    lines = (line.split() for line in done.printed.splitlines())
    return {words[0]: float(words[1]) for words in lines if len(words) == 2}


def pytorch(per_block: int, rounds: int) -> dict[str, float]:
    """Seconds of each operation on one thread."""
    torch.set_num_threads(1)
    a = 0.5 + (torch.arange(_BLOCKS * per_block) % 1000).float() / 500
    b, c = a.clone(), a.clone()
    best = {}
    for name, operation in _OPERATIONS.items():
        times = []
        for _ in range(rounds):
            started = time.thread_time()
            operation(a, b, c)
            times.append(time.thread_time() - started)
        best[name] = min(times)
    return best


@click.command()
@click.option("--elements", default=16_000_000, help="at least this many elements a tensor")
@click.option("--rounds", default=7)
def main(elements: int, rounds: int) -> None:
    per_block = -(-elements // (_BLOCKS * _TILE)) * _TILE
    ours = twin(per_block, rounds)
    theirs = pytorch(per_block, rounds)
    ratios = {name: theirs[name] / ours[name] for name in _OPERATIONS}
    print(f"{_BLOCKS * per_block} elements, best of {rounds}, thread CPU time")
    for name, ratio in ratios.items():
        twin_ms, torch_ms = ours[name] * 1e3, theirs[name] * 1e3
        print(f"{name:5} twin {twin_ms:8.2f} ms  torch {torch_ms:8.2f} ms  {ratio:.2f}")
    worst = min(ratios, key=ratios.__getitem__)
    print(f"least: {worst} {ratios[worst]:.2f} (at least {_LEAST} is asked for)")
    sys.exit(0 if ratios[worst] >= _LEAST else 1)


if __name__ == "__main__":
    main()
