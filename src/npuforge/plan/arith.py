# SPDX-License-Identifier: Apache-2.0
"""Building blocks of expansions: maps with repetition, reductions over any axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from npuforge.plan.values import Constant, Map, Reduce, ReduceKind, Value
from npuforge.plan.views import broadcast_shape, lift, permute, unsqueeze
from npuforge.spec.size import Size, product

Number = float | int | bool
Operand = Value | Number | Size

FLOATS = ("float32", "float16", "bfloat16", "float64")


def is_float(dtype: str) -> bool:
    return dtype in FLOATS


def constant(number: Number | Size, dtype: str) -> Constant:
    return Constant((), dtype, number)


def as_value(operand: Operand, dtype: str) -> Value:
    return operand if isinstance(operand, Value) else constant(operand, dtype)


def apply(op: str, dtype: str, *operands: Operand) -> Value:
    """An operation on each element; numbers become constants."""
    args = tuple(as_value(operand, dtype) for operand in operands)
    shape = broadcast_shape([arg.shape for arg in args])
    return Map(shape, dtype, op, tuple(lift(arg, len(shape)) for arg in args))


def cast(value: Value, dtype: str) -> Value:
    """The value as another type, as a tensor of that type would hold it."""
    if value.dtype == dtype:
        return value
    if isinstance(value, Constant):
        return replace(value, dtype=dtype)
    return Map(value.shape, dtype, "cast", (value,))


def add(a: Operand, b: Operand, dtype: str) -> Value:
    return _folded("add", a, b, dtype, neutral=0)


def sub(a: Operand, b: Operand, dtype: str) -> Value:
    if _number(b) == 0 and isinstance(a, Value):
        return cast(a, dtype)
    return apply("sub", dtype, a, b)


def mul(a: Operand, b: Operand, dtype: str) -> Value:
    return _folded("mul", a, b, dtype, neutral=1)


def div(a: Operand, b: Operand, dtype: str) -> Value:
    """True division."""
    if _number(b) == 1 and isinstance(a, Value):
        return cast(a, dtype)
    return apply("div", dtype, a, b)


def power(base: Value, exponent: float, dtype: str) -> Value:
    """A constant power; small whole ones and roots without logarithms."""
    if exponent == 0:
        return constant(1, dtype)
    if exponent == 1:
        return cast(base, dtype)
    if exponent < 0 and exponent != -0.5:
        return apply("div", dtype, 1.0, power(base, -exponent, dtype))
    if exponent == 0.5:
        return apply("sqrt", dtype, base)
    if exponent == -0.5:
        return apply("div", dtype, 1.0, apply("sqrt", dtype, base))
    if exponent.is_integer() and exponent <= 8:
        half = power(base, float(exponent // 2), dtype)
        square = apply("mul", dtype, half, half)
        return square if exponent % 2 == 0 else apply("mul", dtype, square, base)
    return apply("pow", dtype, base, exponent)


def reduce(
    kind: ReduceKind, value: Value, axes: Sequence[int], dtype: str, *, keep: bool = False
) -> Value:
    """Fold these axes (all, where none are named)."""
    rank = len(value.shape)
    folded = sorted({axis % rank for axis in axes}) if axes else list(range(rank))
    kept = [axis for axis in range(rank) if axis not in folded]
    moved = permute(value, [*kept, *folded])
    result: Value = Reduce(tuple(value.shape[axis] for axis in kept), dtype, kind, moved)
    if keep:
        for axis in folded:
            result = unsqueeze(result, axis)
    return result


def count(value: Value, axes: Sequence[int]) -> Size:
    """How many elements a reduction over these axes folds into one."""
    chosen = axes or range(len(value.shape))
    return product([value.shape[axis] for axis in chosen])


def mean(value: Value, axes: Sequence[int], dtype: str, *, keep: bool = False) -> Value:
    total = reduce("sum", value, axes, dtype, keep=keep)
    return apply("div", dtype, total, constant(count(value, axes), dtype))


def variance(
    value: Value, axes: Sequence[int], dtype: str, *, correction: float = 0, keep: bool = False
) -> Value:
    squares = reduce("squares", value, axes, dtype, keep=keep)
    number = count(value, axes)
    if correction:
        return apply("div", dtype, squares, constant(number - int(correction), dtype))
    return apply("div", dtype, squares, constant(number, dtype))


def _number(operand: Operand) -> float | None:
    if isinstance(operand, Constant):
        operand = operand.number
    if isinstance(operand, Size):
        operand = operand.known if operand.known is not None else math.nan
        return None if math.isnan(operand) else float(operand)
    return None if isinstance(operand, Value) else float(operand)


def _folded(op: str, a: Operand, b: Operand, dtype: str, neutral: int) -> Value:
    if _number(b) == neutral and isinstance(a, Value):
        return cast(a, dtype)
    if _number(a) == neutral and isinstance(b, Value):
        return cast(b, dtype)
    return apply(op, dtype, a, b)
