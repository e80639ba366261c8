# SPDX-License-Identifier: Apache-2.0
"""Imports between modules of the package: circles, and imports that go up.

All imports count: those of a function's body and those for types alone, too. A package is in a
layer of `layers.toml`; it may import packages of lower layers, and none of its own.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tools.counters.tree import Place, Source

ROOT = "npuforge"
Graph = Mapping[str, Mapping[str, Place]]


@cache
def layers() -> dict[str, int]:
    """Return the number of the layer of each package, the lowest first."""
    text = Path(__file__).with_name("layers.toml").read_text("utf-8")
    rows: list[list[str]] = tomllib.loads(text)["layers"]
    return {package: number for number, row in enumerate(rows) for package in row}


def graph(sources: Iterable[Source]) -> Graph:
    """Return the modules that each module imports, and where."""
    by_module = {source.module: source for source in sources}
    return {
        module: dict(_imports(source, by_module.keys())) for module, source in by_module.items()
    }


def circles(known: Graph) -> list[list[str]]:
    """Return the sets of modules that import each other, each sorted."""
    left = _trimmed({module: set(targets) - {module} for module, targets in known.items()})
    turned = {module: {other for other in left if module in left[other]} for module in left}
    result = []
    while left:
        first = min(left)
        circle = _reached(first, left) & _reached(first, turned)
        if len(circle) > 1:
            result.append(sorted(circle))
        left = {module: targets for module, targets in left.items() if module not in circle}
    return result


def upward(known: Graph, order: Mapping[str, int]) -> list[Place]:
    """List the imports of a package that is not lower; a package without a layer is named."""
    return [
        Place(place.path, place.line, f"{package(module)} imports {package(target)}: {why}")
        for module, targets in known.items()
        for target, place in targets.items()
        if package(module) != package(target)
        and (why := _fault(package(module), package(target), order))
    ]


def package(module: str) -> str:
    """Return the package's folder or module below the root."""
    return module.split(".")[1] if "." in module else module


def _trimmed(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out modules that import nothing that is left, as often as there are any."""
    while ends := {module for module, targets in edges.items() if not targets & edges.keys()}:
        edges = {module: targets for module, targets in edges.items() if module not in ends}
    return edges


def _reached(first: str, edges: Mapping[str, set[str]]) -> set[str]:
    """Return the modules that edges lead to from the first, and the first."""
    result, waiting = {first}, [first]
    while waiting:
        new = (edges.get(waiting.pop(), set()) & edges.keys()) - result
        result |= new
        waiting += new
    return result


def _fault(importer: str, imported: str, order: Mapping[str, int]) -> str:
    for name in (importer, imported):
        if name not in order:
            return f"{name} has no layer"
    return "" if order[imported] < order[importer] else "it is not in a lower layer"


def _imports(source: Source, modules: Collection[str]) -> Iterator[tuple[str, Place]]:
    for node in source.nodes(ast.ImportFrom):
        if node.module and _ours(node.module):
            for item in node.names:
                inner = f"{node.module}.{item.name}"
                target = inner if inner in modules else node.module
                yield target, Place(source.path, node.lineno, target)
    for plain in source.nodes(ast.Import):
        for item in plain.names:
            if _ours(item.name):
                yield item.name, Place(source.path, plain.lineno, item.name)


def _ours(module: str) -> bool:
    return module == ROOT or module.startswith(f"{ROOT}.")
