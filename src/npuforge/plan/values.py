# SPDX-License-Identifier: Apache-2.0
"""What the planner computes with: tensors in global memory and values over index spaces.

A value is a function of an index. `Load` reads a tensor through offset and strides, so every view
of a tensor is a load; `Map` works element by element and repeats arguments along axes of extent
one; `Reduce` folds the last axes of its argument. `Special` is an operation with a kernel of its
own
(a scan, a window, a gather): its arguments and results are tensors.

Values are compared by identity: a value used twice is computed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

from npuforge.spec.size import Size, product

ReduceKind = Literal["sum", "prod", "max", "min", "argmax", "argmin", "sumexp", "squares"]
Shape = tuple[Size, ...]
ONE = Size.of(1)


@dataclass(eq=False)
class Tensor:
    """A contiguous tensor in global memory.

    `given` is its name in the program; temporaries get theirs when the program is put together.
    `producer` is what a temporary holds: a value, or result `index` of a special operation. An
    `alias` is the tensor whose memory this one reads under another shape.
    """

    given: str
    shape: Shape
    dtype: str
    producer: Value | Special | None = None
    index: int = 0
    alias: Tensor | None = None

    @property
    def memory(self) -> Tensor:
        """The tensor that owns the memory."""
        return self if self.alias is None else self.alias.memory

    @property
    def name(self) -> str:
        return self.memory.given

    @property
    def count(self) -> Size:
        return product(self.shape)


_FOLD = "_fold"  # what labels of folds end with that are a part of the graph's value


@dataclass(frozen=True, eq=False)
class Value:
    """`dtype` is that of the tensor it stands for; arithmetic may be wider. `label` is the graph's
    name for it, where it has one; `views` are those that were taken of it."""

    shape: Shape
    dtype: str
    label: str = field(default="", kw_only=True)
    views: dict[tuple[object, ...], Value | None] = field(
        init=False, repr=False, default_factory=dict
    )


@dataclass(frozen=True, eq=False)
class Load(Value):
    """An element of a tensor: at `offset` plus the index times `strides`."""

    tensor: Tensor
    offset: Size
    strides: Shape


@dataclass(frozen=True, eq=False)
class Constant(Value):
    """The same number everywhere."""

    number: float | int | bool | Size


@dataclass(frozen=True, eq=False)
class Iota(Value):
    """The index along an axis."""

    axis: int


@dataclass(frozen=True, eq=False)
class Map(Value):
    """An operation on each element; arguments have as many axes as the result."""

    op: str
    args: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Reduce(Value):
    """The last axes of `arg` folded: `arg.shape` begins with `shape`.

    `sumexp` is the sum of exp(x - max x), `squares` that of (x - mean x) squared: both have forms
    that need the data once.
    """

    kind: ReduceKind
    arg: Value

    @property
    def folded(self) -> Shape:
        """Extents of the folded axes."""
        return self.arg.shape[len(self.shape) :]


@dataclass(frozen=True, eq=False)
class Special:
    """An operation with a kernel of its own.

    `args` become tensors before it runs; `shapes` and `dtypes` are those of its results; `data`
    holds what the operation's writer needs to know.
    """

    op: str
    args: tuple[Value, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    node: str = ""


def label(value: Value, name: str) -> None:
    """Note the graph's name for a value, and whose folds those are that it is made of; their first
    labels stay. Values are known by identity, so that one with another label in its place would be
    computed again."""
    if value.label:
        return
    object.__setattr__(value, "label", name)
    folds = fold_label(name)
    waiting = [value]
    while waiting:
        part = waiting.pop()
        inner = part.args if isinstance(part, Map) else ()
        for one in (part.arg,) if isinstance(part, Reduce) else inner:
            if one.label or not isinstance(one, Map | Reduce):
                continue
            if isinstance(one, Reduce):
                object.__setattr__(one, "label", folds)
            waiting.append(one)


def fold_label(name: str) -> str:
    """The label of a fold that is a part of the value of that name, or of its fold."""
    return name and name.removesuffix(_FOLD) + _FOLD


def contiguous(shape: Shape) -> Shape:
    """Strides of a tensor without gaps; an axis of extent one has stride zero."""
    strides: list[Size] = []
    step = ONE
    for extent in reversed(shape):
        strides.append(Size.of(0) if extent == ONE else step)
        step = step * extent
    return tuple(reversed(strides))


def load(tensor: Tensor) -> Load:
    """The whole tensor."""
    return Load(tensor.shape, tensor.dtype, tensor, Size.of(0), contiguous(tensor.shape))


def stored(value: Value) -> Tensor:
    """The tensor that holds `value`: the one it is read from, or a temporary made for it."""
    if isinstance(value, Load) and is_whole(value):
        same = value.shape == value.tensor.shape
        return value.tensor if same else Tensor("", value.shape, value.dtype, alias=value.tensor)
    if value not in _STORED:
        _STORED[value] = Tensor("", value.shape, value.dtype, value)
    return _STORED[value]


def tensor_of(value: Value) -> Tensor | None:
    """Return the tensor that `stored` made for the value, None if no operation has it stored."""
    return _STORED.get(value)


# So that a value that two views need is stored once.
_STORED: WeakKeyDictionary[Value, Tensor] = WeakKeyDictionary()


def results(special: Special) -> tuple[Value, ...]:
    """The results of a special operation, as reads of the tensors that it writes."""
    pairs = zip(special.shapes, special.dtypes, strict=True)
    return tuple(
        load(Tensor("", shape, dtype, special, index)) for index, (shape, dtype) in enumerate(pairs)
    )


def is_whole(value: Value) -> bool:
    """Whether the value is a tensor as it lies in memory, under whatever shape."""
    return (
        isinstance(value, Load)
        and value.offset == Size.of(0)
        and product(value.shape) == value.tensor.count
        and value.strides == contiguous(value.shape)
    )
