# SPDX-License-Identifier: Apache-2.0
"""Scalar expressions as C++, for the device and for the host."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from npuforge.tile.expr import (
    Binary,
    Call,
    Chip,
    Choose,
    Compare,
    Const,
    Expr,
    Logic,
    Program,
    Shape,
    Type,
    Var,
)
from npuforge.tile.facts import Facts

Side = Literal["device", "host"]

TYPES = {Type.INT: "int64_t", Type.FLOAT: "float", Type.BOOL: "bool"}

# Scalar functions an emitted source defines when it uses them: body by name.
SCALAR_FUNCTIONS: dict[str, tuple[str, str]] = {
    "MinOf": ("template <typename T>", "T MinOf(T a, T b)\n{\n    return a < b ? a : b;\n}"),
    "MaxOf": ("template <typename T>", "T MaxOf(T a, T b)\n{\n    return a > b ? a : b;\n}"),
    "AbsOf": ("template <typename T>", "T AbsOf(T a)\n{\n    return a < 0 ? -a : a;\n}"),
    "CeilDiv": (
        "",
        "int64_t CeilDiv(int64_t a, int64_t b)\n{\n"
        "    return a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);\n}",
    ),
    "FloorDiv": (
        "",
        "int64_t FloorDiv(int64_t a, int64_t b)\n{\n"
        "    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);\n}",
    ),
    "FloorMod": (
        "",
        "int64_t FloorMod(int64_t a, int64_t b)\n{\n    return a - FloorDiv(a, b) * b;\n}",
    ),
    "AlignUp": ("", "int64_t AlignUp(int64_t a, int64_t b)\n{\n    return CeilDiv(a, b) * b;\n}"),
    "AlignDown": (
        "",
        "int64_t AlignDown(int64_t a, int64_t b)\n{\n    return FloorDiv(a, b) * b;\n}",
    ),
    "FloatFromBits": (
        "",
        "float FloatFromBits(uint32_t bits)\n{\n    return *reinterpret_cast<float*>(&bits);\n}",
    ),
}


_NEEDS = {"AlignUp": "CeilDiv", "AlignDown": "FloorDiv", "FloorMod": "FloorDiv"}


def scalar_functions(used: set[str], side: Side) -> list[str]:
    """Definitions of the scalar functions in `used`."""
    used = used | {_NEEDS[name] for name in used if name in _NEEDS}
    lines: list[str] = []
    for name, (template, body) in SCALAR_FUNCTIONS.items():
        if name in used:
            if template:
                lines.append(template)
            prefix = "__aicore__ inline " if side == "device" else "inline "
            lines += (prefix + body).splitlines()
            lines.append("")
    return lines


def float_literal(value: float) -> str:
    """A finite float as C++ writes it."""
    rounded = struct.unpack("f", struct.pack("f", value))[0]
    text = repr(value) if rounded == value else _shortest(rounded)
    if "e" not in text and "." not in text:
        text += ".0"
    return text + "f"


def _shortest(value: float) -> str:
    """Fewest digits that name the same 32 bit float."""
    for digits in range(6, 18):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return text
    return repr(value)


@dataclass(slots=True)
class Printer:
    """Prints scalar expressions; `leaf` names what is neither constant nor arithmetic."""

    facts: Facts
    side: Side
    leaf: Callable[[Expr], str]
    used: set[str] = field(default_factory=set)
    aliases: dict[Expr, str] = field(default_factory=dict)  # expressions that have a name

    def __call__(self, expr: Expr, parent: int = 0) -> str:
        if self.aliases and isinstance(expr, Binary | Call) and expr in self.aliases:
            return self.aliases[expr]
        match expr:
            case Const(value):
                return self._constant(value)
            case Var() | Shape() | Chip() | Program():
                return self.leaf(expr)
            case Binary(op, left, right):
                return self._binary(op, left, right, parent)
            case Compare(op, left, right):
                return _bracket(f"{self(left, 6)} {op} {self(right, 6)}", 5, parent)
            case Logic("not", args):
                return f"!{self(args[0], 9)}"
            case Logic(op, args):
                level = 3 if op == "and" else 2
                word = " && " if op == "and" else " || "
                return _bracket(word.join(self(arg, level + 1) for arg in args), level, parent)
            case Choose(condition, then, orelse):
                return f"({self(condition, 2)} ? {self(then, 2)} : {self(orelse, 2)})"
            case Call(function, args):
                return self._call(function, args, expr.type, parent)

    def _constant(self, value: float | bool) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value) if abs(value) < 1 << 31 else f"{value}LL"
        if math.isfinite(value):
            return float_literal(value)
        self.used.add("FloatFromBits")
        bits = struct.unpack("I", struct.pack("f", value))[0]
        return f"FloatFromBits(0x{bits:08X}U)"

    def _binary(self, op: str, left: Expr, right: Expr, parent: int) -> str:
        if op in ("//", "%"):
            low, divisor = self.facts.bounds(left)[0], self.facts.bounds(right)[0]
            if low is None or low < 0 or divisor is None or divisor < 1:
                return self._named("FloorDiv" if op == "//" else "FloorMod", (left, right))
            op = "/" if op == "//" else "%"
        level = 6 if op in "+-" else 7
        return _bracket(f"{self(left, level)} {op} {self(right, level + 1)}", level, parent)

    def _call(self, function: str, args: tuple[Expr, ...], type_: Type, parent: int) -> str:
        if function in ("float", "int"):
            return f"static_cast<{TYPES[type_]}>({self(args[0])})"
        if function in ("min", "max"):
            name = "MinOf" if function == "min" else "MaxOf"
            self.used.add(name)
            text = self(args[0])
            for arg in args[1:]:
                text = f"{name}<{TYPES[type_]}>({text}, {self(arg)})"
            return text
        if function == "align_up" and args[1] == Const(1):
            return self(args[0], parent)
        return self._named(_NAMES[function], args)

    def _named(self, name: str, args: tuple[Expr, ...]) -> str:
        self.used.add(name)
        return f"{name}({', '.join(self(arg) for arg in args)})"


_NAMES = {"cdiv": "CeilDiv", "align_up": "AlignUp", "align_down": "AlignDown", "abs": "AbsOf"}


def _bracket(inner: str, level: int, parent: int) -> str:
    return f"({inner})" if level < parent else inner
