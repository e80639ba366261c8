# SPDX-License-Identifier: Apache-2.0
"""The typed form of a tile program: what the passes, the interpreter and the printers share.

A program has one host function and the kernels it launches. A kernel is typed for one launch: its
parameters have the element types and the facts of what the host passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from npuforge.dtypes import DType
from npuforge.tile.expr import ONE, Expr, Type, add, mul, sub
from npuforge.tile.facts import Facts
from npuforge.tile.source import Span

Role = Literal["in", "out", "inout", "workspace"]
StageKind = Literal["copyin", "compute", "copyout"]
Atomic = Literal["add", "max", "min"]


@dataclass(frozen=True, slots=True)
class SameShape:
    """The shape of another tensor, whatever its rank."""

    tensor: str


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in global memory. `shape` is known for outputs and workspaces; inputs bring it."""

    name: str
    dtype: DType
    role: Role
    shape: tuple[Expr, ...] | SameShape | None
    span: Span


@dataclass(frozen=True, slots=True)
class Attribute:
    """A number the caller of the operator gives."""

    name: str
    type: Type
    default: int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Buffer:
    """An on-chip tile. Rows of tiles with two or more dimensions start on 32 byte boundaries."""

    name: str
    dtype: DType | None  # None: a bit mask, one bit for each element
    shape: tuple[Expr, ...]
    depth: int | None  # copies for double buffering; None lets the compiler choose
    span: Span

    @property
    def is_mask(self) -> bool:
        return self.dtype is None

    @property
    def lanes(self) -> int:
        """Elements in one 32 byte block."""
        return 256 if self.dtype is None else 256 // max(8, self.dtype.bits)


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of a view: `extent` elements of a dimension of the buffer from `start` on,
    `step` apart.

    `dim` None is an axis of extent one that the view adds (`None` in the source). `kept` False is a
    dimension indexed by a number: it has no extent in the view.
    """

    dim: int | None
    start: Expr
    extent: Expr
    kept: bool = True
    step: Expr = ONE

    @property
    def end(self) -> Expr:
        """One past the last element."""
        if self.step == ONE:
            return add(self.start, self.extent)
        return add(self.start, add(mul(sub(self.extent, ONE), self.step), ONE))


@dataclass(frozen=True, slots=True)
class View:
    """A rectangle of a buffer, as an operand."""

    buffer: Buffer
    axes: tuple[Axis, ...]
    span: Span

    @property
    def shape(self) -> tuple[Expr, ...]:
        return tuple(axis.extent for axis in self.axes if axis.kept)

    @property
    def rank(self) -> int:
        return sum(axis.kept for axis in self.axes)


Operand = View | Expr


@dataclass(frozen=True, slots=True)
class Pointer:
    """An element of a tensor: `offset` elements from its start."""

    tensor: str
    dtype: DType
    offset: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Load:
    """Global memory to a tile. `strides`: elements between neighbours along each leading axis.
    `again`: other loads read some of the same elements.
    """

    view: View
    pointer: Pointer
    strides: tuple[Expr, ...]
    span: Span
    again: bool = False


@dataclass(frozen=True, slots=True)
class Store:
    """A tile to global memory, plainly or combined with what is there."""

    pointer: Pointer
    view: View
    strides: tuple[Expr, ...]
    atomic: Atomic | None
    span: Span


@dataclass(frozen=True, slots=True)
class Op:
    """A computation on tiles. `outs` are written; `ins` are views or scalars, in order."""

    name: str
    outs: tuple[View, ...]
    ins: tuple[Operand, ...]
    attrs: Mapping[str, str | int | bool | None]
    span: Span


@dataclass(frozen=True, slots=True)
class ReadScalar:
    """`name = extract_scalar(view, ...)`: one element of a tile as a scalar."""

    name: str
    version: int
    type: Type
    view: View  # rank 0
    span: Span


@dataclass(frozen=True, slots=True)
class LoadScalar:
    """`name = load_scalar(pointer)`: one element of global memory as a scalar."""

    name: str
    version: int
    type: Type
    pointer: Pointer
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """An assignment of a scalar."""

    name: str
    version: int
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    """A counted loop. The counter has version `version` in the body.

    `carried` names the scalars the body assigns although they exist before the loop, with the
    version they have at the head of every round.
    """

    counter: str
    version: int
    start: Expr
    stop: Expr
    step: int
    body: tuple[Stmt, ...]
    span: Span
    carried: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """A condition. `joined` gives the versions scalars assigned inside have afterwards."""

    condition: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    span: Span
    joined: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A `copyin`, `compute` or `copyout` block."""

    kind: StageKind
    body: tuple[Stmt, ...]
    span: Span


