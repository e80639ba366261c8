# SPDX-License-Identifier: Apache-2.0
"""The captured graph: tensors that go in, operations in order, tensors that come out.

Plain data, so that it crosses the sandbox as JSON. The process that captures a graph runs the
module's own code, so texts, numbers and lists have bounds, and names are names; `graph_check.py`
checks how the parts go together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta

from npuforge.sandbox.messages import Whole
from npuforge.spec.size import Size

Origin = Literal["input", "parameter", "buffer", "constant"]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,199}\Z")]
Target = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,400}\Z")]  # a module's name for a tensor
Operation = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.:]{0,199}\Z")]
TypeName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
Example = Annotated[int, Meta(ge=0, le=1 << 48)]
ExtentText = Annotated[str, Meta(max_length=1000)]
ArgumentText = Annotated[str, Meta(max_length=4096)]
Place = Annotated[int, Meta(ge=0, le=1 << 20)]


class Ref(msgspec.Struct, frozen=True, tag="ref"):
    """The result of a node, or an input, by name."""

    ref: Name


class Extent(msgspec.Struct, frozen=True, tag="extent"):
    """A number that follows from the shapes of the inputs: the text of a size, and its example."""

    text: ExtentText
    example: Whole

    @property
    def size(self) -> Size:
        return Size.parse(self.text)


# What an argument of an operation may be. Symbols (dtypes, layouts, devices) arrive as text, and so
# do infinities and not-a-number, which JSON lacks ("inf", "-inf", "nan").
_Plain = Ref | Extent | bool | Whole | float | ArgumentText | None
Argument = _Plain | list[_Plain | list[_Plain]]


@dataclass(frozen=True, slots=True)
class TensorType:
    """Shape and element type: the example's `shape`, and `extents` over the graph's symbols."""

    shape: Annotated[tuple[Example, ...], Meta(max_length=32)]
    dtype: TypeName
    extents: Annotated[tuple[ExtentText, ...], Meta(max_length=32)]

    @property
    def sizes(self) -> tuple[Size, ...]:
        return tuple(map(Size.parse, self.extents))

    @property
    def text(self) -> str:
        """Return element type and extents: `float32[s0, 8]`."""
        return f"{self.dtype}[{', '.join(self.extents)}]"


@dataclass(frozen=True, slots=True)
class Symbol:
    """An extent the caller is free to choose: axis `axis` of the source, at least `least`."""

    name: Name
    source: Name
    axis: Place
    example: Example
    least: Whole


@dataclass(frozen=True, slots=True)
class Source:
    """A tensor the operator takes: an input of `forward`, or something the module owns.

    `position` is the place among the arguments of `forward`; `target` the module's name for it.
    """

    name: Name
    type: TensorType
    origin: Origin
    position: Place | None = None
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One ATen operation. An operation with several results has several `types`."""

    name: Name
    op: Operation
    args: list[Argument]
    kwargs: dict[Name, Argument]
    types: Annotated[list[TensorType | None], Meta(max_length=1024)]

    @property
    def word(self) -> str:
        """The operation as people say it: `mul.Tensor`, and `exp` where there is one form only."""
        return self.op.removeprefix("aten.").removesuffix(".default")

    @property
    def type(self) -> TensorType:
        """The type of the only (or first) result."""
        found = self.types[0]
        assert found is not None, self
        return found

    def reads(self) -> Iterator[str]:
        """What its operands are called, in their order."""
        for argument in (*self.args, *self.kwargs.values()):
            yield from _references(argument)

    def reading(self, names: Mapping[str, str]) -> Node:
        """The operation with other operands in the place of some."""
        return replace(
            self,
            args=[_reading(argument, names) for argument in self.args],
            kwargs={key: _reading(argument, names) for key, argument in self.kwargs.items()},
        )


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor that comes out. `mutates` names the source it is written back to."""

    name: Name
    mutates: Target | None = None


@dataclass(frozen=True, slots=True)
class EagerTensor:
    """A tensor as eager execution sees it; one that is not contiguous is copied before its use."""

    shape: Annotated[tuple[Example, ...], Meta(max_length=32)]
    dtype: TypeName
    contiguous: bool = True


@dataclass(frozen=True, slots=True)
class EagerOp:
    """An operation that eager PyTorch dispatches, `count` times in a row.

    `args` are the arguments in order; a tensor, or a list of them, is None there.
    """

    op: Operation
    inputs: list[EagerTensor]
    outputs: list[EagerTensor]
    args: list[Argument]
    count: Annotated[int, Meta(ge=1, le=1 << 32)] = 1


@dataclass(frozen=True, slots=True)
class Graph:
    """A module, captured for every shape that its operations allow.

    `symbols` are the extents that may vary; an axis that is tied to the module's own tensors, or to
    a number in its code, is fixed. `eager` is what PyTorch dispatches for the example's shapes when
    nothing is compiled; empty where the module does not run without data.
    """

    name: str
    sources: Annotated[list[Source], Meta(max_length=10_000)]
    nodes: Annotated[list[Node], Meta(max_length=100_000)]
    results: Annotated[list[Result], Meta(max_length=10_000)]
    symbols: Annotated[list[Symbol], Meta(max_length=1000)]
    scalars: dict[Name, float | Whole | bool] = field(default_factory=dict)
    eager: Annotated[list[EagerOp], Meta(max_length=20_001)] = field(default_factory=list)

    def text(self) -> str:
        """The graph, one line a node."""
        lines = [f"{source.name}: {source.type.text}  # {source.origin}" for source in self.sources]
        for node in self.nodes:
            shown = ", ".join(
                [
                    *map(argument_text, node.args),
                    *(f"{k}={argument_text(v)}" for k, v in node.kwargs.items()),
                ]
            )
            types = " ".join(t.text if t else "-" for t in node.types)
            lines.append(f"{node.name} = {node.op}({shown})  # {types}")
        lines.append("return " + ", ".join(result.name for result in self.results))
        return "\n".join(lines)


def argument_text(argument: object, *, quoted: bool = True) -> str:
    """Return an argument as `Graph.text` writes it; strings without quotes on request."""
    if isinstance(argument, Ref):
        return argument.ref
    if isinstance(argument, Extent):
        return argument.text
    if isinstance(argument, list):
        return "[" + ", ".join(argument_text(one, quoted=quoted) for one in argument) + "]"
    return argument if isinstance(argument, str) and not quoted else repr(argument)


def _references(argument: Argument) -> Iterator[str]:
    if isinstance(argument, Ref):
        yield argument.ref
    elif isinstance(argument, list):
        for one in argument:
            yield from _references(cast(Argument, one))


def _reading(argument: Argument, names: Mapping[str, str]) -> Argument:
    if isinstance(argument, Ref):
        return Ref(names.get(argument.ref, argument.ref))
    if isinstance(argument, list):
        return cast(Argument, [_reading(cast(Argument, one), names) for one in argument])
    return argument
