# SPDX-License-Identifier: Apache-2.0
"""What is known of whole-number expressions without running them.

Three questions: are two sizes equal for every input (`equal`), what is an expression always a
multiple of (`divisor`), and within which bounds does it lie (`bounds`). Answers are proofs; "no"
means "not proved".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

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
    rewrite,
    walk,
)

Bounds = tuple[int | None, int | None]
Monomial = tuple[Expr, ...]
Polynomial = Mapping[Monomial, int]

_UNBOUNDED: Bounds = (None, None)
# Expansion of definitions inside definitions stops here; deeper chains are left as symbols.
_EXPANSIONS = 8
_MOST_TERMS = 64
_MOST_NODES = 2000
# Whole numbers have 64 bits; a bound beyond them says nothing, and must not grow without end.
_LARGEST = 1 << 63


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of one variable."""

    bounds: Bounds = _UNBOUNDED
    divisor: int = 1
    definition: Expr | None = None


@dataclass(slots=True)
class Facts:
    """Knowledge about variables, by name and version, and about the chip."""

    known: dict[tuple[str, int], Fact] = field(default_factory=dict)
    chip: Mapping[str, int] = field(default_factory=dict)
    assumed: dict[Expr, Bounds] = field(default_factory=dict)
    _expanded: dict[Expr, Expr] = field(default_factory=dict, repr=False)

    def learn(self, name: str, version: int, value: Expr) -> None:
        """The variable equals `value`."""
        if value.type is Type.INT:
            self.known[name, version] = Fact(self.bounds(value), self.divisor(value), value)
            self._expanded.clear()

    def learn_counter(self, name: str, version: int, start: Expr, stop: Expr, step: int) -> None:
        """The variable runs from `start` to before `stop`."""
        low = self.bounds(start)[0]
        high = self.bounds(stop)[1]
        self.known[name, version] = Fact(
            (low, None if high is None else high - 1), math.gcd(self.divisor(start), step)
        )

    def assume(self, condition: Expr) -> None:
        """`condition` holds from here on: comparisons with a constant become bounds."""
        match condition:
            case Logic("and", args):
                for arg in args:
                    self.assume(arg)
            case Compare(_, left, _) if left.type is not Type.INT:
                pass
            case Compare("<=" | "<" | "==" | ">=" | ">" as op, left, right):
                strict = 1 if op in ("<", ">") else 0
                if op in (">=", ">"):
                    left, right = right, left
                # left + strict <= right
                high, low = self.bounds(right)[1], self.bounds(left)[0]
                self._narrow(left, (None, None if high is None else high - strict))
                self._narrow(right, (None if low is None else low + strict, None))
                if op == "==":
                    self._narrow(right, (None, self.bounds(left)[1]))
                    self._narrow(left, (self.bounds(right)[0], None))
            case _:
                pass

    def _narrow(self, expr: Expr, bounds: Bounds) -> None:
        if expr.type is Type.INT and not isinstance(expr, Const):
            self.assumed[expr] = _intersect(self.assumed.get(expr, _UNBOUNDED), bounds)

    # ---- equality -------------------------------------------------------------------------------
    def equal(self, left: Expr, right: Expr) -> bool:
        """Are the two equal whatever the inputs are?"""
        if left == right:
            return True
        if self._same(left, right):
            return True
        return self._same(self.expand(left), self.expand(right))

    def _same(self, left: Expr, right: Expr) -> bool:
        first, second = polynomial(left), polynomial(right)
        return first is not None and first == second

    def expand(self, expr: Expr) -> Expr:
        """Variables replaced by what defines them, as far as known."""
        if isinstance(expr, Const):
            return expr
        if expr not in self._expanded:
            wide: Expr = expr
            for _ in range(_EXPANSIONS):
                used = [d for part in walk(wide) if (d := self._definition(part)) is not None]
                if not used or sum(1 for found in used for _ in walk(found)) > _MOST_NODES:
                    break
                wide = rewrite(wide, self._definition)
            self._expanded[expr] = wide
        return self._expanded[expr]

    def _definition(self, expr: Expr) -> Expr | None:
        if isinstance(expr, Var) and (fact := self.known.get((expr.name, expr.version))):
            return fact.definition
        return None

    # ---- divisors -------------------------------------------------------------------------------
    def divisor(self, expr: Expr) -> int:
        """A number that always divides `expr`; 0 for an expression that is always zero."""
        match expr:
            case Const(value):
                return abs(int(value))
            case Var(name, _, version):
                return self.known.get((name, version), Fact()).divisor
            case Binary("+" | "-", left, right):
                return math.gcd(self.divisor(left), self.divisor(right))
            case Binary("*", left, right):
                first, second = self.divisor(left), self.divisor(right)
                product = first * second
                return product if product < _LARGEST else max(first, second)
            case Call("align_up" | "align_down", (value, Const(multiple))):
                return math.lcm(int(multiple), math.gcd(self.divisor(value), int(multiple)))
            case Call("align_up" | "align_down", (_, multiple)):
                return self.divisor(multiple)
            case Call("min" | "max", args):
                return math.gcd(*(self.divisor(arg) for arg in args))
            case Choose(_, then, orelse):
                return math.gcd(self.divisor(then), self.divisor(orelse))
            case _:
                return 1

    def multiple_of(self, expr: Expr, number: int) -> bool:
        """Is `expr` always a multiple of `number`?"""
        return self.divisor(expr) % number == 0 or self.divisor(self.expand(expr)) % number == 0

    # ---- bounds ---------------------------------------------------------------------------------
    def bounds(self, expr: Expr) -> Bounds:
        """Smallest and largest possible value; None where nothing is known."""
        low, high = self._derived_bounds(expr)
        derived = (
            None if low is None or abs(low) >= _LARGEST else low,
            None if high is None or abs(high) >= _LARGEST else high,
        )
        if not self.assumed or isinstance(expr, Const) or expr not in self.assumed:
            return derived
        return _intersect(derived, self.assumed[expr])

    def _derived_bounds(self, expr: Expr) -> Bounds:
        match expr:
            case Const(value):
                return (int(value), int(value))
            case Var(name, _, version):
                return self.known.get((name, version), Fact()).bounds
            case Shape() | Program("id"):
                return (0, None)
            case Program():
                return (1, None)
            case Chip(what):
                return (self.chip.get(what, 1), self.chip.get(what))
            case Binary("+", left, right):
                (a, b), (c, d) = self.bounds(left), self.bounds(right)
                return (_plus(a, c), _plus(b, d))
            case Binary("-", left, right):
                (a, b), (c, d) = self.bounds(left), self.bounds(right)
                return (_minus(a, d), _minus(b, c))
            case Binary("*", left, right):
                return _product(self.bounds(left), self.bounds(right))
            case Binary("//", left, right):
                return _quotient(self.bounds(left), self.bounds(right), up=False)
            case Binary("%", _, right):
                low, high = self.bounds(right)
                if low is None or low < 1:  # the result has the sign of the divisor
                    return _UNBOUNDED
                return (0, None if high is None else high - 1)
            case Call("cdiv", (left, right)):
                return _quotient(self.bounds(left), self.bounds(right), up=True)
            case Call("align_up", (value, multiple)):
                (low, high), steps = self.bounds(value), self.bounds(multiple)
                return (low, _aligned(high, steps))
            case Call("align_down", (value, _)):
                low, high = self.bounds(value)
                return (0 if low is not None and low >= 0 else None, high)
            case Call("min", args):
                lows, highs = zip(*(self.bounds(arg) for arg in args), strict=True)
                finite = [high for high in highs if high is not None]
                return (_all(lows, min), min(finite) if finite else None)
            case Call("max", args):
                lows, highs = zip(*(self.bounds(arg) for arg in args), strict=True)
                finite = [low for low in lows if low is not None]
                return (max(finite) if finite else None, _all(highs, max))
            case Choose(_, then, orelse):
                (a, b), (c, d) = self.bounds(then), self.bounds(orelse)
                return (_all((a, c), min), _all((b, d), max))
            case _:
                return _UNBOUNDED

    def at_most(self, small: Expr, large: Expr) -> bool:
        """Is `small` <= `large` whatever the inputs are?"""
        return self._at_most(small, large) or self._at_most(self.expand(small), self.expand(large))

    def _at_most(self, small: Expr, large: Expr) -> bool:
        if self._same(small, large):
            return True
        high, low = self.bounds(small)[1], self.bounds(large)[0]
        if high is not None and low is not None and high <= low:
            return True
        if isinstance(small, Call) and small.function == "min":
            return any(self._at_most(arg, large) for arg in small.args)
        if isinstance(large, Call) and large.function == "max":
            return any(self._at_most(small, arg) for arg in large.args)
        if isinstance(large, Call) and large.function == "align_up":
            return self._at_most(small, large.args[0])
        return False


