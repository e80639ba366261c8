# SPDX-License-Identifier: Apache-2.0
"""Names and parameters of the host function, and what of the graph each parameter stands for."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence

from npuforge.plan.expand import Expanded
from npuforge.plan.launch import Parameter
from npuforge.plan.plan import Operand, PlanError
from npuforge.plan.reads import all_tensors
from npuforge.plan.tilecode import WIDTH
from npuforge.plan.values import Tensor, Value
from npuforge.spec.graph import Graph

Root = tuple[Value, Tensor]


def host_parameters(
    graph: Graph, expanded: Expanded
) -> tuple[list[Parameter], tuple[Operand, ...], list[Root], list[Root]]:
    """Parameters of the host function, what they stand for, results, and updates in place."""
    read = {id(tensor) for value in expanded.results for tensor in all_tensors(value)}
    shaping = _shaping(graph, expanded)
    updates: dict[str, tuple[int, Value]] = {}
    for index, (result, value) in enumerate(zip(graph.results, expanded.results, strict=True)):
        if result.mutates is not None:
            updates[result.mutates] = (index, value)
    parameters: list[Parameter] = []
    operands: list[Operand] = []
    changes: list[Root] = []
    for source in graph.sources:
        tensor = expanded.tensors[source.name]
        update = updates.get(source.target or source.name) or updates.get(source.name)
        if update is not None:
            index, value = update
            parameters.append(Parameter(tensor, "inout"))
            operands.append(Operand(tensor.name, "inout", source.name, index))
            changes.append((value, tensor))
        elif id(tensor) in read or source.name in shaping:
            parameters.append(Parameter(tensor, "input"))
            operands.append(Operand(tensor.name, "input", source.name))
    for parameter in parameters:
        _held(parameter.tensor.dtype, parameter.tensor.name)
    roots: list[Root] = []
    taken = {tensor.name for tensor in expanded.tensors.values()}
    outputs = sum(result.mutates is None for result in graph.results)
    for index, (result, value) in enumerate(zip(graph.results, expanded.results, strict=True)):
        if result.mutates is not None:
            continue
        base = "y" if outputs == 1 else f"y{len(roots)}"
        name = next(x for x in (base, *(f"{base}_out{i}" for i in range(99))) if x not in taken)
        _held(value.dtype, result.name)
        out = Tensor(name, value.shape, value.dtype)
        taken.add(name)
        parameters.append(Parameter(out, "output"))
        operands.append(Operand(name, "output", None, index))
        roots.append((value, out))
    return parameters, tuple(operands), roots, changes


def _shaping(graph: Graph, expanded: Expanded) -> set[str]:
    """Sources that say how large a result is, read or not."""
    symbols = {
        name for value in expanded.results for extent in value.shape for name in extent.names
    }
    return {symbol.source for symbol in graph.symbols if symbol.name in symbols}


def _held(dtype: str, name: str) -> None:
    """`PlanError` for elements that vector units do not compute with."""
    if dtype not in WIDTH:
        raise PlanError(f"{name} has elements of type {dtype}, for which there is no plan")


def by_shape(roots: Sequence[Root]) -> list[list[Root]]:
    """Results of one shape are computed together."""
    found: dict[tuple[object, ...], list[Root]] = {}
    for value, tensor in roots:
        found.setdefault(value.shape, []).append((value, tensor))
    return list(found.values())


# What kernels call their own scalars and buffers, and words of the language.
_RESERVED = re.compile(
    r"tl|min|max|abs|float|int|range|[fmnqtu]|first|last|start|tile|rows|cols|units|per_core|rounds"
    r"|share|tiles|seen|here|part|from_|to|(in|out|mask|sk|ir|jr|[a-z])\d+"
)


def source_names(graph: Graph) -> dict[str, str]:
    """Short names for the sources."""
    names: dict[str, str] = {}
    for source in graph.sources:
        base = identifier(source.target or source.name)
        name = base
        number = 1
        while name in names.values() or _RESERVED.fullmatch(name):
            number += 1
            name = f"{base}_in{number}"
        names[source.name] = name
    return names


def identifier(text: str) -> str:
    name = re.sub(r"\W+", "_", text).strip("_").lower() or "op"
    if name[0].isdigit() or keyword.iskeyword(name) or name == "tl":
        name = f"op_{name}"
    return name
