# SPDX-License-Identifier: Apache-2.0
"""Programs that between them use what formats differ in, and inputs to try them with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from npuforge.dtypes import HostTensor
from npuforge.lower.compiler import Lowered, lower
from npuforge.tile.interpret import interpret

EXAMPLES = Path(__file__).parents[2] / "examples" / "tile"

# Attributes of every type, a tensor written in place, several element types.
BLEND = '''\
"""acc = acc + alpha * x; rounded = whole numbers of acc, offset."""
import tile.language as tl


@ascend_kernel
def blend_kernel(x, acc, rounded, total, per_core, tile, alpha, offset):
    first = tl.program_id(0) * per_core
    count = min(per_core, total - first)
    part = tl.alloc_ub(tile, dtype=tl.float16)
    wide = tl.alloc_ub(tile, dtype=tl.float32)
    before = tl.alloc_ub(tile, dtype=tl.float32)
    after = tl.alloc_ub(tile, dtype=tl.float32)
    whole = tl.alloc_ub(tile, dtype=tl.int32)
    for t in range(tl.cdiv(count, tile)):
        start = first + t * tile
        n = min(tile, count - t * tile)
        with tl.copyin():
            tl.load(x + start, part[:n])
            tl.load(acc + start, before[:n])
        with tl.compute():
            tl.cast(wide[:n], part[:n])
            tl.mul(wide[:n], wide[:n], alpha)
            tl.add(after[:n], before[:n], wide[:n])
            tl.cast(whole[:n], after[:n], round="rint")
            tl.add(whole[:n], whole[:n], offset)
        with tl.copyout():
            tl.store(acc + start, after[:n])
            tl.store(rounded + start, whole[:n])


def blend_host(
    x: tl.input(tl.float16),
    acc: tl.inout(tl.float32),
    rounded: tl.output(tl.int32, x.shape),
    offset: tl.attr(int),
    alpha: tl.attr(float, 0.5),
    negate: tl.attr(bool, False),
):
    total = x.numel()
    tl.require(acc.numel() == total, "x and acc have the same number of elements")
    blocks = max(1, min(tl.num_cores(), tl.cdiv(total, 256)))
    per_core = tl.align_up(tl.cdiv(total, blocks), 16)
    tile = max(16, min(per_core, 2048))
    factor = -alpha if negate else alpha
    blend_kernel[blocks](x, acc, rounded, total, per_core, tile, factor, offset)
'''

# Two kernels on different numbers of cores, with a temporary between them.
CENTRE = '''\
"""y = x minus the mean of x."""
import tile.language as tl


@ascend_kernel
def partial_kernel(x, partial, total, tile):
    core = tl.program_id(0)
    per_core = tl.align_up(tl.cdiv(total, tl.num_programs(0)), 64)
    first = core * per_core
    count = max(0, min(per_core, total - first))
    part = tl.alloc_ub(tile, dtype=tl.float32)
    acc = tl.alloc_ub(tile, dtype=tl.float32)
    one = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.fill(acc, 0.0)
    for t in range(tl.cdiv(count, tile)):
        n = min(tile, count - t * tile)
        with tl.copyin():
            tl.load(x + first + t * tile, part[:n])
        with tl.compute():
            tl.add(acc[:n], acc[:n], part[:n])
    with tl.compute():
        tl.reduce_sum(one[:1], acc)
    with tl.copyout():
        tl.store(partial + core, one[:1])


@ascend_kernel
def subtract_kernel(x, partial, y, total, parts, tile, share):
    per_core = tl.align_up(tl.cdiv(total, tl.num_programs(0)), 64)
    first = tl.program_id(0) * per_core
    count = max(0, min(per_core, total - first))
    sums = tl.alloc_ub(parts, dtype=tl.float32)
    one = tl.alloc_ub(8, dtype=tl.float32)
    part = tl.alloc_ub(tile, dtype=tl.float32)
    out = tl.alloc_ub(tile, dtype=tl.float32)
    with tl.copyin():
        tl.load(partial, sums)
    with tl.compute():
        tl.reduce_sum(one[:1], sums)
        tl.mul(one[:1], one[:1], share)
        mean = tl.extract_scalar(one, 0)
    for t in range(tl.cdiv(count, tile)):
        n = min(tile, count - t * tile)
        with tl.copyin():
            tl.load(x + first + t * tile, part[:n])
        with tl.compute():
            tl.add(out[:n], part[:n], -mean)
        with tl.copyout():
            tl.store(y + first + t * tile, out[:n])


def centre_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    total = x.numel()
    tl.require(total >= 1, "nothing has no mean")
    few = min(16, tl.num_cores())
    partial = tl.workspace((few,), tl.float32)
    partial_kernel[few](x, partial, total, 1024)
    subtract_kernel[tl.num_cores()](x, partial, y, total, few, 1024, 1.0 / float(total))
'''

# A choice between schedules, and an output whose shape is computed.
LAST = '''\
"""The last elements of every row: whole rows at a time where they are short."""
import tile.language as tl


@ascend_kernel
def rows_kernel(x, y, rows, cols, keep, rows_per_core):
    first = tl.program_id(0) * rows_per_core
    count = max(0, min(rows_per_core, rows - first))
    tile = tl.alloc_ub((rows_per_core, keep), dtype=tl.int16)
    with tl.copyin():
        tl.load(x + first * cols + cols - keep, tile[:count, :], stride=cols)
    with tl.copyout():
        tl.store(y + first * keep, tile[:count, :], stride=keep)


@ascend_kernel
def long_kernel(x, y, rows, cols, keep):
    tile = tl.alloc_ub(4096, dtype=tl.int16)
    for step in range(tl.cdiv(rows - tl.program_id(0), tl.num_programs(0))):
        row = tl.program_id(0) + step * tl.num_programs(0)
        for t in range(tl.cdiv(keep, 4096)):
            n = min(4096, keep - t * 4096)
            with tl.copyin():
                tl.load(x + row * cols + cols - keep + t * 4096, tile[:n])
            with tl.copyout():
                tl.store(y + row * keep + t * 4096, tile[:n])


def last_host(
    x: tl.input(tl.int16),
    keep: tl.attr(int, 3),
    y: tl.output(tl.int16, (x.shape[0], min(keep, x.shape[1]))),
):
    rows, cols = x.shape
    tl.require(keep >= 1 and cols >= 1, "something is kept")
    kept = min(keep, cols)
    n_cores = max(1, min(tl.num_cores(), rows))
    rows_per_core = tl.cdiv(rows, n_cores)
    if rows_per_core * tl.align_up(kept, 16) <= 16384:
        rows_kernel[n_cores](x, y, rows, cols, kept, max(1, rows_per_core))
    else:
        long_kernel[n_cores](x, y, rows, cols, kept)
'''

# Tensors without dimensions, in and out; one output has as many as its input.
TOTAL = '''\
"""total = weight * the sum of x; twice = two times weight."""
import tile.language as tl


@ascend_kernel
def total_kernel(x, weight, total, twice, count, tile):
    part = tl.alloc_ub(tile, dtype=tl.float32)
    acc = tl.alloc_ub(tile, dtype=tl.float32)
    one = tl.alloc_ub(8, dtype=tl.float32)
    other = tl.alloc_ub(8, dtype=tl.float32)
    with tl.copyin():
        factor = tl.load_scalar(weight)
    with tl.compute():
        tl.fill(acc, 0.0)
        tl.fill(other, 2.0)
        tl.mul(other, other, factor)
    with tl.copyout():
        tl.store(twice, other[:1])
    for t in range(tl.cdiv(count, tile)):
        n = min(tile, count - t * tile)
        with tl.copyin():
            tl.load(x + t * tile, part[:n])
        with tl.compute():
            tl.add(acc[:n], acc[:n], part[:n])
    with tl.compute():
        tl.reduce_sum(one[:1], acc)
        tl.mul(one[:1], one[:1], factor)
    with tl.copyout():
        tl.store(total, one[:1])


def total_host(
    x: tl.input(tl.float32),
    weight: tl.input(tl.float32),
    total: tl.output(tl.float32, ()),
    twice: tl.output(tl.float32, weight.shape),
):
    tl.require(weight.numel() == 1, "one weight")
    total_kernel[1](x, weight, total, twice, x.numel(), 1024)
'''


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments of one call."""

    inputs: Mapping[str, torch.Tensor]
    attributes: Mapping[str, Any]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(tensor.shape) for name, tensor in self.inputs.items()}


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def _blend(count: int, **attributes: Any) -> Case:
    tensors = {"x": noise(count).half(), "acc": noise(count, seed=1) * 9}
    return Case(tensors, {"offset": 4, **attributes})


