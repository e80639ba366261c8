# SPDX-License-Identifier: Apache-2.0
"""The host function of a running program: arguments, numbers, launches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.tile import chip_constants
from npuforge.tile.expr import Chip, Number, Program, Shape, Type
from npuforge.tile.interpret.failure import failure
from npuforge.tile.interpret.kernels import run_core
from npuforge.tile.interpret.memory import GlobalTensor
from npuforge.tile.interpret.scalars import Scalars, float32
from npuforge.tile.ir import (
    Attribute,
    Host,
    HostIf,
    HostLet,
    HostStmt,
    Launch,
    PointerParameter,
    Require,
    SameShape,
    Tensor,
    TileProgram,
)

_MOST_CORES = 65535


def interpret(
    program: TileProgram,
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Number] | None = None,
    soc: str = "910b2",
) -> dict[str, HostTensor]:
    """Run `program`; what its outputs (and tensors that are both) hold afterwards, by name.

    Inputs are arrays, torch tensors or host tensors of exactly the declared element type. Wrong
    arguments and conditions of `tl.require` that do not hold raise `UsageError`; a program that
    breaks a rule of the language while it runs raises `TileError`.
    """
    host = _Host(program.host, chip_constants(soc))
    host.bind(inputs, attributes or {})
    host.block(program.host.body)
    return {tensor.name: host.result(tensor) for tensor in program.host.outputs}


def require_sizes(
    program: TileProgram, shapes: Mapping[str, tuple[int, ...]], soc: str = "910b2"
) -> None:
    """Raise `UsageError` where the host refuses inputs of these shapes. No kernel is run, and no
    tensor needed; attributes have their defaults."""
    host = _Host(program.host, chip_constants(soc), runs=False)
    host.shapes |= shapes
    host.begin({})
    host.block(program.host.body)


@dataclass(slots=True)
class _Host:
    host: Host
    chip: Mapping[str, int]
    runs: bool = True  # kernels, besides what is computed for them
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    tensors: dict[str, GlobalTensor] = field(default_factory=dict)
    scalars: Scalars = field(init=False)

    def __post_init__(self) -> None:
        self.scalars = Scalars(self._leaf, in_kernel=False)

    def _leaf(self, leaf: Shape | Chip | Program) -> int:
        if isinstance(leaf, Chip):
            return self.chip[leaf.what]
        assert isinstance(leaf, Shape), leaf
        shape = self.shapes[leaf.tensor]
        if leaf.axis is None:
            return math.prod(shape)
        if not -len(shape) <= leaf.axis < len(shape):
            raise UsageError(f"{leaf.tensor!r} has no axis {leaf.axis}: its shape is {shape}")
        return shape[leaf.axis]

    # ---- arguments ------------------------------------------------------------------------------
    def bind(self, inputs: Mapping[str, Any], attributes: Mapping[str, Number]) -> None:
        """Take the arguments of the call, and make room for the outputs."""
        for kind, given, known in (
            ("input", inputs, self.host.inputs),
            ("attribute", attributes, self.host.attributes),
        ):
            for name in given.keys() - {item.name for item in known}:
                raise UsageError(f"{self.host.name} has no {kind} {name!r}")
        for tensor in self.host.inputs:
            if tensor.name not in inputs:
                raise UsageError(f"input {tensor.name!r} is missing")
            held = self._input(tensor, inputs[tensor.name])
            self.tensors[tensor.name], self.shapes[tensor.name] = held, held.shape
        self.begin(attributes)

    def begin(self, attributes: Mapping[str, Number]) -> None:
        """Attributes and outputs, once the shapes of the inputs are known."""
        for attribute in self.host.attributes:
            value = attributes.get(attribute.name, attribute.default)
            self.scalars.assign(attribute.name, 0, _attribute(attribute, value))
        for tensor in self.host.outputs:
            if tensor.role == "out":
                self._make(tensor)
        for name, rank in self.host.ranks.items():
            if len(self.shapes[name]) != rank:
                raise UsageError(
                    f"{name!r} has the shape {self.shapes[name]}; it needs {rank} dimensions"
                )

    def _make(self, tensor: Tensor) -> None:
        shape = self.shapes[tensor.name] = self._shape(tensor)
        if self.runs:
            self.tensors[tensor.name] = GlobalTensor.empty(tensor, shape)

    def _input(self, tensor: Tensor, value: Any) -> GlobalTensor:
        given = HostTensor.of(value)
        if tensor.dtype.name == "bfloat16" and given.dtype.name == "uint16":
            given = HostTensor(given.data, tensor.dtype)
        if given.dtype != tensor.dtype:
            raise UsageError(f"{tensor.name!r} is {given.dtype.name}, not {tensor.dtype.name}")
        return GlobalTensor.holding(tensor, given.data)

    def _shape(self, tensor: Tensor) -> tuple[int, ...]:
        if isinstance(tensor.shape, SameShape):
            return self.shapes[tensor.shape.tensor]
        assert tensor.shape is not None, tensor
        shape = tuple(self.scalars.whole(extent) for extent in tensor.shape)
        if any(extent < 0 for extent in shape):
            raise UsageError(f"{tensor.name!r} would have the shape {shape}")
        return shape

    # ---- statements -----------------------------------------------------------------------------
    def block(self, body: Sequence[HostStmt]) -> None:
        for statement in body:
            match statement:
                case HostLet(name, version, value):
                    self.scalars.assign(name, version, self.scalars.value(value))
                case Require(condition, message):
                    if not self.scalars.value(condition):
                        raise UsageError(f"{self.host.name}: {message}")
                case HostIf(condition, then, orelse):
                    self.block(then if self.scalars.value(condition) else orelse)
                    self.scalars.join(statement.joined)
                case Launch():
                    self._launch(statement)

    def _launch(self, launch: Launch) -> None:
        cores = self.scalars.whole(launch.cores)
        if not 1 <= cores <= _MOST_CORES:
            raise failure("TL-18", launch.span, f"a launch on {cores} cores")
        if not self.runs:
            return
        pointers: dict[str, GlobalTensor] = {}
        arguments: dict[str, Number] = {}
        for parameter in launch.kernel.parameters:
            if isinstance(parameter, PointerParameter):
                pointers[parameter.name] = self._tensor(parameter.tensor)
                continue
            value = self.scalars.value(parameter.value)
            arguments[parameter.name] = float32(value) if isinstance(value, float) else value
        for tensor in pointers.values():
            tensor.begin_launch(cores)
        for core in range(cores):
            run_core(launch.kernel, pointers, arguments, core, cores)

    def _tensor(self, tensor: Tensor) -> GlobalTensor:
        if tensor.role == "workspace" and tensor.name not in self.tensors:
            self._make(tensor)
        return self.tensors[tensor.name]

    def result(self, tensor: Tensor) -> HostTensor:
        """An output, every element of which must have been written."""
        held = self.tensors[tensor.name]
        if not held.written.all():
            missing = int(held.written.size - held.written.sum())
            first = int(held.written.argmin())
            raise failure(
                "TL-19",
                tensor.span,
                f"{missing} of {held.written.size} elements of {tensor.name!r} were never written, "
                f"the first is {first}",
            )
        return HostTensor(held.data.reshape(held.shape), tensor.dtype)


def _attribute(attribute: Attribute, value: Number | None) -> Number:
    """The value of an attribute; float attributes reach an operator as float32."""
    if value is None:
        raise UsageError(f"attribute {attribute.name!r} is missing")
    fits = {
        Type.BOOL: isinstance(value, bool),
        Type.INT: isinstance(value, int) and not isinstance(value, bool),
        Type.FLOAT: isinstance(value, int | float) and not isinstance(value, bool),
    }[attribute.type]
    if not fits:
        raise UsageError(f"attribute {attribute.name!r} is {attribute.type.value}, not {value!r}")
    return float32(value) if attribute.type is Type.FLOAT else value
