# SPDX-License-Identifier: Apache-2.0
"""Whether what a kernel does, and how long it takes, depends on the values of tensors.

Elements read as scalars may decide how often a loop runs, which branch is taken and which memory is
touched. The time of such a kernel means something only for values like those it is meant for.
"""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.tile.expr import Expr, Var
from npuforge.tile.expr import walk as walk_expr
from npuforge.tile.ir import For, If, Kernel, Let, Load, LoadScalar, ReadScalar, Stmt, Store, walk


def follows_values(kernel: Kernel) -> bool:
    """Whether loops, conditions or places in memory follow from elements of tensors."""
    read: set[str] = set()
    before = -1
    while len(read) != before:  # a loop may carry what a later statement assigns
        before = len(read)
        for statement in walk(kernel.body):
            match statement:
                case ReadScalar(name=name) | LoadScalar(name=name):
                    read.add(name)
                case Let(name=name, value=value) if _mentions(value, read):
                    read.add(name)
                case _:
                    pass
    return any(
        _mentions(expr, read) for statement in walk(kernel.body) for expr in _decisive(statement)
    )


def _mentions(expr: Expr, names: set[str]) -> bool:
    return any(isinstance(node, Var) and node.name in names for node in walk_expr(expr))


def _decisive(statement: Stmt) -> Iterator[Expr]:
    match statement:
        case For(start=start, stop=stop):
            yield start
            yield stop
        case If(condition=condition):
            yield condition
        case Load(pointer=pointer) | Store(pointer=pointer) | LoadScalar(pointer=pointer):
            yield pointer.offset
        case _:
            pass
