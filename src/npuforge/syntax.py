# SPDX-License-Identifier: Apache-2.0
"""Python's parser, one thread at a time.

CPython 3.11 counts the depth of the trees it builds for all threads together, and now and then
fails with "AST constructor recursion depth mismatch" when two of them parse at once.
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.RLock()


def parse(source: str | bytes) -> ast.Module:
    """A module's tree; `SyntaxError` and what else Python's parser raises."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """An expression's tree."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body