Stmt = Let | For | If | Stage | Load | Store | Op | ReadScalar | LoadScalar


@dataclass(frozen=True, slots=True)
class PointerParameter:
    """A parameter that is a tensor of the host."""

    name: str
    tensor: Tensor


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """A parameter that is a number the host computed; `value` is the host's expression."""

    name: str
    type: Type
    value: Expr


Parameter = PointerParameter | ScalarParameter


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel function, typed for one launch."""

    name: str
    parameters: tuple[Parameter, ...]
    buffers: tuple[Buffer, ...]
    body: tuple[Stmt, ...]
    doc: str
    span: Span
    facts: Facts = field(compare=False, repr=False)

    @property
    def pointers(self) -> tuple[PointerParameter, ...]:
        return tuple(p for p in self.parameters if isinstance(p, PointerParameter))

    @property
    def tensor_names(self) -> dict[str, str]:
        """The host's tensor behind each pointer: a launch may pass one under two parameters."""
        return {parameter.name: parameter.tensor.name for parameter in self.pointers}

    @property
    def scalars(self) -> tuple[ScalarParameter, ...]:
        return tuple(p for p in self.parameters if isinstance(p, ScalarParameter))


@dataclass(frozen=True, slots=True)
class Require:
    """A condition on shapes and attributes without which the host refuses the call."""

    condition: Expr
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class HostLet:
    """A scalar the host computes; a comment above it in the source travels with it."""

    name: str
    version: int
    value: Expr
    span: Span
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Reserve:
    """`name = tl.workspace(shape, dtype)`: a temporary in global memory."""

    tensor: Tensor
    span: Span


@dataclass(frozen=True, slots=True)
class Launch:
    """`kernel[cores](...)`."""

    kernel: Kernel
    cores: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class HostIf:
    """A choice between schedules."""

    condition: Expr
    then: tuple[HostStmt, ...]
    orelse: tuple[HostStmt, ...]
    span: Span
    joined: tuple[tuple[str, int], ...] = ()


HostStmt = Require | HostLet | Reserve | Launch | HostIf


@dataclass(frozen=True, slots=True)
class Host:
    """The host function: what is passed in, and how the work is divided."""

    name: str
    tensors: tuple[Tensor, ...]
    attributes: tuple[Attribute, ...]
    workspaces: tuple[Tensor, ...]
    ranks: Mapping[str, int]  # tensors that must have exactly so many dimensions
    body: tuple[HostStmt, ...]
    doc: str
    span: Span
    facts: Facts = field(compare=False, repr=False)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(t for t in self.tensors if t.role in ("in", "inout"))

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(t for t in self.tensors if t.role in ("out", "inout"))


@dataclass(frozen=True, slots=True)
class TileProgram:
    """A whole program, typed."""

    name: str
    host: Host
    source: str = field(repr=False)

    def launches(self) -> Iterator[Launch]:
        """Every launch, in the order of the source."""
        yield from _launches(self.host.body)


def _launches(body: Sequence[HostStmt]) -> Iterator[Launch]:
    for statement in body:
        match statement:
            case Launch():
                yield statement
            case HostIf():
                yield from _launches(statement.then)
                yield from _launches(statement.orelse)
            case _:
                pass


def walk(body: Sequence[Stmt]) -> Iterator[Stmt]:
    """Every statement, inner ones after the one that holds them."""
    for statement in body:
        yield statement
        match statement:
            case For(body=inner) | Stage(body=inner):
                yield from walk(inner)
            case If(then=then, orelse=orelse):
                yield from walk(then)
                yield from walk(orelse)
            case _:
                pass