def _last(rows: int, cols: int, keep: int) -> Case:
    numbers = torch.arange(rows * cols, dtype=torch.int16).reshape(rows, cols)
    return Case({"x": numbers}, {"keep": keep})


CASES: dict[str, list[Case]] = {
    "softmax": [Case({"x": noise(r, c)}, {}) for r, c in [(37, 129), (1, 1), (100, 64)]],
    "blend": [_blend(700, alpha=1.25), _blend(1), _blend(20_011, negate=True)],
    "centre": [Case({"x": noise(n) + 1}, {}) for n in (3000, 1, 50_001)],
    "last": [_last(5, 40, 3), _last(130, 7, 9), _last(2, 30_000, 20_000)],
    "total": [Case({"x": noise(*s), "weight": noise()}, {}) for s in [(), (7, 300), (1,)]],
}


@cache
def lowered(name: str) -> Lowered:
    """One of the programs, compiled."""
    texts = {"blend": BLEND, "centre": CENTRE, "last": LAST, "total": TOTAL}
    return lower(texts.get(name) or (EXAMPLES / f"{name}.py").read_text())


def wanted(name: str, case: Case) -> dict[str, HostTensor]:
    """What the program means."""
    inputs = {key: tensor.clone() for key, tensor in case.inputs.items()}
    return interpret(lowered(name).program, inputs, case.attributes)


def compare(found: HostTensor, expected: HostTensor, name: str) -> None:
    """Equal within what the order of additions leaves."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    a, b = found.values().astype(np.float64), expected.values().astype(np.float64)
    tolerance = 2e-5 if expected.dtype.name.startswith("float") else 0.0
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=name)


def write(files: Mapping[str, str], folder: Path) -> Path:
    """Lay out the files of a format."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
