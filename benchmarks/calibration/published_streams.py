# SPDX-License-Identifier: Apache-2.0
"""Instruction streams with the parameters of published kernels, and what was measured for them.

Only parameters (tile sizes, loop order, synchronisation) are mirrored, in records of our own: this
checks the simulator and the chip constants without the twin's API layer in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from npuforge.twin.timing.records import (
    BYPASS_L2,
    UNALIGNED,
    Pipe,
    Stream,
    StreamBuilder,
    repeated,
)

X, Y, Z, W = (i << 34 for i in range(1, 5))  # tensors far apart
KernelKind = Literal["vector", "cube"]


@dataclass(frozen=True)
class Case:
    """One published measurement and the streams that mirror its kernel."""

    name: str
    soc: str
    measured_us: float
    build: Callable[[], Sequence[Stream]]
    kind: KernelKind = "vector"
    listed: bool = True  # in calibration.csv; the others are published elsewhere
    note: str = ""


# ---- element-wise Add, 8192 x 8192 half (add_high_performance) ----------------------------------


def _add_body(tile: int, cycles: int, flags: int, event: int, double: bool) -> StreamBuilder:
    b = StreamBuilder(issue_cycles=12)
    if double:
        b.wait_flag(Pipe.V, Pipe.MTE2, event)
    b.copy(Pipe.MTE2, X, tile * 2, flags=flags).copy(Pipe.MTE2, Y, tile * 2, flags=flags)
    b.set_flag(Pipe.MTE2, Pipe.V, event).wait_flag(Pipe.MTE2, Pipe.V, event)
    if double:
        b.wait_flag(Pipe.MTE3, Pipe.V, event)
    b.vector(cycles)
    b.set_flag(Pipe.V, Pipe.MTE2, event)
    b.set_flag(Pipe.V, Pipe.MTE3, event).wait_flag(Pipe.V, Pipe.MTE3, event)
    b.copy(Pipe.MTE3, Z, tile * 2)
    b.set_flag(Pipe.MTE3, Pipe.V, event)
    if not double:
        b.wait_flag(Pipe.V, Pipe.MTE2, event).wait_flag(Pipe.MTE3, Pipe.V, event)
    return b


def _offset(stream: Stream, offset: int) -> Stream:
    moved = stream.copy()
    moved["gm_address"] += np.where(moved["kind"] == 1, np.uint64(offset), np.uint64(0))
    return moved


def add_single(cores: int, tile: int, cycles: int) -> list[Stream]:
    """One buffer: the wait for the previous round stands before the next copy."""
    rows = _split(8192, cores)
    body = _add_body(tile, cycles, 0, 0, False).array()
    streams, row = [], 0
    for count in rows:
        rounds = _ceil(count * 8192, tile)
        streams.append(_offset(repeated(body, rounds, tile * 2), row * 16384))
        row += count
    return streams


def add_double(cores: int, tile: int, cycles: int, flags: int) -> list[Stream]:
    """Two buffers, two events."""
    head = StreamBuilder()
    for event in (0, 1):
        head.set_flag(Pipe.V, Pipe.MTE2, event).set_flag(Pipe.MTE3, Pipe.V, event)
    pair = np.concatenate(
        [
            _add_body(tile, cycles, flags, 0, True).array(),
            _offset(_add_body(tile, cycles, flags, 1, True).array(), tile * 2),
        ]
    )
    streams, row = [], 0
    for count in _split(8192, cores):
        rounds = _ceil(count * 8192, tile)
        loop = _offset(repeated(pair, _ceil(rounds, 2), tile * 4), row * 16384)
        streams.append(np.concatenate([head.array(), loop]))
        row += count
    return streams


def _split(total: int, parts: int) -> list[int]:
    return [total // parts + (1 if i < total % parts else 0) for i in range(parts)]


def add_scalar() -> list[Stream]:
    """GetValue/SetValue element by element; one hundredth of the kernel, see `Case.note`."""
    b = StreamBuilder(issue_cycles=12)
    b.copy(Pipe.MTE2, X, 8192).copy(Pipe.MTE2, Y, 8192)
    b.set_flag(Pipe.MTE2, Pipe.S).wait_flag(Pipe.MTE2, Pipe.S)
    b.scalar(34 * 4096)
    b.set_flag(Pipe.S, Pipe.MTE3).wait_flag(Pipe.S, Pipe.MTE3)
    b.copy(Pipe.MTE3, Z, 8192)
    return [repeated(b.array(), 164, 8192)]


# ---- copies only (data_copy) --------------------------------------------------------------------


def tiles(
    m: int,
    n: int,
    cores: int,
    tile: tuple[int, int],
    *,
    repeat: int = 1,
    slices: int = 1,
) -> list[Stream]:
    """Every core reads its rows of an [m, n] half matrix tile by tile, `slices` column slices
    one after the other, each `repeat` times."""
    tile_m, tile_n = tile
    per_core = m // cores
    width = n // slices
    streams = []
    for core in range(cores):
        parts = []
        for part in range(slices):
            row = []
            for start in range(part * width, (part + 1) * width, tile_n):
                columns = min(tile_n, (part + 1) * width - start)
                b = StreamBuilder(issue_cycles=14)
                b.copy(
                    Pipe.MTE2,
                    X + (core * per_core * n + start) * 2,
                    columns * 2,
                    rows=tile_m,
                    stride=n * 2,
                    flags=UNALIGNED,
                )
                row.append(b.array())
            block = repeated(np.concatenate(row), per_core // tile_m, tile_m * n * 2)
            parts += [block] * repeat
        streams.append(np.concatenate(parts))
    return streams


def whole_matrix(
    m: int, n: int, cores: int, tile: tuple[int, int], *, shifted: bool
) -> list[Stream]:
    """Every core reads the whole matrix past the L2, in the same order or shifted by core."""
    tile_m, tile_n = tile
    block_m = m // cores
    block = []
    for row in range(0, block_m, tile_m):
        for column in range(0, n, tile_n):
            b = StreamBuilder(issue_cycles=14)
            b.copy(
                Pipe.MTE2,
                X + (row * n + column) * 2,
                tile_n * 2,
                rows=tile_m,
                stride=n * 2,
                flags=BYPASS_L2,
            )
            block.append(b.array())
    body = np.concatenate(block)
    streams = []
    for core in range(cores):
        order = [(i + core) % cores if shifted else i for i in range(cores)]
        streams.append(np.concatenate([_offset(body, i * block_m * n * 2) for i in order]))
    return streams


# ---- queue-style kernels (cann-bench direct launch, Addcmul) -------------------------------------

QUEUE_CALL = 40  # scalar cycles of AllocTensor, EnQue, DeQue, FreeTensor


VectorWork = Callable[[int], list[tuple[str, int]]]  # (op, cycles) for a tile of n elements


@dataclass(frozen=True)
class QueueKernel:
    """CopyIn, Compute, CopyOut through queues of `depth` buffers."""

    length: int
    element: int
    blocks: int
    block_length: int
    tile: int
    inputs: int
    vector: VectorWork
    depth: int = 2

    def streams(self) -> list[Stream]:
        return [self._block(block) for block in range(self.blocks)]

    def _block(self, block: int) -> Stream:
        count = min(self.block_length, self.length - block * self.block_length)
        full, tail = divmod(count, self.tile)
        looped = full - full % self.depth
        parts = []
        if looped:
            rounds = np.concatenate([self._tile(i, self.tile) for i in range(self.depth)])
            step = self.depth * self.tile * self.element
            parts.append(repeated(rounds, looped // self.depth, step))
        parts += [self._tile(i, self.tile) for i in range(looped, full)]
        if tail:
            parts.append(self._tile(full, tail))
        work = _offset(np.concatenate(parts), block * self.block_length * self.element)
        return np.concatenate([self._head(), work])

    def _head(self) -> Stream:
        """Buffers are set up and all of them are free."""
        head = StreamBuilder(issue_cycles=60)
        head.scalar(60 * (self.inputs + 2))
        for event in range(self.depth):
            for queue in range(self.inputs):
                head.set_flag(Pipe.V, Pipe.MTE2, event * 4 + queue)
            head.set_flag(Pipe.MTE3, Pipe.V, event)
        return head.array()

    def _tile(self, index: int, count: int) -> Stream:
        offset, event = index * self.tile * self.element, index % self.depth
        size = count * self.element
        b = StreamBuilder(issue_cycles=12)
        for queue in range(self.inputs):
            b.scalar(QUEUE_CALL).wait_flag(Pipe.V, Pipe.MTE2, event * 4 + queue)
            b.copy(Pipe.MTE2, (X, Y, W)[queue] + offset, size, flags=UNALIGNED, scalar=20)
            b.scalar(QUEUE_CALL).set_flag(Pipe.MTE2, Pipe.V, event * 4 + queue)
        for queue in range(self.inputs):
            b.scalar(QUEUE_CALL).wait_flag(Pipe.MTE2, Pipe.V, event * 4 + queue)
        b.scalar(QUEUE_CALL).wait_flag(Pipe.MTE3, Pipe.V, event)
        for op, cycles in self.vector(count):
            b.vector(cycles, op)
        b.scalar(QUEUE_CALL).set_flag(Pipe.V, Pipe.MTE3, event)
        for queue in range(self.inputs):
            b.scalar(QUEUE_CALL).set_flag(Pipe.V, Pipe.MTE2, event * 4 + queue)
        b.scalar(QUEUE_CALL).wait_flag(Pipe.V, Pipe.MTE3, event)
        b.copy(Pipe.MTE3, Z + offset, size, flags=UNALIGNED, scalar=20)
        b.scalar(QUEUE_CALL).set_flag(Pipe.MTE3, Pipe.V, event)
        return b.array()


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def add_queue(length: int, element: int) -> list[Stream]:
    blocks = min(48, _ceil(length, 1024))

    def vector(n: int) -> list[tuple[str, int]]:
        # Both inputs start at multiples of 512 B, so every repeat takes two cycles.
        return [("Add", 22 + 2 * _ceil(n * element, 256))]

    tile = 196608 // 6 // element
    return QueueKernel(length, element, blocks, _ceil(length, blocks), tile, 2, vector).streams()


def sqrt_queue(length: int, element: int) -> list[Stream]:
    blocks = min(48, _ceil(length, 1024))

    def vector(n: int) -> list[tuple[str, int]]:
        repeats = _ceil(n * 4, 256)
        root = [("Sqrt", 29 + 2 * repeats)]
        return root if element == 4 else [("Cast", 20 + repeats), *root, ("Cast", 20 + repeats)]

    return QueueKernel(length, element, blocks, _ceil(length, blocks), 2048, 1, vector).streams()


def mish_queue(length: int, element: int) -> list[Stream]:
    align = 32 // element
    per_core = _ceil(length, 48)
    block_length = _ceil(per_core, align) * align
    tile = 196608 // 4 // 11 // align * align

    def vector(n: int) -> list[tuple[str, int]]:
        r = _ceil(n * 4, 256)
        body = [
            ("Exp", 28 + 2 * r),
            ("Adds", 22 + r),
            ("Ln", 30 + 2 * r),
            ("Tanh", int(154 + 0.157 * n)),
            ("Mul", 23 + 2 * r),
        ]
        return body if element == 4 else [("Cast", 20 + r), *body, ("Cast", 20 + r)]

    blocks = _ceil(length, block_length)
    return QueueKernel(length, element, blocks, block_length, tile, 1, vector).streams()


def unary_queue(length: int, element: int) -> list[Stream]:
    """A memory-bound element-wise kernel as a library would write it: 16 KB tiles, two buffers."""

    def vector(n: int) -> list[tuple[str, int]]:
        return [("Exp", 28 + 2 * _ceil(n * 4, 256))]

    tile = 16384 // element
    return QueueKernel(length, element, 48, _ceil(length, 48), tile, 1, vector).streams()
