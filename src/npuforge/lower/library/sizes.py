# SPDX-License-Identifier: Apache-2.0
"""Size expressions of the index: integers, names, + - * //, max, min, align, cdiv."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

_FUNCTIONS: Mapping[str, Callable[..., int]] = {
    "max": max,
    "min": min,
    "align": lambda x, m: -(-x // m) * m,
    "cdiv": lambda x, m: -(-x // m),
}
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}


def evaluate(expression: str, sizes: Mapping[str, int]) -> int:
    """The value of an expression; a name that is not given raises KeyError."""

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name):
                return sizes[name]
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return _FUNCTIONS[name](*map(value, arguments))
        raise ValueError(f"not a size expression: {ast.unparse(node)}")

    return value(ast.parse(expression, mode="eval").body)
