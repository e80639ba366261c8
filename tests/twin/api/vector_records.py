# SPDX-License-Identifier: Apache-2.0
"""Records for `vector_program.cpp`, and which elements an instruction touches.

The reference here is written from the definition (lane, block, repeat) and shares nothing with the
runtime: every active lane becomes an index into each operand, and NumPy does the arithmetic.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import Launch, output, scalar, tensor

Array = np.ndarray[Any, Any]
BYTES = 8192
WORDS = 24
COUNT, LANES, BITS, COUNTER, REGISTER, REGISTER_COUNTER = range(6)
DTYPES = {"float32": 0, "float16": 1, "int32": 2, "int16": 3, "uint32": 4, "uint16": 5}


@dataclass(frozen=True)
class Layout:
    """Form and strides of one call; strides in blocks of 32 bytes."""

    form: int = COUNT
    count: int = 0
    repeat: int = 1
    mask: tuple[int, int] = (0, 0)
    dst: tuple[int, int] = (1, 8)
    a: tuple[int, int] = (1, 8)
    b: tuple[int, int] = (1, 8)

    def lanes(self, widest: int) -> Array:
        """Numbers of the active elements: repeat * lanes of a repeat + lane."""
        per_repeat = 256 // widest
        if self.form in (COUNT, COUNTER, REGISTER_COUNTER):
            return np.arange(self.count)
        if self.form == LANES:
            active = np.arange(min(self.count, per_repeat))
        else:
            bits = self.mask[0] | self.mask[1] << 64
            active = np.array([i for i in range(per_repeat) if bits >> i & 1], dtype=np.int64)
        return (np.arange(self.repeat)[:, None] * per_repeat + active).ravel()

    def indices(self, strides: tuple[int, int], size: int, widest: int) -> Array:
        """Where the active elements lie in an operand of `size` bytes per element."""
        lanes = self.lanes(widest)
        if self.form == COUNT:
            return lanes
        per_repeat, per_block = 256 // widest, 32 // size
        repeat, lane = lanes // per_repeat, lanes % per_repeat
        return np.asarray(
            (repeat * strides[1] + lane // per_block * strides[0]) * per_block + lane % per_block
        )


@dataclass(frozen=True)
class Record:
    op: int
    dtype: int
    layout: Layout
    integer: int = 0
    number: float = 0.0
    mode: int = 0

    def words(self) -> list[int]:
        y = self.layout
        bits = int(np.float32(self.number).view(np.int32))
        masks = [int(np.uint64(m).astype(np.int64)) for m in y.mask]
        head = [self.op, self.dtype, y.form, y.count, y.repeat, *y.dst, *y.a, *y.b]
        words = [*head, self.integer, self.mode, 0, *masks, bits]
        return words + [0] * (WORDS - len(words))


@functools.cache
def program() -> KernelBuild:
    build = Kernel.build(Path(__file__).with_name("vector_program.cpp"))
    assert build.ok, build.log
    return build


def run_records(records: Sequence[Record], a: Array, b: Array, d: Array) -> Array:
    """What each record leaves in its destination, as rows of bytes."""
    operands = [np.frombuffer(x.tobytes().ljust(BYTES, b"\0"), np.uint8) for x in (a, b, d)]
    words = np.array([r.words() for r in records], np.int64)
    launch = Launch(
        1,
        [
            *(tensor(n, x) for n, x in zip("abd", operands, strict=True)),
            tensor("records", words),
            output("out", (len(records), BYTES), "uint8"),
            scalar("n", len(records), "uint32"),
        ],
    )
    result = execute(program(), launch, mode="run")
    assert result.error is None, result.error
    return np.asarray(result.outputs["out"]).reshape(len(records), BYTES)


Function = Callable[[Array, Array, Array], Array]


def expected(
    layout: Layout, function: Function, a: Array, b: Array, d: Array, widest: int | None = None
) -> Array:
    """`d` after the instruction; `function` sees the active elements of a, b and the old d."""
    wide = widest or max(x.dtype.itemsize for x in (a, b, d))
    at = [
        layout.indices(s, x.dtype.itemsize, wide)
        for s, x in ((layout.a, a), (layout.b, b), (layout.dst, d))
    ]
    result = d.copy()
    with np.errstate(all="ignore"):
        result[at[2]] = function(a[at[0]], b[at[1]], d[at[2]])
    return result


@st.composite
def layouts(draw: st.DrawFn, sizes: tuple[int, int, int]) -> Layout:
    """A layout for operands (dst, a, b) of these element sizes that stays inside 8 KiB.

    Destinations never overlap themselves; sources may repeat (stride 0).
    """
    widest = max(sizes)
    per_repeat = 256 // widest
    form = draw(st.sampled_from([COUNT, LANES, BITS, COUNTER, REGISTER, REGISTER_COUNTER]))
    if form == COUNT:
        return Layout(COUNT, draw(st.integers(1, BYTES // widest)))
    blocks = [max(1, per_repeat * s // 32) for s in sizes]
    block_stride = [draw(st.integers(1, 2)), draw(st.integers(0, 2)), draw(st.integers(0, 2))]
    span = [max(1, (n - 1) * s + 1) for n, s in zip(blocks, block_stride, strict=True)]
    repeat_stride = [
        span[0] + draw(st.integers(0, 3)),
        draw(st.integers(0, 10)),
        draw(st.integers(0, 10)),
    ]
    room = BYTES // 32
    most = min((room - s) // max(1, r) for s, r in zip(span, repeat_stride, strict=True)) + 1
    repeats = draw(st.integers(1, min(most, 12)))
    count = draw(st.integers(1, per_repeat))
    low, high = draw(st.integers(0, 2**64 - 1)), draw(st.integers(0, 2**64 - 1))
    if form in (COUNTER, REGISTER_COUNTER):
        count = draw(st.integers(1, repeats * per_repeat))
    strides = list(zip(block_stride, repeat_stride, strict=True))
    return Layout(form, count, repeats, (low, high), strides[0], strides[1], strides[2])
