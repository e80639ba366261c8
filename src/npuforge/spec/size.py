# SPDX-License-Identifier: Apache-2.0
"""Extents of tensors as polynomials over the extents of the inputs.

`s0*s1` and `s1*s0` are one size, and `(s0*s1) // s1` is `s0`: the planner compares and divides
extents without knowing them. What is no polynomial (a floor, a minimum) is kept as an atom, written
the way the tile language writes it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from npuforge.syntax import parse_expression

_Monomial = tuple[str, ...]  # sorted atoms; () is the constant term
_MOST_TERMS, _MOST_ATOMS, _MOST_FACTOR = 100_000, 200, 1 << 200


class SizeError(ValueError):
    """A text that is no size, or a size that is no number for these values."""


@dataclass(frozen=True)
class Size:
    """A whole number that follows from the shapes of the inputs."""

    terms: tuple[tuple[_Monomial, int], ...]

    @staticmethod
    def of(value: Size | int) -> Size:
        return value if isinstance(value, Size) else _make({(): value})

    @staticmethod
    def symbol(name: str) -> Size:
        return _make({(name,): 1})

    @staticmethod
    @lru_cache(maxsize=4096)  # a graph has few extents, which are asked for again and again
    def parse(text: str) -> Size:
        """A size from arithmetic over names, as sympy and Python write it."""
        try:
            return _walk(parse_expression(text.strip()))
        except (SyntaxError, RecursionError, ValueError):
            raise SizeError(f"no size: {text[:80]}") from None

    @property
    def known(self) -> int | None:
        """The number, where no input's shape decides it."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    def __add__(self, other: Size | int) -> Size:
        total = dict(self.terms)
        for monomial, factor in Size.of(other).terms:
            total[monomial] = total.get(monomial, 0) + factor
        return _make(total)

    def __neg__(self) -> Size:
        return _make({monomial: -factor for monomial, factor in self.terms})

    def __sub__(self, other: Size | int) -> Size:
        return self + -Size.of(other)

    def __mul__(self, other: Size | int) -> Size:
        if len(self.terms) * len(Size.of(other).terms) > _MOST_TERMS:
            raise SizeError("a size has too many terms")
        total: dict[_Monomial, int] = {}
        for left, a in self.terms:
            for right, b in Size.of(other).terms:
                key = tuple(sorted(left + right))
                total[key] = total.get(key, 0) + a * b
        return _make(total)

    def exactly(self, other: Size | int) -> Size | None:
        """The quotient, where every term divides by a divisor of one term."""
        divisor = Size.of(other)
        if divisor == self:
            return Size.of(1)
        if len(divisor.terms) != 1:
            return None
        atoms, factor = divisor.terms[0]
        found: dict[_Monomial, int] = {}
        for monomial, own in self.terms:
            left = _without(monomial, atoms)
            if left is None or own % factor:
                return None
            found[left] = own // factor
        return _make(found)

    def __floordiv__(self, other: Size | int) -> Size:
        divisor = Size.of(other)
        quotient = self.exactly(divisor)
        if quotient is not None:
            return quotient
        if self.known is not None and divisor.known:
            return Size.of(self.known // divisor.known)
        return Size.symbol(f"({self}) // ({divisor})")

    def at(self, values: Mapping[str, int]) -> int:
        """The number for given extents of the inputs."""
        total = 0
        for monomial, factor in self.terms:
            total += factor * math.prod(_atom_at(atom, values) for atom in monomial)
        return total

    @property
    def is_positive(self) -> bool:
        """Whether it is at least one wherever all extents are: differences may not be."""
        plain = all(atom.isidentifier() for monomial, _ in self.terms for atom in monomial)
        return plain and bool(self.terms) and all(factor > 0 for _, factor in self.terms)

    @cached_property
    def names(self) -> frozenset[str]:
        """The symbols it follows from."""
        trees = (parse_expression(atom) for monomial, _ in self.terms for atom in monomial)
        return frozenset(
            node.id
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id not in _FUNCTIONS
        )

    def renamed(self, names: Mapping[str, str]) -> Size:
        """The same size over other names."""
        return self.over({name: Size.symbol(other) for name, other in names.items()})

    def over(self, sizes: Mapping[str, Size]) -> Size:
        """The same size, where some of its symbols follow from others."""
        return _walk(parse_expression(str(self)), sizes)

    def __str__(self) -> str:
        """As the tile language writes it."""
        text = ""
        for monomial, factor in self.terms:
            atoms = [f"({atom})" if " " in atom else atom for atom in monomial]
            if abs(factor) != 1 or not atoms:
                atoms.insert(0, str(abs(factor)))
            sign = "-" if factor < 0 else "+"
            body = " * ".join(atoms)
            text += f" {sign} {body}" if text else (f"-{body}" if factor < 0 else body)
        return text or "0"


_FUNCTIONS = {"min": min, "max": max}
_SPELLINGS = {"Min": "min", "Max": "max", "min": "min", "max": "max"}


def product(sizes: Iterable[Size]) -> Size:
    total = Size.of(1)
    for size in sizes:
        total = total * size
    return total


def _make(terms: Mapping[_Monomial, int]) -> Size:
    if any(len(atoms) > _MOST_ATOMS or abs(n) > _MOST_FACTOR for atoms, n in terms.items()):
        raise SizeError("a size is too large")  # powers of powers: the text comes from a module
    kept = ((monomial, factor) for monomial, factor in terms.items() if factor)
    return Size(tuple(sorted(kept, key=lambda term: (-len(term[0]), term[0]))))


def _without(monomial: _Monomial, atoms: _Monomial) -> _Monomial | None:
    left = list(monomial)
    for atom in atoms:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _walk(node: ast.expr, sizes: Mapping[str, Size] | None = None) -> Size:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Size.of(node.value)
    if isinstance(node, ast.Name):
        known = (sizes or {}).get(node.id)
        return Size.symbol(node.id) if known is None else known
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_walk(node.operand, sizes)
    if isinstance(node, ast.BinOp):
        left, right = _walk(node.left, sizes), _walk(node.right, sizes)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.FloorDiv():
                return left // right
            case ast.Mod():
                return _remainder(left, right)
            case ast.Pow() if right.known is not None and 0 <= right.known <= 8:
                return product([left] * right.known)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        left, right = (_walk(argument, sizes) for argument in node.args)
        if node.func.id in ("Mod", "PythonMod"):
            return _remainder(left, right)
        if node.func.id in _SPELLINGS:
            return Size.symbol(f"{_SPELLINGS[node.func.id]}({left}, {right})")
    raise ValueError(ast.dump(node))


def _remainder(left: Size, right: Size) -> Size:
    if left.known is not None and right.known:
        return Size.of(left.known % right.known)
    return Size.symbol(f"({left}) % ({right})")


def _atom_at(atom: str, values: Mapping[str, int]) -> int:
    if atom in values:
        return values[atom]
    return _number(parse_expression(atom), values)


def _number(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, values)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](_number(argument, values) for argument in arguments)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _number(left, values), _number(right, values)
            if b == 0 and isinstance(op, ast.FloorDiv | ast.Mod):
                raise SizeError(f"{a} divided by zero")
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.FloorDiv():
                    return a // b
                case ast.Mod():
                    return a % b
    raise SizeError(f"no size: {ast.dump(node)}")
