# SPDX-License-Identifier: Apache-2.0
"""Check a graph and a signature that a module's process sent: all of it is the module's to forge.

Types and bounds of the parts are in `graph.py`. Here: names are unique, what is referred to exists,
extents are sizes, and what will be written into a program is a name or a literal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from npuforge.sandbox.shared_folder import HostileFileError
from npuforge.spec.graph import Argument, Extent, Graph, TensorType
from npuforge.spec.size import Size, SizeError
from npuforge.syntax import parse_expression

_MOST_ARGUMENTS = 1_000_000
_ASSERTIONS = ("aten._assert", "aten.sym_")  # on numbers of the code, which are no sources
_PARAMETER = re.compile(r"(\*{0,2})([^\W\d]\w{0,127})(?:\s*=\s*(.{0,1000}))?", re.DOTALL)


def check_graph(graph: Graph, name: str) -> Graph:
    """Return the graph, called `name`; raise HostileFileError where its parts do not fit."""
    known = _unique([source.name for source in graph.sources])
    symbols = _unique([symbol.name for symbol in graph.symbols])
    ranks = {source.name: len(source.type.shape) for source in graph.sources}
    for symbol in graph.symbols:
        if symbol.axis >= ranks.get(symbol.source, 0):
            raise HostileFileError(f"the symbol {symbol.name} is no axis of a source")
    for source in graph.sources:
        _check_type(source.type, symbols)
        if (source.position is None) == (source.target is None):
            raise HostileFileError(f"the source {source.name} is neither passed nor owned")
    count = 0
    for node in graph.nodes:
        for argument in (*node.args, *node.kwargs.values()):
            for one in _leaves(argument):
                count += 1
                if isinstance(one, Extent):
                    _parse_size(one.text)
        if count > _MOST_ARGUMENTS:
            raise HostileFileError(f"the graph has over {_MOST_ARGUMENTS} arguments")
        if any(read not in known for read in node.reads()) and not node.op.startswith(_ASSERTIONS):
            raise HostileFileError(f"{node.name} reads what is not computed before it")
        if node.name in known or node.name in symbols:
            raise HostileFileError(f"two parts of the graph are called {node.name}")
        known.add(node.name)
        if not node.types and not node.op.startswith(_ASSERTIONS):
            raise HostileFileError(f"{node.name} has no type")
        for kind in node.types:
            if kind is not None:
                _check_type(kind, symbols)
    if not {result.name for result in graph.results} <= known:
        raise HostileFileError("the graph returns what it does not compute")
    return replace(graph, name=name)


def check_parameters(parameters: Sequence[str]) -> list[str]:
    """Return the arguments of a function as Python writes them; a default is a literal or None.

    They become part of a Python file, so whatever else stands there is left out.
    """
    return [_parameter(text) for text in parameters]


def _parameter(text: str) -> str:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise HostileFileError(f"not an argument of a function: {text[:80]!r}")
    stars, name, default = match.groups()
    if default is None:
        return stars + name
    return f"{stars}{name}={default if _is_literal(default) else None}"


def _is_literal(text: str) -> bool:
    """Numbers, texts, dotted names (`torch.float32`) and what Python builds of them."""
    try:
        tree = parse_expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    plain = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp)
    return "\n" not in text and all(
        isinstance(node, (*plain, ast.expr_context, ast.unaryop)) for node in ast.walk(tree)
    )


def _unique(names: list[str]) -> set[str]:
    if len(set(names)) < len(names):
        raise HostileFileError("two parts of the graph have one name")
    return set(names)


def _check_type(kind: TensorType, symbols: set[str]) -> None:
    if len(kind.shape) != len(kind.extents):
        raise HostileFileError("a shape has as many extents as axes")
    for text in kind.extents:
        if unknown := _parse_size(text).names - symbols:
            raise HostileFileError(f"an extent of no input: {min(unknown)}")


def _parse_size(text: str) -> Size:
    try:
        return Size.parse(text)
    except SizeError:
        raise HostileFileError(f"not an extent: {text[:80]!r}") from None


def _leaves(argument: Argument) -> Iterator[object]:
    if isinstance(argument, list):
        for item in argument:
            yield from item if isinstance(item, list) else [item]
    else:
        yield argument
