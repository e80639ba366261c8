# SPDX-License-Identifier: Apache-2.0
"""The host function evaluated here: tiling values for given shapes, as the emitted host computes.

Used for `--static`, where the numbers become constants of the kernel, and to launch kernels without
building their host code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from npuforge.errors import UsageError
from npuforge.lower.compiler import Lowered
from npuforge.lower.host_code import WORKSPACE_ALIGNMENT, Field, HostCode, Phase, stream_conditions
from npuforge.tile.expr import Chip, Expr, Number, Shape, Var, evaluate
from npuforge.tile.ir import (
    HostIf,
    HostLet,
    HostStmt,
    Launch,
    Require,
    Reserve,
    SameShape,
    Tensor,
)

Shapes = Mapping[str, Sequence[int]]


@dataclass(slots=True)
class Tiling:
    """What the host decides for one call."""

    blocks: int = 1
    key: int = 0
    workspace_bytes: int = 0
    values: dict[str, Number] = field(default_factory=dict)  # by field
    output_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)


def compute_tiling(
    lowered: Lowered, shapes: Shapes, attributes: Mapping[str, Number] | None = None
) -> Tiling:
    """Tiling for inputs of these shapes; `UsageError` where the host function refuses them."""
    try:
        return _Evaluator(lowered.host, shapes, attributes or {}).run()
    except (ArithmeticError, ValueError) as error:  # a division by zero, infinite numbers of tiles
        raise UsageError(
            f"{lowered.host.program.name}: its host cannot compute: {error}"
        ) from error


class _Evaluator:
    def __init__(self, code: HostCode, shapes: Shapes, attributes: Mapping[str, Number]) -> None:
        self.code = code
        self.shapes = {name: tuple(shape) for name, shape in shapes.items()}
        self.scalars: dict[str, Number] = {}
        self.tiling = Tiling(values={item.name: 0 for item in code.fields})
        for attribute in code.host.attributes:
            value = attributes.get(attribute.name, attribute.default)
            if value is None:
                raise UsageError(f"attribute {attribute.name!r} is missing")
            self.scalars[attribute.name] = value

    def run(self) -> Tiling:
        for tensor in self.code.host.inputs:
            if tensor.name not in self.shapes:
                raise UsageError(f"the shape of input {tensor.name!r} is missing")
        for tensor in self.code.host.outputs:
            self.shapes[tensor.name] = self.shape(tensor)
            self.tiling.output_shapes[tensor.name] = self.shapes[tensor.name]
        for name, rank in self.code.host.ranks.items():
            if len(self.shapes[name]) != rank:
                raise UsageError(f"{name!r} needs {rank} dimensions, not {self.shapes[name]}")
        self.block(self.code.host.body)
        return self.tiling

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        if tensor.role == "inout":
            return self.shapes[tensor.name]
        if isinstance(tensor.shape, SameShape):
            return self.shapes[tensor.shape.tensor]
        assert tensor.shape is not None
        return tuple(int(self.value(extent)) for extent in tensor.shape)

    def value(self, expr: Expr) -> Number:
        return evaluate(expr, self.leaf)

    def leaf(self, expr: Expr) -> Number:
        match expr:
            case Var(name=name):
                return self.scalars[name]
            case Shape(tensor, None):
                return math.prod(self.shapes[tensor])
            case Shape(tensor, axis):
                assert axis is not None
                if not -len(self.shapes[tensor]) <= axis < len(self.shapes[tensor]):
                    raise UsageError(f"{tensor!r} has no axis {axis}: {self.shapes[tensor]}")
                return self.shapes[tensor][axis]
            case Chip(what):
                return self.code.host.facts.chip[what]
            case _:
                raise AssertionError(expr)

    def block(self, body: Sequence[HostStmt]) -> None:
        for statement in body:
            match statement:
                case Require(condition, message):
                    if not self.value(condition):
                        raise UsageError(f"{self.code.program.name}: {message}")
                case HostLet(name, _, value):
                    self.scalars[name] = self.value(value)
                case Reserve(tensor):
                    self.reserve(tensor)
                case Launch():
                    self.launch(self.code.phases[id(statement)])
                case HostIf(condition, then, orelse):
                    chosen = bool(self.value(condition))
                    if chosen:
                        self.tiling.key |= self.code.key_bits.get(id(statement), 0)
                    self.block(then if chosen else orelse)

    def reserve(self, tensor: Tensor) -> None:
        assert isinstance(tensor.shape, tuple)
        size = max(1, tensor.dtype.bits // 8)
        for extent in tensor.shape:
            size *= int(self.value(extent))
        offset = self.code.workspace_offsets[tensor.name]
        self.set(offset, self.tiling.workspace_bytes)
        self.tiling.workspace_bytes += -(-size // WORKSPACE_ALIGNMENT) * WORKSPACE_ALIGNMENT

    def launch(self, phase: Phase) -> None:
        kernel = phase.launch.kernel
        parameters = {scalar.name: self.value(scalar.value) for scalar in kernel.scalars}

        def leaf(expr: Expr) -> Number:
            assert isinstance(expr, Var)
            return parameters[expr.name]

        limit = self.code.host.facts.chip["ub_bytes"]
        taken = int(evaluate(phase.code.ub_bytes, leaf))
        if taken > limit:
            parts = "; ".join(
                f"{slot.name} {slot.copies} x {int(evaluate(slot.size, leaf))}"
                for slot in phase.code.slots
            )
            raise UsageError(
                f"{self.code.program.name}: tiles of {kernel.name} do not fit the unified buffer:"
                f" {taken} bytes of {limit} ({parts})"
            )
        for name, value in parameters.items():
            self.set(phase.fields[name], value)
        for name, expr in phase.code.derived.items():
            self.set(phase.fields[name], evaluate(expr, leaf))
        for name, expr in stream_conditions(phase, self.code.host.facts.chip):
            self.set(phase.fields[name], self.value(expr))
        cores = max(1, int(self.value(phase.launch.cores)))
        if phase.cores is not None:
            self.set(phase.cores, cores)
            if cores > self.code.host.facts.chip["cores"]:
                raise UsageError(f"{self.code.program.name}: more blocks than cores")
        self.tiling.blocks = max(self.tiling.blocks, cores)

    def set(self, item: Field, value: Number) -> None:
        self.tiling.values[item.name] = value
