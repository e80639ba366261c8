# SPDX-License-Identifier: Apache-2.0
"""How long it takes to compile a tile program of 200 lines to an operator project.

    python benchmarks/tile_lowering.py [--rounds N]

Thread CPU time, best of the rounds, beside the time Python's own parser takes for the same text:
the ratio says the same on any machine.
"""

from __future__ import annotations

import argparse
import ast
import time
from collections.abc import Callable

from npuforge.lower.compiler import lower
from npuforge.lower.formats import msopgen

_HEAD = '''import tile.language as tl


@ascend_kernel
def long_kernel(x, w, y, rows, cols, per_core, tile_rows, eps):
    """Rows scaled, shifted and reduced again and again."""
    first = tl.program_id(0) * per_core
    count = min(per_core, rows - first)
    a = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    b = tl.alloc_ub((tile_rows, cols), dtype=tl.float32)
    v = tl.alloc_ub(cols, dtype=tl.float32, buffers=1)
    s = tl.alloc_ub(tile_rows, dtype=tl.float32)
    with tl.copyin():
        tl.load(w, v)
    for t in range(tl.cdiv(count, tile_rows)):
        row = first + t * tile_rows
        n = min(tile_rows, first + count - row)
        with tl.copyin():
            tl.load(x + row * cols, a[:n, :], stride=cols)
        with tl.compute():
            tl.exp(b[:n, :], a[:n, :])
'''
_OPERATIONS = (
    "tl.add(b[:n, :], b[:n, :], a[:n, :])",
    "tl.mul(b[:n, :], b[:n, :], eps)",
    "tl.reduce_sum(s[:n], b[:n, :], axis=1)",
    "tl.sub(b[:n, :], b[:n, :], s[:n, None])",
    "tl.mul(b[:n, :], b[:n, :], v)",
    "tl.abs(b[:n, :], b[:n, :])",
)
_TAIL = """        with tl.copyout():
            tl.store(y + row * cols, b[:n, :], stride=cols)


def long_host(
    x: tl.input(tl.float32),
    w: tl.input(tl.float32),
    y: tl.output(tl.float32, x.shape),
    eps: tl.attr(float, 1e-5),
):
    rows, cols = x.shape
    tl.require(cols <= 8192 and w.numel() == cols, "a row must fit")
    n_cores = max(1, min(tl.num_cores(), rows))
    per_core = tl.cdiv(rows, n_cores)
    # Two tiles, each twice, and the row that stays.
    tile_rows = max(1, min(per_core, 150000 // (16 * max(cols, 8) + 300)))
    long_kernel[n_cores](x, w, y, rows, cols, per_core, tile_rows, eps)
"""
_LINES = 200


def program() -> str:
    """A program of 200 lines."""
    missing = _LINES - (_HEAD + _TAIL).count("\n")
    body = "".join(
        f"            {_OPERATIONS[number % len(_OPERATIONS)]}\n" for number in range(missing)
    )
    return _HEAD + body + _TAIL


def best(rounds: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    text = program()
    msopgen.files(lower(text))
    parsing = best(rounds, lambda: ast.parse(text))
    lowering = best(rounds, lambda: msopgen.files(lower(text)))
    print(f"{text.count(chr(10))} lines: lowered in {lowering:.1f} ms")
    print(f"Python's parser: {parsing:.1f} ms; ratio {lowering / parsing:.1f}")


if __name__ == "__main__":
    main()
