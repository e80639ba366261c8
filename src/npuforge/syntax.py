# SPDX-License-Identifier: Apache-2.0
"""Python's parser for sources that strangers wrote, one thread at a time.

CPython 3.11 counts the depth of the trees it builds for all threads together, and now and then
fails with "AST constructor recursion depth mismatch" when two of them parse at once.

The parser raises four kinds of errors on hostile sources, and a tree that it accepts can still be
too deep for whoever walks it. Here each of these is a `SyntaxError`.
"""

from __future__ import annotations

import ast
import threading
from collections import deque

_ONE_AT_A_TIME = threading.RLock()
_DEEPEST = 200
_MOST_BITS = 4096  # of an integer: Python refuses to write one of more than 4,300 digits


def parse(source: str | bytes) -> ast.Module:
    """Return a module's tree; raise `SyntaxError` for whatever is wrong with the source."""
    tree = _parse(source, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def parse_expression(source: str) -> ast.expr:
    """Return an expression's tree; raise `SyntaxError` for whatever is wrong with the source."""
    tree = _parse(source, "eval")
    assert isinstance(tree, ast.Expression)
    return tree.body


def _parse(source: str | bytes, mode: str) -> ast.AST:
    try:
        with _ONE_AT_A_TIME:
            tree: ast.AST = ast.parse(source, mode=mode)
    except (RecursionError, MemoryError):
        raise SyntaxError("the source is nested too deeply") from None
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise SyntaxError(str(error)) from None
    _check_bounds(tree)
    return tree


def _check_bounds(tree: ast.AST) -> None:
    """Refuse nesting that ends the stack of a visitor, and integers that cannot be written."""
    nodes = deque([(tree, 0)])
    while nodes:
        node, depth = nodes.pop()
        if depth > _DEEPEST:
            raise SyntaxError("the source is nested too deeply")
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            if node.value.bit_length() > _MOST_BITS:
                raise SyntaxError("a number has too many digits")
        else:
            nodes.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
