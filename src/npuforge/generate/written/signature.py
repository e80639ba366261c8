# SPDX-License-Identifier: Apache-2.0
"""The head of the host function that every program for a module must have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from npuforge.errors import UsageError
from npuforge.lower.names import clashes_with_c
from npuforge.plan import Operand
from npuforge.plan.operands import identifier, source_names
from npuforge.spec.graph import Graph, TensorType
from npuforge.tile.ir import Host

_WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_TYPES = frozenset(["float16", "bfloat16", "float32", "bool", *_WHOLE])
_ROLES = {"input": "in", "output": "out", "inout": "inout"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tensor of the host function; `shape` is the example's, `extents` how it follows."""

    operand: Operand
    dtype: str
    shape: tuple[int, ...]
    extents: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Signature:
    """What a program is called and what it is called with."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def operands(self) -> tuple[Operand, ...]:
        return tuple(parameter.operand for parameter in self.parameters)

    def holding(self, operands: Sequence[Operand]) -> Signature:
        """The same with these tensors only, in their order, as a planner's program has them."""
        known = {parameter.operand.name: parameter for parameter in self.parameters}
        return replace(self, parameters=tuple(known[operand.name] for operand in operands))

    def text(self) -> str:
        """The head as the language writes it."""
        lines = [f"def {self.name}_host("]
        for parameter in self.parameters:
            kind = f"tl.{parameter.dtype}"
            if parameter.operand.role == "output":
                extents = "".join(f"{extent}, " for extent in parameter.extents).strip()
                kind += f", ({extents})"
            lines.append(f"    {parameter.operand.name}: tl.{parameter.operand.role}({kind}),")
        return "\n".join([*lines, "):"])

    def departures(self, host: Host) -> Iterator[str]:
        """How a program's host function differs from this."""
        found = {tensor.name: tensor for tensor in host.tensors}
        for parameter in self.parameters:
            operand = parameter.operand
            tensor = found.pop(operand.name, None)
            if tensor is None:
                yield f"the host function has no tensor {operand.name}"
            elif tensor.role != _ROLES[operand.role] or tensor.dtype.name != parameter.dtype:
                yield f"{operand.name} must be tl.{operand.role}(tl.{parameter.dtype}...)"
        for name in found:
            yield f"the host function has a tensor {name} that is not asked for"
        for attribute in host.attributes:
            if attribute.default is None:
                yield f"nobody gives the attribute {attribute.name}: write its number instead"


def signature_of(graph: Graph) -> Signature:
    """`UsageError` where a tensor's elements have no place in the language."""
    names = source_names(graph)
    places = {
        symbol.name: f"{names[symbol.source]}.shape[{symbol.axis}]" for symbol in graph.symbols
    }
    updated = {
        result.mutates: number
        for number, result in enumerate(graph.results)
        if result.mutates is not None
    }
    parameters: list[Parameter] = []
    for source in graph.sources:
        number = updated.get(source.target or source.name, updated.get(source.name))
        role = "input" if number is None else "inout"
        operand = Operand(
            names[source.name], "input" if role == "input" else "inout", source.name, number
        )
        parameters.append(_parameter(operand, source.type, places, source.origin))
    outputs = [n for n, result in enumerate(graph.results) if result.mutates is None]
    taken = set(names.values())
    for place, number in enumerate(outputs):
        base = "y" if len(outputs) == 1 else f"y{place}"
        name = next(n for n in (base, *(f"{base}_out{i}" for i in range(99))) if n not in taken)
        taken.add(name)
        kind = _type_of(graph, graph.results[number].name)
        operand = Operand(name, "output", None, number)
        parameters.append(_parameter(operand, kind, places, "result"))
    name = identifier(graph.name)
    return Signature(f"{name}_custom" if clashes_with_c(name) else name, tuple(parameters))


def _parameter(
    operand: Operand, kind: TensorType, places: dict[str, str], origin: str
) -> Parameter:
    if kind.dtype not in _TYPES:
        raise UsageError(f"{operand.name} has elements of type {kind.dtype}, which kernels lack")
    extents = tuple(str(size.renamed(places)) for size in kind.sizes)
    return Parameter(operand, kind.dtype, kind.shape, extents, origin)


def _type_of(graph: Graph, name: str) -> TensorType:
    for node in graph.nodes:
        if node.name == name:
            return node.type
    for source in graph.sources:
        if source.name == name:
            return source.type
    raise UsageError(f"the result {name} is no tensor")
