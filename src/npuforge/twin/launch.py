# SPDX-License-Identifier: Apache-2.0
"""A kernel launch: how many blocks, and the kernel's arguments in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from npuforge.dtypes import DType, HostTensor, find
from npuforge.errors import UsageError
from npuforge.untrusted.names import checked_name

Role = Literal["in", "out", "inout"]

# Blocks a launch may have on the device.
MAX_BLOCKS = 65535


@dataclass(frozen=True, slots=True)
class _Named:
    """An argument, whose name stands in a line of the runner's plan and in reports."""

    name: str

    def __post_init__(self) -> None:
        checked_name("argument", self.name, "the argument's name")


@dataclass(frozen=True, slots=True)
class TensorArgument(_Named):
    """A tensor in GM; `data` is None for an output, which starts poisoned."""

    shape: tuple[int, ...]
    dtype: DType
    role: Role = "in"
    data: HostTensor | None = None

    @property
    def nbytes(self) -> int:
        return self.dtype.bytes_for(math.prod(self.shape))


@dataclass(frozen=True, slots=True)
class ScalarArgument(_Named):
    """A number, or a structure, passed by value as `raw`."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class WorkspaceArgument(_Named):
    """Scratch memory in GM with undefined content."""

    nbytes: int


@dataclass(frozen=True, slots=True)
class ShapeArgument(_Named):
    """Where a kernel writes the shapes of `outputs` outputs whose shape only it knows."""

    outputs: int

    @property
    def nbytes(self) -> int:
        # A count of dimensions and up to eight of them, 64 bits each.
        return self.outputs * 9 * 8


@dataclass(frozen=True, slots=True)
class TilingArgument(_Named):
    """Tiling data in GM."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class ListArgument(_Named):
    """A dynamic list of tensors."""

    tensors: tuple[TensorArgument, ...]


@dataclass(frozen=True, slots=True)
class AbsentArgument(_Named):
    """An optional tensor that is not given: a null pointer."""


@dataclass(frozen=True, slots=True)
class AliasArgument(_Named):
    """Another tensor or list of the launch again: an output written in place."""

    target: str


Argument = (
    TensorArgument
    | ScalarArgument
    | WorkspaceArgument
    | ShapeArgument
    | TilingArgument
    | ListArgument
    | AbsentArgument
    | AliasArgument
)


@dataclass(frozen=True, slots=True)
class Launch:
    """One call of a kernel. `key` is the tiling key that `TILING_KEY_IS` sees."""

    blocks: int
    arguments: Sequence[Argument] = field(default_factory=tuple)
    key: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.key < 1 << 64:
            raise UsageError(f"a tiling key has 64 bits and no sign; {self.key:#x} does not fit")
        if not 1 <= self.blocks <= MAX_BLOCKS:
            raise UsageError(f"a launch has 1 to {MAX_BLOCKS} blocks, not {self.blocks}")
        seen: set[str] = set()
        for name in (tensor.name for tensor in self.tensors()):
            if name in seen:
                raise UsageError(f"two tensors of the launch are called {name!r}")
            seen.add(name)

    def tensors(self) -> Iterator[TensorArgument]:
        """Every tensor, members of lists included, in order."""
        for argument in self.arguments:
            if isinstance(argument, TensorArgument):
                yield argument
            elif isinstance(argument, ListArgument):
                yield from argument.tensors

    @property
    def inputs(self) -> list[TensorArgument]:
        return [tensor for tensor in self.tensors() if tensor.role != "out"]

    @property
    def outputs(self) -> list[TensorArgument]:
        return [tensor for tensor in self.tensors() if tensor.role != "in"]


def tensor(
    name: str, value: Any, *, dtype: str | DType | None = None, role: Role = "in"
) -> TensorArgument:
    """An input (or in-out) tensor with the values of an array or torch tensor."""
    data = HostTensor.of(value, dtype)
    return TensorArgument(name, data.shape, data.dtype, role, data)


def output(name: str, shape: Sequence[int], dtype: str | DType) -> TensorArgument:
    """An output tensor."""
    return TensorArgument(name, tuple(shape), find(dtype), "out")


def scalar(name: str, value: float | bool, dtype: str | DType) -> ScalarArgument:
    """A number passed by value."""
    return ScalarArgument(name, number_bytes(name, value, find(dtype)))


def number_bytes(name: str, value: Any, dtype: DType) -> bytes:
    """`value` as the device holds a `dtype`; refuses what does not fit."""
    if not isinstance(value, int | float | complex | np.generic) or (
        isinstance(value, complex) and dtype.kind != "complex"
    ):
        raise UsageError(f"{name}: {value!r} is not a number")
    number: Any = value
    if dtype.kind in ("int", "uint"):
        if isinstance(number, complex) or not math.isfinite(number) or number != int(number):
            raise UsageError(f"{name}: {value!r} is not an integer")
        low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
        high = low + (1 << dtype.bits) - 1
        if not low <= int(number) <= high:
            raise UsageError(f"{name}: {value} does not fit {dtype.name}")
        number = int(number)
    elif isinstance(number, int):
        number = float(number)
    return HostTensor.of(np.asarray([number]), dtype).to_bytes()


def pack_fields(name: str, fields: Sequence[tuple[str, str, Any]]) -> bytes:
    """A C structure of (name, type, value) members, each at its natural alignment.

    A value may be a list: an array member. The type is an element type's name.
    """
    raw = bytearray()
    widest = 1
    for member, type_name, value in fields:
        dtype = find(type_name)
        align = max(1, dtype.bits // 8)
        widest = max(widest, align)
        raw += bytes(-len(raw) % align)
        for item in value if isinstance(value, list | tuple) else (value,):
            raw += number_bytes(f"{name}.{member}", item, dtype)
    raw += bytes(-len(raw) % widest)
    return bytes(raw)
