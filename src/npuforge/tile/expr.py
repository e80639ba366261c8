# SPDX-License-Identifier: Apache-2.0
"""Scalar expressions of tile programs: whole numbers, floats and truth values.

Whole numbers are 64 bit; `//` and `%` round towards minus infinity as in Python. A variable carries
a version: every assignment makes a new one, so two uses with equal name and version have equal
values, and sizes can be compared as symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from npuforge.tile.source import NOWHERE, Span


class Type(Enum):
    """Type of a scalar."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"


BinaryOp = Literal["+", "-", "*", "/", "//", "%"]
CompareOp = Literal["==", "!=", "<", "<=", ">", ">="]
Function = Literal["min", "max", "abs", "cdiv", "align_up", "align_down", "float", "int"]


@dataclass(frozen=True, slots=True)
class Const:
    """A literal."""

    value: int | float | bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        if isinstance(self.value, bool):
            return Type.BOOL
        return Type.INT if isinstance(self.value, int) else Type.FLOAT


@dataclass(frozen=True, slots=True)
class Var:
    """A variable, parameter or loop counter."""

    name: str
    type: Type = field(hash=False)  # follows from name and version
    version: int = 0
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """Extent of a host tensor along an axis; `axis` None is the number of elements."""

    tensor: str
    axis: int | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        return Type.INT


@dataclass(frozen=True, slots=True)
class Chip:
    """A constant of the chip: `cores` (vector cores) or `ub_bytes` (usable unified buffer)."""

    what: Literal["cores", "ub_bytes"]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        return Type.INT


@dataclass(frozen=True, slots=True)
class Program:
    """`program_id` or `num_programs` of the running kernel."""

    what: Literal["id", "count"]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        return Type.INT


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic on two scalars of one type."""

    op: BinaryOp
    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        return self.left.type


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison."""

    op: CompareOp
    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        return Type.BOOL


@dataclass(frozen=True, slots=True)
class Logic:
    """`and`, `or`, `not` of truth values."""

    op: Literal["and", "or", "not"]
    args: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        return Type.BOOL


@dataclass(frozen=True, slots=True)
class Choose:
    """`a if condition else b`."""

    condition: Expr
    then: Expr
    orelse: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        return self.then.type


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function of scalars."""

    function: Function
    args: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> Type:
        if self.function == "float":
            return Type.FLOAT
        if self.function == "int":
            return Type.INT
        return self.args[0].type


Expr = Const | Var | Shape | Chip | Program | Binary | Compare | Logic | Choose | Call

ZERO = Const(0)
ONE = Const(1)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside."""
    match expr:
        case Binary(_, left, right) | Compare(_, left, right):
            return (left, right)
        case Logic(_, args) | Call(_, args):
            return args
        case Choose(condition, then, orelse):
            return (condition, then, orelse)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything inside it."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def rewrite(expr: Expr, leaf: Callable[[Expr], Expr | None]) -> Expr:
    """Replace every node for which `leaf` answers; the others are rebuilt around the answers."""
    answer = leaf(expr)
    if answer is not None:
        return answer
    match expr:
        case Binary(op, left, right, span):
            return Binary(op, rewrite(left, leaf), rewrite(right, leaf), span)
        case Compare(comparison, left, right, span):
            return Compare(comparison, rewrite(left, leaf), rewrite(right, leaf), span)
        case Logic(word, args, span):
            return Logic(word, tuple(rewrite(arg, leaf) for arg in args), span)
        case Call(function, args, span):
            return Call(function, tuple(rewrite(arg, leaf) for arg in args), span)
        case Choose(condition, then, orelse, span):
            return Choose(
                rewrite(condition, leaf), rewrite(then, leaf), rewrite(orelse, leaf), span
            )
        case _:
            return expr


Number = int | float | bool


def evaluate(expr: Expr, value_of: Callable[[Expr], Number]) -> Number:
    """The value of `expr`; `value_of` knows variables, shapes, the chip and the program."""
    # No `match`: this is called more often than anything, and the frequent kinds come first.
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Call):
        return _CALLS[expr.function](*[evaluate(arg, value_of) for arg in expr.args])
    if isinstance(expr, Binary):
        return _BINARY[expr.op](evaluate(expr.left, value_of), evaluate(expr.right, value_of))
    if isinstance(expr, Var | Shape | Chip | Program):
        return value_of(expr)
    if isinstance(expr, Choose):
        return evaluate(expr.then if evaluate(expr.condition, value_of) else expr.orelse, value_of)
    if isinstance(expr, Compare):
        compared = _COMPARE[expr.op]
        return bool(compared(evaluate(expr.left, value_of), evaluate(expr.right, value_of)))
    if expr.op == "not":
        return not evaluate(expr.args[0], value_of)
    values = (evaluate(arg, value_of) for arg in expr.args)
    return all(values) if expr.op == "and" else any(values)


