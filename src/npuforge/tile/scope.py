# SPDX-License-Identifier: Apache-2.0
"""Names while a function is typed (scalars, tensors, buffers), and scalar expressions."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from npuforge.tile.expr import (
    Binary,
    BinaryOp,
    Call,
    Chip,
    Choose,
    Compare,
    CompareOp,
    Const,
    Expr,
    Function,
    Logic,
    Program,
    Shape,
    Type,
    Var,
    simplify,
    walk,
)
from npuforge.tile.facts import Facts
from npuforge.tile.ir import Buffer, Tensor
from npuforge.tile.source import Findings, Span

Binding = Var | Tensor | Buffer

_BINARY: Mapping[type[ast.operator], BinaryOp] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_COMPARE: Mapping[type[ast.cmpop], CompareOp] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
# Functions of scalars: how many arguments, and whether they take floats.
FUNCTIONS: Mapping[str, tuple[Function, int, bool]] = {
    "min": ("min", 2, True),
    "max": ("max", 2, True),
    "abs": ("abs", 1, True),
    "float": ("float", 1, True),
    "int": ("int", 1, True),
    "tl.min": ("min", 2, True),
    "tl.max": ("max", 2, True),
    "tl.abs": ("abs", 1, True),
    "tl.cdiv": ("cdiv", 2, False),
    "tl.align_up": ("align_up", 2, False),
    "tl.align_down": ("align_down", 2, False),
}


class Refused(Exception):  # noqa: N818  # control flow inside this package, never seen outside
    """An expression was wrong; the finding is noted, the statement is skipped."""


@dataclass(slots=True)
class Scope:
    """What the names of one function mean at the point reached, and what is known of them."""

    findings: Findings
    facts: Facts
    constants: Mapping[str, Const]
    in_kernel: bool
    names: dict[str, Binding] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)
    _broken: set[str] = field(default_factory=set)

    def refuse(
        self, rule: str, where: ast.AST | Span, message: str, fix: str | None = None
    ) -> Refused:
        """Note the finding; the caller raises what comes back."""
        self.findings.add(rule, where, message, fix)
        return Refused()

    # ---- names --------------------------------------------------------------------------------
    def forget(self, name: str) -> None:
        """The statement that gives `name` its value was wrong: uses of it are no further errors."""
        if name not in self.names:
            self._broken.add(name)

    def unknown(self, where: ast.AST, name: str, what: str) -> Refused:
        """For a name that stands for nothing here."""
        if name in self._broken:
            return Refused()
        return self.refuse("TL-03", where, what)

    def assign(self, name: str, type_: Type, where: ast.AST | Span) -> Var:
        """A new version of a scalar."""
        old = self.names.get(name)
        if isinstance(old, Tensor | Buffer):
            raise self.refuse("TL-05", where, f"{name!r} is already a tensor or buffer")
        if isinstance(old, Var) and old.type is not type_:
            raise self.refuse(
                "TL-05", where, f"{name!r} was {old.type.value} and becomes {type_.value}"
            )
        if name in self.constants or name == "tl":
            raise self.refuse("TL-05", where, f"{name!r} is a constant of the program")
        self._broken.discard(name)
        version = self._versions.get(name, -1) + 1
        self._versions[name] = version
        variable = Var(name, type_, version)
        self.names[name] = variable
        return variable

    def declare(self, name: str, binding: Tensor | Buffer, where: ast.AST | Span) -> None:
        """A tensor or buffer; its name must be new."""
        if name in self.names or name in self.constants:
            raise self.refuse("TL-05", where, f"{name!r} is already in use")
        self._broken.discard(name)
        self.names[name] = binding

    def snapshot(self) -> dict[str, Binding]:
        return dict(self.names)

    # ---- scalar expressions -------------------------------------------------------------------
    def scalar(self, node: ast.expr) -> Expr:
        """The scalar expression `node`, with constant parts computed."""
        value = self._scalar(node)
        if isinstance(value, Var):
            return value
        for part in walk(value):
            if isinstance(part, Const) and isinstance(part.value, int) and _overflows(part.value):
                raise self.refuse("TL-14", node, f"{part.value} does not fit 64 bits")
        return value

    def integer(self, node: ast.expr) -> Expr:
        """A whole number."""
        value = self.scalar(node)
        if value.type is not Type.INT:
            raise self.refuse(
                "TL-05",
                node,
                f"{ast.unparse(node)} is {value.type.value}; a whole number is needed",
            )
        return value

    def condition(self, node: ast.expr) -> Expr:
        """A truth value."""
        value = self.scalar(node)
        if value.type is not Type.BOOL:
            raise self.refuse(
                "TL-05", node, f"{ast.unparse(node)} is {value.type.value}; a condition is needed"
            )
        return value

    def _scalar(self, node: ast.expr) -> Expr:
        span = Span.of(node)
        match node:
            case ast.Constant(value=bool() | int() | float() as literal):
                return Const(literal, span)
            case ast.Name(name):
                return self._name(node, name)
            case ast.UnaryOp(ast.USub(), operand):
                value = self._numeric(operand)
                zero = Const(0 if value.type is Type.INT else 0.0)
                if isinstance(value, Const):
                    return Const(-value.value, span)
                return simplify(Binary("-", zero, value, span))
            case ast.UnaryOp(ast.UAdd(), operand):
                return self._numeric(operand)
            case ast.UnaryOp(ast.Not(), operand):
                return Logic("not", (self.condition(operand),), span)
            case ast.BinOp(left, op, right):
                return self._binary(node, _BINARY[type(op)], left, right)
            case ast.Compare(left, ops, comparators):
                return self._comparison(node, left, ops, comparators)
            case ast.BoolOp(op, values):
                word = "and" if isinstance(op, ast.And) else "or"
                return Logic(
                    "and" if word == "and" else "or",
                    tuple(self.condition(value) for value in values),
                    span,
                )
            case ast.IfExp(test, body, orelse):
                then, other = self._same_type(node, self._scalar(body), self._scalar(orelse))
                return Choose(self.condition(test), then, other, span)
            case ast.Subscript(ast.Attribute(ast.Name(tensor), "shape"), index):
                return self._shape(node, tensor, index)
            case ast.Attribute(ast.Name("tl"), "inf"):
                return Const(math.inf, span)
            case ast.Attribute(ast.Name("tl"), "nan"):
                return Const(math.nan, span)
            case ast.Call():
                return self._call(node)
            case _:
                raise self.refuse("TL-05", node, f"{ast.unparse(node)} is not a scalar expression")

    def _name(self, node: ast.expr, name: str) -> Expr:
        if name in self.constants:
            return Const(self.constants[name].value, Span.of(node))
        binding = self.names.get(name)
        if isinstance(binding, Var):
            return Var(binding.name, binding.type, binding.version, Span.of(node))
        if binding is None:
            raise self.unknown(node, name, f"{name!r} has no value here")
        what = "a tensor" if isinstance(binding, Tensor) else "a buffer"
        raise self.refuse("TL-05", node, f"{name!r} is {what}, not a number")

    def _numeric(self, node: ast.expr) -> Expr:
        value = self._scalar(node)
        if value.type is Type.BOOL:
            raise self.refuse("TL-05", node, f"{ast.unparse(node)} is a condition, not a number")
        return value

    def _same_type(self, node: ast.AST, left: Expr, right: Expr) -> tuple[Expr, Expr]:
        if left.type is right.type:
            return left, right
        if Type.BOOL in (left.type, right.type):
            raise self.refuse("TL-05", node, "a condition and a number cannot be mixed")
        return _as_float(left), _as_float(right)

    def _binary(self, node: ast.AST, op: BinaryOp, left: ast.expr, right: ast.expr) -> Expr:
        first, second = self._same_type(node, self._numeric(left), self._numeric(right))
        if op == "/":
            first, second = _as_float(first), _as_float(second)
        elif op in ("//", "%") and first.type is not Type.INT:
            raise self.refuse("TL-05", node, f"{op} is for whole numbers")
        divisor = second
        if op in ("//", "%") and isinstance(divisor, Const) and divisor.value == 0:
            raise self.refuse("TL-05", node, "division by zero")
        return simplify(Binary(op, first, second, Span.of(node)))

    def _comparison(
        self, node: ast.expr, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]
    ) -> Expr:
        terms: list[Expr] = []
        before = left
        for op, after in zip(ops, others, strict=True):
            first, second = self._same_type(node, self._scalar(before), self._scalar(after))
            terms.append(Compare(_COMPARE[type(op)], first, second, Span.of(node)))
            before = after
        return terms[0] if len(terms) == 1 else Logic("and", tuple(terms), Span.of(node))

    def _shape(self, node: ast.expr, tensor: str, index: ast.expr) -> Expr:
        if not self._has_shape(tensor):
            raise self.refuse(
                "TL-03",
                node,
                f"{tensor}.shape is not known here",
                "read shapes in the host function and pass numbers to the kernel",
            )
        axis = self.scalar(index)
        if not isinstance(axis, Const) or axis.type is not Type.INT:
            raise self.refuse("TL-05", node, "the axis of a shape is a literal")
        return Shape(tensor, int(axis.value), Span.of(node))

    def _has_shape(self, tensor: str) -> bool:
        """Whether a tensor comes with its shape: a workspace has the one that it was given."""
        binding = self.names.get(tensor)
        known = isinstance(binding, Tensor) and binding.role != "workspace"
        return known and not self.in_kernel

    def _call(self, node: ast.Call) -> Expr:
        name = ast.unparse(node.func)
        span = Span.of(node)
        if node.keywords and name in FUNCTIONS:
            raise self.refuse("TL-04", node, f"{name} takes no keywords")
        if name in FUNCTIONS:
            return self._function(node, name)
        match node.func:
            case ast.Attribute(ast.Name(tensor), "numel") if not node.args:
                if not self._has_shape(tensor):
                    raise self.refuse("TL-03", node, f"{tensor}.numel() is not known here")
                return Shape(tensor, None, span)
            case ast.Attribute(ast.Name("tl"), "program_id" | "num_programs" as which):
                if not self.in_kernel:
                    raise self.refuse("TL-04", node, f"{name} belongs into a kernel")
                if [ast.unparse(arg) for arg in node.args] != ["0"]:
                    raise self.refuse("TL-04", node, f"{name} takes the axis 0")
                return Program("id" if which == "program_id" else "count", span)
            case ast.Attribute(ast.Name("tl"), "num_cores" | "ub_bytes" as which):
                if self.in_kernel:
                    raise self.refuse("TL-04", node, f"{name} belongs into the host function")
                return Chip("cores" if which == "num_cores" else "ub_bytes", span)
            case _:
                raise self.refuse("TL-04", node, f"{name} is not a function of scalars")

    def _function(self, node: ast.Call, name: str) -> Expr:
        function, count, floats = FUNCTIONS[name]
        if len(node.args) < count or (len(node.args) > count and function not in ("min", "max")):
            raise self.refuse("TL-04", node, f"{name} takes {count} arguments")
        args = [self._numeric(arg) for arg in node.args]
        if not floats and any(arg.type is not Type.INT for arg in args):
            raise self.refuse("TL-05", node, f"{name} is for whole numbers")
        if function in ("min", "max") and len({arg.type for arg in args}) > 1:
            args = [_as_float(arg) for arg in args]
        if function == "float":
            return _as_float(args[0])
        if function == "int" and args[0].type is Type.INT:
            return args[0]
        divisor = args[-1]
        if function in ("cdiv", "align_up", "align_down") and (
            isinstance(divisor, Const) and divisor.value <= 0
        ):
            raise self.refuse("TL-05", node, f"{name} by {divisor.value}")
        return simplify(Call(function, tuple(args), Span.of(node)))


def _overflows(value: int) -> bool:
    return not -(1 << 63) <= value < 1 << 63


def _as_float(value: Expr) -> Expr:
    if value.type is Type.FLOAT:
        return value
    if isinstance(value, Const):
        return Const(float(value.value), value.span)
    return Call("float", (value,), value.span)
