# SPDX-License-Identifier: Apache-2.0
"""Sizes of temporaries: expressions of the library's index as expressions of the program."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache

from npuforge.syntax import parse_expression
from npuforge.tile.expr import Binary, Call, Const, Expr, Function, fold

_FUNCTIONS: Mapping[str, Function] = {
    "max": "max",
    "min": "min",
    "align": "align_up",
    "cdiv": "cdiv",
}


def scratch_size(formula: str, sizes: Mapping[str, Expr]) -> Expr:
    """`formula` over rows, cols, pitch, n, k and size, with the program's expressions put in."""

    def convert(node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value=int(number)):
                return Const(number)
            case ast.Name(id=name):
                return sizes[name]
            case ast.BinOp(left, ast.Add(), right):
                return Binary("+", convert(left), convert(right))
            case ast.BinOp(left, ast.Sub(), right):
                return Binary("-", convert(left), convert(right))
            case ast.BinOp(left, ast.Mult(), right):
                return Binary("*", convert(left), convert(right))
            case ast.BinOp(left, ast.FloorDiv(), right):
                return Binary("//", convert(left), convert(right))
            case ast.Call(func=ast.Name(id=name), args=args):
                return Call(_FUNCTIONS[name], tuple(convert(arg) for arg in args))
        raise ValueError(f"not a size expression: {ast.unparse(node)}")

    return fold(convert(_parsed(formula)))


@cache
def _parsed(formula: str) -> ast.expr:
    return parse_expression(formula)