def divide(left: Any, right: Any) -> float:
    """Float division as the scalar unit does it: no exception, infinities and NaN instead."""
    try:
        return float(left / right)
    except ZeroDivisionError:
        if left == 0 or math.isnan(left):
            return float("nan")
        return float("inf") if (left > 0) == (math.copysign(1.0, right) > 0) else float("-inf")


_BINARY: Mapping[str, Callable[[Any, Any], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_CALLS: Mapping[str, Callable[..., Number]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "cdiv": lambda a, b: -(-a // b),
    "align_up": lambda a, b: -(-a // b) * b,
    "align_down": lambda a, b: a // b * b,
    "float": float,
    "int": int,
}


def fold(expr: Expr) -> Expr:
    """`expr` with constant parts computed and neutral elements dropped, at every depth."""
    match expr:
        case Binary(op, left, right, span):
            return simplify(Binary(op, fold(left), fold(right), span))
        case Call(function, args, span):
            return simplify(Call(function, tuple(fold(arg) for arg in args), span))
        case _:
            return expr


def simplify(expr: Expr) -> Expr:
    """`expr`, whose parts are simple already, with constants computed and neutral parts dropped."""
    match expr:
        case Binary():
            return _fold_binary(expr, expr.op)
        case Call(_, args, span):
            if all(isinstance(arg, Const) for arg in args):
                try:
                    return Const(evaluate(expr, _no_variables), span)
                except (ArithmeticError, ValueError):
                    return expr
            match expr:
                case Call("align_up", (Call("align_up", (inner, Const(fine))), Const(coarse))):
                    if coarse % fine == 0:
                        return Call("align_up", (inner, Const(coarse)), span)
                case _:
                    pass
            return expr
        case _:
            return expr


def _fold_binary(expr: Binary, op: BinaryOp) -> Expr:
    left, right = expr.left, expr.right
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return Const(evaluate(expr, _no_variables), expr.span)
        except ArithmeticError:
            return expr
    if expr.type is not Type.INT:
        return expr
    zero_left = isinstance(left, Const) and left.value == 0
    zero_right = isinstance(right, Const) and right.value == 0
    one_left = isinstance(left, Const) and left.value == 1
    one_right = isinstance(right, Const) and right.value == 1
    if op == "+" and zero_left:
        return right
    if op in ("+", "-") and zero_right:
        return left
    if op == "*" and (zero_left or zero_right):
        return ZERO
    if op == "*" and one_left:
        return right
    if op in ("*", "//") and one_right:
        return left
    return expr


def _no_variables(expr: Expr) -> Number:
    raise ValueError(f"{expr} is not constant")


def add(left: Expr, right: Expr) -> Expr:
    return simplify(Binary("+", left, right))


def sub(left: Expr, right: Expr) -> Expr:
    return simplify(Binary("-", left, right))


def mul(left: Expr, right: Expr) -> Expr:
    return simplify(Binary("*", left, right))


def align_up(value: Expr, multiple: int) -> Expr:
    return value if multiple == 1 else simplify(Call("align_up", (value, Const(multiple))))


_PRECEDENCE = {"or": 1, "and": 2, "not": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "/": 6}


def text(expr: Expr, parent: int = 0) -> str:
    """`expr` as source of the tile language."""
    match expr:
        case Const(value):
            return repr(value)
        case Var(name):
            return name
        case Shape(tensor, None):
            return f"{tensor}.numel()"
        case Shape(tensor, axis):
            return f"{tensor}.shape[{axis}]"
        case Chip("cores"):
            return "tl.num_cores()"
        case Chip():
            return "tl.ub_bytes()"
        case Program("id"):
            return "tl.program_id(0)"
        case Program():
            return "tl.num_programs(0)"
        case Binary(op, left, right):
            level = 5 if op in "+-" else 6
            return _bracket(f"{text(left, level)} {op} {text(right, level + 1)}", level, parent)
        case Compare(op, left, right):
            return _bracket(f"{text(left, 5)} {op} {text(right, 5)}", 4, parent)
        case Logic("not", args):
            return _bracket(f"not {text(args[0], 3)}", 3, parent)
        case Logic(op, args):
            level = _PRECEDENCE[op]
            return _bracket(f" {op} ".join(text(arg, level + 1) for arg in args), level, parent)
        case Choose(condition, then, orelse):
            inner = f"{text(then, 1)} if {text(condition, 1)} else {text(orelse, 1)}"
            return _bracket(inner, 0, 1 if parent else 0)
        case Call(function, args):
            prefix = "tl." if function in ("cdiv", "align_up", "align_down") else ""
            return f"{prefix}{function}({', '.join(text(arg) for arg in args)})"


def _bracket(inner: str, level: int, parent: int) -> str:
    return f"({inner})" if level < parent else inner


def names(expr: Expr) -> set[str]:
    """Variables `expr` uses."""
    return {node.name for node in walk(expr) if isinstance(node, Var)}
