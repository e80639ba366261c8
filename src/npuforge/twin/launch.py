# SPDX-License-Identifier: Apache-2.0
"""A kernel launch: how many blocks, and the kernel's arguments in order."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from npuforge.dtypes import DType, HostTensor, find
from npuforge.errors import UsageError

Role = Literal["in", "out", "inout"]

# Blocks a launch may have on the device.
MAX_BLOCKS = 65535


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """A tensor in GM; `data` is None for an output, which starts poisoned."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    role: Role = "in"
    data: HostTensor | None = None

    @property
    def nbytes(self) -> int:
        return self.dtype.bytes_for(math.prod(self.shape))


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A number, or a structure, passed by value as `raw`."""

    name: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class WorkspaceArgument:
    """Scratch memory in GM with undefined content."""

    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class ShapeArgument:
    """Where a kernel writes the shapes of `outputs` outputs whose shape only it knows."""

    name: str
    outputs: int

    @property
    def nbytes(self) -> int:
        # A count of dimensions and up to eight of them, 64 bits each.
        return self.outputs * 9 * 8


@dataclass(frozen=True, slots=True)
class TilingArgument:
    """Tiling data in GM."""

    name: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class ListArgument:
    """A dynamic list of tensors."""

    name: str
    tensors: tuple[TensorArgument, ...]


@dataclass(frozen=True, slots=True)
class AbsentArgument:
    """An optional tensor that is not given: a null pointer."""

    name: str


@dataclass(frozen=True, slots=True)
class AliasArgument:
    """Another tensor or list of the launch again: an output written in place."""

    name: str
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
    return TensorArgument(checked_name(name), data.shape, data.dtype, role, data)


def output(name: str, shape: Sequence[int], dtype: str | DType) -> TensorArgument:
    """An output tensor."""
    return TensorArgument(checked_name(name), tuple(shape), find(dtype), "out")


def scalar(name: str, value: float | bool, dtype: str | DType) -> ScalarArgument:
    """A number passed by value."""
    return ScalarArgument(checked_name(name), number_bytes(name, value, find(dtype)))


def number_bytes(name: str, value: Any, dtype: DType) -> bytes:
    """`value` as the device holds a `dtype`; refuses what does not fit."""
    if isinstance(value, str) or not np.isscalar(value):
        raise UsageError(f"{name}: {value!r} is not a number")
    if dtype.kind in ("int", "uint"):
        if value != int(value):  # type: ignore[arg-type]
            raise UsageError(f"{name}: {value!r} is not a whole number")
        low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
        high = low + (1 << dtype.bits) - 1
        if not low <= int(value) <= high:  # type: ignore[arg-type]
            raise UsageError(f"{name}: {value} does not fit {dtype.name}")
        value = int(value)  # type: ignore[arg-type]
    return HostTensor.of(np.asarray([value]), dtype).to_bytes()


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


def checked_name(name: str) -> str:
    """`name` if it can stand in a plan and in reports."""
    if not re.fullmatch(r"[A-Za-z_][\w.\[\]]*", name):
        raise UsageError(f"{name!r} is no name for an argument")
    return name