def polynomial(expr: Expr) -> Polynomial | None:
    """`expr` as a sum of products of symbols; None where it grows too large."""
    match expr:
        case Const(value):
            return {(): int(value)} if value else {}
        case Binary("+" | "-" as op, left, right):
            first, second = polynomial(left), polynomial(right)
            if first is None or second is None:
                return None
            sign = 1 if op == "+" else -1
            total = dict(first)
            for term, factor in second.items():
                total[term] = total.get(term, 0) + sign * factor
            return {term: factor for term, factor in total.items() if factor}
        case Binary("*", left, right):
            first, second = polynomial(left), polynomial(right)
            if first is None or second is None or len(first) * len(second) > _MOST_TERMS:
                return None
            product: dict[Monomial, int] = {}
            for a, x in first.items():
                for b, y in second.items():
                    term = tuple(sorted(a + b, key=repr))
                    product[term] = product.get(term, 0) + x * y
            return {term: factor for term, factor in product.items() if factor}
        case Call(function, args):
            return {(Call(function, args),): 1}
        case _:
            return {(expr,): 1}


def _intersect(first: Bounds, second: Bounds) -> Bounds:
    lows = [low for low in (first[0], second[0]) if low is not None]
    highs = [high for high in (first[1], second[1]) if high is not None]
    return (max(lows) if lows else None, min(highs) if highs else None)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _minus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a - b


def _all(values: tuple[int | None, ...], pick: Callable[[Iterable[int]], int]) -> int | None:
    known = [value for value in values if value is not None]
    return pick(known) if len(known) == len(values) else None


def _product(first: Bounds, second: Bounds) -> Bounds:
    (a, b), (c, d) = first, second
    if a is not None and c is not None and a >= 0 and c >= 0:
        return (a * c, None if b is None or d is None else b * d)
    if a is None or b is None or c is None or d is None:
        return _UNBOUNDED
    corners = (a * c, a * d, b * c, b * d)
    return (min(corners), max(corners))


def _quotient(first: Bounds, second: Bounds, *, up: bool) -> Bounds:
    (a, b), (c, d) = first, second
    if a is None or a < 0 or c is None or c < 1:
        return _UNBOUNDED
    low = 0 if d is None else (-(-a // d) if up else a // d)
    if up and a > 0:
        low = max(low, 1)
    return (low, None if b is None else (-(-b // c) if up else b // c))


def _aligned(value: int | None, steps: Bounds) -> int | None:
    """Upper bound of numbers up to `value` aligned to a step within `steps`."""
    least, most = steps
    if value is None or most is None or most < 1:
        return None
    return -(-value // most) * most if least == most else value + most - 1
