# SPDX-License-Identifier: Apache-2.0
"""Divisors of extents: sizes at which the views of a graph keep every element.

A module that splits an axis into windows (`x.view(rows // 7, 7, cols)`) runs only where 7 divides
the rows. The captured graph says so nowhere but in the view, whose extents then have fewer elements
than its operand. Sizes that break a view are moved to sizes with the example's remainders.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence

from npuforge.spec.graph import Extent, Graph, Ref, Symbol
from npuforge.spec.size import Size, SizeError
from npuforge.syntax import parse_expression

_VIEWS = ("aten.view.default", "aten._unsafe_view.default", "aten.reshape.default")

Shape = Sequence[Size]


def divisible(
    graph: Graph, free: Sequence[Symbol]
) -> Callable[[Mapping[str, int]], Mapping[str, int]]:
    """Return a function that moves sizes which a view refuses; others it returns as they are."""
    views = _views(graph)
    periods = _periods([size for _, shape in views for size in shape])

    def moved(sizes: Mapping[str, int]) -> Mapping[str, int]:
        if not periods or _hold(views, sizes):
            return sizes
        aligned = dict(sizes)
        for symbol in free:
            period = periods.get(symbol.name, 1)
            down = aligned[symbol.name] - (aligned[symbol.name] - symbol.example) % period
            aligned[symbol.name] = down if down >= max(1, symbol.least) else down + period
        return aligned if _hold(views, aligned) else sizes

    return moved


def _views(graph: Graph) -> list[tuple[Shape, Shape]]:
    """Return the operand's and the result's shape of each view whose extents are all given."""
    types = {source.name: source.type for source in graph.sources}
    types |= {node.name: node.type for node in graph.nodes if node.types[:1] not in ([], [None])}
    found: list[tuple[Shape, Shape]] = []
    for node in graph.nodes:
        if node.op not in _VIEWS or len(node.args) != 2:
            continue
        operand, extents = node.args
        if isinstance(operand, Ref) and operand.ref in types and isinstance(extents, list):
            shape = list(map(_size, extents))
            given = [size for size in shape if size is not None]
            if len(given) == len(shape):
                found.append((types[operand.ref].sizes, given))
    return found


def _size(extent: object) -> Size | None:
    """Return an argument of a view as a size; None for the rest (-1)."""
    if isinstance(extent, Extent):
        return extent.size
    return Size.of(extent) if isinstance(extent, int) and extent >= 0 else None


def _hold(views: Sequence[tuple[Shape, Shape]], sizes: Mapping[str, int]) -> bool:
    """Return whether every view has as many elements as its operand."""
    try:
        return all(
            math.prod(size.at(sizes) for size in one) == math.prod(size.at(sizes) for size in other)
            for one, other in views
        )
    except SizeError:
        return False


def _periods(sizes: Sequence[Size]) -> dict[str, int]:
    """Return the least common multiple of the numbers that a symbol is divided by."""
    periods: dict[str, int] = {}
    for size in {size for size in sizes if "//" in str(size)}:
        for node in ast.walk(parse_expression(str(size))):
            match node:
                case ast.BinOp(op=ast.FloorDiv(), right=ast.Constant(value=int(divisor))):
                    names = [one.id for one in ast.walk(node.left) if isinstance(one, ast.Name)]
                    for name in names:
                        periods[name] = math.lcm(periods.get(name, 1), max(1, divisor))
    return periods
