# SPDX-License-Identifier: Apache-2.0
"""Kernels of a running program, one core at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from npuforge.dtypes import AnyArray
from npuforge.tile.expr import Chip, Expr, Number, Program, Shape, Type
from npuforge.tile.interpret.memory import GlobalTensor, Region, Tile
from npuforge.tile.interpret.operations import apply
from npuforge.tile.interpret.scalars import Scalars
from npuforge.tile.ir import (
    For,
    If,
    Kernel,
    Let,
    Load,
    LoadScalar,
    Op,
    Pointer,
    ReadScalar,
    Stage,
    Stmt,
    Store,
    View,
)


def run_core(
    kernel: Kernel,
    pointers: Mapping[str, GlobalTensor],
    arguments: Mapping[str, Number],
    core: int,
    cores: int,
) -> None:
    """Everything core number `core` of `cores` does."""

    def program(leaf: Shape | Chip | Program) -> int:
        assert isinstance(leaf, Program), leaf
        return core if leaf.what == "id" else cores

    scalars = Scalars(program, in_kernel=True)
    for name, value in arguments.items():
        scalars.assign(name, 0, value)
    tiles = {buffer.name: Tile.of(buffer, scalars) for buffer in kernel.buffers}
    with np.errstate(all="ignore"):
        _Core(core, pointers, scalars, tiles).block(kernel.body)


@dataclass(slots=True)
class _Core:
    number: int
    pointers: Mapping[str, GlobalTensor]
    scalars: Scalars
    tiles: Mapping[str, Tile]

    def block(self, body: Sequence[Stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case Let(name, version, value):
                self.scalars.assign(name, version, self.scalars.value(value))
            case Stage(_, body):
                self.block(body)
            case Op():
                self._operation(statement)
            case For():
                self._loop(statement)
            case If(condition, then, orelse):
                self.block(then if self.scalars.value(condition) else orelse)
                self.scalars.join(statement.joined)
            case Load(view, pointer, strides):
                region = self._region(pointer, view, strides)
                values = self.pointers[pointer.tensor].read(region, self.number, pointer)
                self._tile(view).write(view, self.scalars, values)
            case Store(pointer, view, strides, atomic):
                region = self._region(pointer, view, strides)
                target, values = self.pointers[pointer.tensor], self._read(view)
                if atomic is None:
                    target.write(region, values, self.number, pointer)
                else:
                    target.combine(region, values, atomic, self.number, pointer)
            case ReadScalar(name, version, type_, view):
                self.scalars.assign(name, version, _scalar(self._read(view), type_))
            case LoadScalar(name, version, type_, pointer):
                region = Region(self.scalars.whole(pointer.offset), (), ())
                values = self.pointers[pointer.tensor].read(region, self.number, pointer)
                self.scalars.assign(name, version, _scalar(values, type_))

    def _loop(self, loop: For) -> None:
        start, stop = self.scalars.whole(loop.start), self.scalars.whole(loop.stop)
        for round_ in range(start, stop, loop.step):
            self.scalars.join(loop.carried)
            self.scalars.assign(loop.counter, loop.version, round_)
            self.block(loop.body)
        self.scalars.join(loop.carried)

    def _operation(self, op: Op) -> None:
        operands = tuple(
            self._read(operand) if isinstance(operand, View) else self.scalars.value(operand)
            for operand in op.ins
        )
        shapes = tuple(self._extents(out) for out in op.outs)
        for out, values in zip(op.outs, apply(op, operands, shapes), strict=True):
            self._tile(out).write(out, self.scalars, values)

    def _tile(self, view: View) -> Tile:
        return self.tiles[view.buffer.name]

    def _read(self, view: View) -> AnyArray:
        return self._tile(view).read(view, self.scalars)

    def _extents(self, view: View) -> tuple[int, ...]:
        self._tile(view).index(view, self.scalars)  # refuses negative extents
        return tuple(self.scalars.whole(extent) for extent in view.shape)

    def _region(self, pointer: Pointer, view: View, strides: tuple[Expr, ...]) -> Region:
        steps = tuple(self.scalars.whole(stride) for stride in strides)
        return Region(self.scalars.whole(pointer.offset), self._extents(view), steps)


def _scalar(value: AnyArray, type_: Type) -> Number:
    return float(value) if type_ is Type.FLOAT else int(value)
