# SPDX-License-Identifier: Apache-2.0
"""Values of scalar expressions while a program runs.

Whole numbers have 64 bits and do not overflow: that is an error. Floats are doubles on the host
and float32 in kernels, rounded after every operation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from npuforge.tile.expr import (
    Binary,
    Call,
    Chip,
    Choose,
    Compare,
    Const,
    Expr,
    Logic,
    Number,
    Program,
    Shape,
    Var,
    divide,
)
from npuforge.tile.interpret.failure import failure
from npuforge.tile.source import Span

_COMPARE: Mapping[str, Callable[[Number, Number], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def float32(value: float) -> float:
    """`value` rounded to float32; infinite where it does not fit."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


@dataclass(slots=True)
class Scalars:
    """Scalars of one function: every version of a variable has one value at a time."""

    leaf: Callable[[Shape | Chip | Program], int]
    in_kernel: bool
    _versions: dict[tuple[str, int], Number] = field(default_factory=dict)
    _current: dict[str, Number] = field(default_factory=dict)

    def assign(self, name: str, version: int, value: Number) -> None:
        """The variable has this value from now on."""
        self._versions[name, version] = value
        self._current[name] = value

    def join(self, versions: tuple[tuple[str, int], ...]) -> None:
        """Where paths meet, variables get a new version with the value they have."""
        for name, version in versions:
            self._versions[name, version] = self._current[name]

    def whole(self, expr: Expr) -> int:
        """The value of an expression that the types say is a whole number."""
        return int(self.value(expr))

    def value(self, expr: Expr) -> Number:
        match expr:
            case Const(value):
                return float32(value) if self.in_kernel and isinstance(value, float) else value
            case Var(name, _, version):
                return self._versions[name, version]
            case Binary(op, left, right):
                return self._checked(self._binary(op, left, right, expr.span), expr.span)
            case Call(function, args):
                return self._checked(self._call(function, args, expr.span), expr.span)
            case Compare(op, left, right):
                return _COMPARE[op](self.value(left), self.value(right))
            case Logic("not", args):
                return not self.value(args[0])
            case Logic("and", args):
                return all(self.value(arg) for arg in args)
            case Logic(_, args):
                return any(self.value(arg) for arg in args)
            case Choose(condition, then, orelse):
                return self.value(then if self.value(condition) else orelse)
            case Shape() | Chip() | Program():
                return self.leaf(expr)

    def _checked(self, value: Number, span: Span) -> Number:
        if isinstance(value, float):
            return float32(value) if self.in_kernel else value
        if not -(1 << 63) <= value < 1 << 63:
            raise failure("TL-14", span, f"{value} does not fit 64 bits")
        return value

    def _binary(self, op: str, left: Expr, right: Expr, span: Span) -> Number:
        first, second = self.value(left), self.value(right)
        match op:
            case "+":
                return first + second
            case "-":
                return first - second
            case "*":
                return first * second
            case "/":
                return divide(first, second)
            case _:
                if second == 0:
                    raise failure("TL-05", span, f"{first} {op} 0")
                return first // second if op == "//" else first % second

    def _call(self, function: str, args: tuple[Expr, ...], span: Span) -> Number:
        values = [self.value(arg) for arg in args]
        match function:
            case "min":
                return min(values)
            case "max":
                return max(values)
            case "abs":
                return abs(values[0])
            case "float":
                return float(values[0])
            case "int":
                try:
                    return int(values[0])
                except (OverflowError, ValueError):
                    raise failure("TL-05", span, f"int({values[0]})") from None
            case _:
                number, step = values
                if step <= 0:
                    raise failure("TL-05", span, f"tl.{function}({number}, {step})")
                if function == "align_down":
                    return number // step * step
                steps = -(-number // step)
                return steps if function == "cdiv" else steps * step
