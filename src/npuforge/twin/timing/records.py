# SPDX-License-Identifier: Apache-2.0
"""Instruction streams in Python: the same layout as `runtime/timeline_record.h`.

The recorder of the runtime writes streams itself; this module builds them by hand, for tests and
for calibration against published measurements of single instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class Pipe(IntEnum):
    S = 0
    V = 1
    MTE2 = 2
    MTE3 = 3
    MTE1 = 4
    M = 5
    FIX = 6
    ALL = 7


class Kind(IntEnum):
    EXEC = 0
    DMA = 1
    SET_FLAG = 2
    WAIT_FLAG = 3
    BARRIER = 4
    CROSS_SET = 5
    CROSS_WAIT = 6
    SYNC_ALL = 7
    SCALAR = 8


class CrossMode(IntEnum):
    ALL = 0
    VECTORS = 1
    GROUP = 2
    TOKEN = 3


BYPASS_L2 = 1
UNALIGNED = 2
ATOMIC = 4
WRITE = 8
VECTORS_ONLY = 16

RECORD = np.dtype(
    [
        ("gm_address", "<u8"),
        ("row_bytes", "<u4"),
        ("row_stride", "<u4"),
        ("scalar_cycles", "<u4"),
        ("cycles", "<u4"),
        ("site", "<u4"),
        ("rows", "<u2"),
        ("op", "<u2"),
        ("kind", "u1"),
        ("pipe", "u1"),
        ("other", "u1"),
        ("event", "u1"),
        ("flags", "u1"),
        ("padding", "V3"),
    ]
)
Stream = NDArray[Any]


class StreamBuilder:
    """Appends records in program order; each method is one instruction and returns self."""

    def __init__(self, *, issue_cycles: int = 5) -> None:
        self._rows: list[dict[str, int]] = []
        self._issue = issue_cycles
        self._ops: dict[str, int] = {"default": 0}

    def _add(self, op: str, **fields: int) -> Self:
        fields.setdefault("scalar_cycles", self._issue)
        fields.setdefault("other", Pipe.ALL)
        fields.setdefault("rows", 1)
        fields["op"] = self._ops.setdefault(op, len(self._ops))
        fields["site"] = len(self._rows)
        self._rows.append(fields)
        return self

    def vector(self, cycles: int, op: str = "Add", *, scalar: int | None = None) -> Self:
        return self.execute(Pipe.V, cycles, op, scalar=scalar)

    def execute(self, pipe: Pipe, cycles: int, op: str, *, scalar: int | None = None) -> Self:
        extra = {} if scalar is None else {"scalar_cycles": scalar}
        return self._add(op, kind=Kind.EXEC, pipe=pipe, cycles=cycles, **extra)

    def copy(
        self,
        pipe: Pipe,
        address: int,
        row_bytes: int,
        *,
        rows: int = 1,
        stride: int = 0,
        flags: int = 0,
        cycles: int = 0,
        scalar: int | None = None,
    ) -> Self:
        extra = {} if scalar is None else {"scalar_cycles": scalar}
        return self._add(
            "DataCopy",
            kind=Kind.DMA,
            pipe=pipe,
            gm_address=address,
            row_bytes=row_bytes,
            rows=rows,
            row_stride=stride,
            flags=flags,
            cycles=cycles,
            **extra,
        )

    def set_flag(self, source: Pipe, destination: Pipe, event: int = 0) -> Self:
        return self._add(
            "SetFlag",
            kind=Kind.SET_FLAG,
            pipe=source,
            other=destination,
            event=event,
            scalar_cycles=2,
        )

    def wait_flag(self, source: Pipe, destination: Pipe, event: int = 0) -> Self:
        return self._add(
            "WaitFlag",
            kind=Kind.WAIT_FLAG,
            pipe=source,
            other=destination,
            event=event,
            scalar_cycles=2,
        )

    def barrier(self, pipe: Pipe = Pipe.ALL) -> Self:
        return self._add("PipeBarrier", kind=Kind.BARRIER, pipe=pipe, scalar_cycles=2)

    def sync_all(self) -> Self:
        return self._add("SyncAll", kind=Kind.SYNC_ALL, pipe=Pipe.S)

    def cross_set(self, pipe: Pipe, event: int, mode: CrossMode, token: int = 0) -> Self:
        return self._add(
            "CrossCoreSetFlag",
            kind=Kind.CROSS_SET,
            pipe=pipe,
            event=event,
            rows=mode,
            gm_address=token,
        )

    def cross_wait(self, pipe: Pipe, event: int, mode: CrossMode, token: int = 0) -> Self:
        return self._add(
            "CrossCoreWaitFlag",
            kind=Kind.CROSS_WAIT,
            pipe=pipe,
            event=event,
            rows=mode,
            gm_address=token,
        )

    def scalar(self, cycles: int, *, address: int = 0, load_bytes: int = 0) -> Self:
        return self._add(
            "Scalar",
            kind=Kind.SCALAR,
            pipe=Pipe.S,
            scalar_cycles=cycles,
            gm_address=address,
            row_bytes=load_bytes,
        )

    def array(self) -> Stream:
        """The records so far."""
        stream = np.zeros(len(self._rows), dtype=RECORD)
        for name in RECORD.names or ():
            if name != "padding":
                stream[name] = [row.get(name, 0) for row in self._rows]
        return stream

    @property
    def op_names(self) -> list[str]:
        return list(self._ops)


def repeated(body: Stream, times: int, address_step: int) -> Stream:
    """`body` `times` over; each round moves its GM addresses on by `address_step`."""
    stream = np.tile(body, times)
    rounds = np.repeat(np.arange(times, dtype=np.uint64), len(body))
    moves = stream["kind"] == Kind.DMA
    stream["gm_address"] += np.where(moves, rounds * np.uint64(address_step), np.uint64(0))
    return stream


def write_recording(path: Path, streams: Sequence[Stream], op_names: Sequence[str]) -> None:
    """Writes `streams` in the form the replay tool reads."""
    with path.open("wb") as file:
        file.write(np.uint64(len(streams)).tobytes())
        for stream in streams:
            file.write(np.uint64(len(stream)).tobytes())
            file.write(np.ascontiguousarray(stream).tobytes())
        file.write("".join(f"{name}\n" for name in op_names).encode())
