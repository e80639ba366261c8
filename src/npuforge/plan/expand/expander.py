# SPDX-License-Identifier: Apache-2.0
"""Walk a captured graph and expand every node by its rule."""

from __future__ import annotations

import importlib
import math
import pkgutil
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from npuforge.plan.expand.rules import RULES, refuse
from npuforge.plan.plan import PlanError
from npuforge.plan.values import Map, Reduce, Tensor, Value, label, load
from npuforge.spec.graph import Extent, Graph, Node, Ref


@dataclass(frozen=True)
class Expanded:
    """A graph's tensors by source name, and the values it returns, in order."""

    tensors: dict[str, Tensor]
    results: list[Value]


def expand(graph: Graph, names: dict[str, str]) -> Expanded:
    """Expand `graph`; `names` are the sources' names in the program."""
    load_rules()
    tensors = {
        source.name: Tensor(names[source.name], source.type.sizes, source.type.dtype)
        for source in graph.sources
    }
    values: dict[str, Any] = {name: load(tensor) for name, tensor in tensors.items()}
    needed = _needed(graph)
    returned = {result.name for result in graph.results}
    for node in graph.nodes:
        if node.name in needed:
            held = node if node.name in returned else _in_single_precision(node)
            values[node.name] = found = _expand_node(held, values)
            if isinstance(found, Map | Reduce):
                label(found, node.name)
    results: list[Value] = []
    for result in graph.results:
        value = values.get(result.name)
        if not isinstance(value, Value):
            raise PlanError(f"result {result.name} is no tensor")
        results.append(value)
    return Expanded(tensors, results)


def _in_single_precision(node: Node) -> Node:
    """Return the node with float32 for float64: kernels have no wider type to hold values in."""
    types = [
        replace(kind, dtype="float32") if kind is not None and kind.dtype == "float64" else kind
        for kind in node.types
    ]
    return replace(node, types=types)


def _needed(graph: Graph) -> set[str]:
    """Nodes that results follow from; captured checks and unused outputs are not."""
    needed = {result.name for result in graph.results}
    for node in reversed(graph.nodes):
        if node.name in needed:
            needed |= set(_references([*node.args, *node.kwargs.values()]))
    return needed


def _references(arguments: Any) -> list[str]:
    if isinstance(arguments, Ref):
        return [arguments.ref]
    if isinstance(arguments, list):
        return [name for item in arguments for name in _references(item)]
    return []


def _expand_node(node: Node, values: dict[str, Any]) -> Any:
    if node.op == "getitem":
        whole, index = node.args
        assert isinstance(whole, Ref)
        assert isinstance(index, int)
        found = values[whole.ref][index]
        if found is None:
            raise refuse(node, "this result of the operation is not computed")
        return found
    rule = RULES.get(node.op)
    if rule is None:
        raise refuse(node, "no plan for this operation yet")
    arguments = [_argument(item, values) for item in node.args]
    named = {key: _argument(item, values) for key, item in node.kwargs.items()}
    try:
        return rule(node, *arguments, **named)
    except TypeError as error:
        raise refuse(node, f"arguments not understood ({error})") from None


def _argument(argument: Any, values: dict[str, Any]) -> Any:
    if isinstance(argument, Ref):
        return values[argument.ref]
    if isinstance(argument, Extent):
        return argument.size
    if isinstance(argument, list):
        return [_argument(item, values) for item in argument]
    if isinstance(argument, str) and argument in ("inf", "-inf", "nan"):
        return math.nan if argument == "nan" else float(argument)
    return argument


def is_planned(operation: str) -> bool:
    """Whether there is a rule for an operation, such as `aten.add.Tensor`."""
    load_rules()
    return operation in RULES


@cache
def load_rules() -> None:
    """Import every module beside this one: each registers its rules."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")
