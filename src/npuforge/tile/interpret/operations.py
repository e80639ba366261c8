# SPDX-License-Identifier: Apache-2.0
"""What each operation computes.

Floats are computed in float32 or better and rounded to the element type once for each operation;
whole numbers wrap around. Sums, products and scans are rounded only at the end, so the device may
differ from them by the rounding of its own order of summation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from npuforge.dtypes import AnyArray, DType, find
from npuforge.tile.expr import Number
from npuforge.tile.interpret.cast import cast
from npuforge.tile.interpret.failure import failure
from npuforge.tile.interpret.rearrange import REARRANGEMENTS
from npuforge.tile.interpret.reductions import REDUCTIONS
from npuforge.tile.interpret.request import Request, Values
from npuforge.tile.ir import Op, View

_FLOAT32 = find("float32")


def apply(
    op: Op, operands: tuple[AnyArray | Number, ...], shapes: tuple[tuple[int, ...], ...]
) -> Values:
    """The values of the results of `op`, in the storage form of their types."""
    return MEANINGS[op.name](Request(op, operands, shapes))


# ---- element by element -------------------------------------------------------------------------
def _elementwise(function: Callable[..., AnyArray]) -> Callable[[Request], Values]:
    """Numbers of any type in, the element type of the result out."""

    def computed(request: Request) -> Values:
        dtype = request.dtype
        numbers = [request.numbers(index) for index in range(len(request.operands))]
        result = np.broadcast_to(function(*numbers), request.shapes[0])
        if dtype.kind == "float":
            return (cast(result.astype(np.float32), _FLOAT32, dtype, "none"),)
        return (result.astype(dtype.array_type),)

    return computed


def _precise(function: Callable[..., Any]) -> Callable[..., AnyArray]:
    """`function` computed in float64, which float32 cannot tell from exact."""

    def computed(*values: AnyArray) -> AnyArray:
        return np.asarray(function(*(value.astype(np.float64) for value in values)), np.float64)

    return computed


def _relu(x: AnyArray) -> AnyArray:
    return np.maximum(x, np.zeros((), x.dtype))


_erf = np.frompyfunc(math.erf, 1, 1)


def _leaky(x: AnyArray, slope: AnyArray) -> AnyArray:
    return np.where(x >= 0, x, x * slope)


_ELEMENTWISE: Mapping[str, Callable[..., AnyArray]] = {
    "exp": _precise(np.exp),
    "log": _precise(np.log),
    "abs": np.abs,
    "sqrt": np.sqrt,
    "rsqrt": _precise(lambda x: 1 / np.sqrt(x)),
    "reciprocal": lambda x: np.float32(1) / x,
    "relu": _relu,
    "neg": np.negative,
    "bit_not": np.invert,
    "tanh": _precise(np.tanh),
    "sigmoid": _precise(lambda x: 1 / (1 + np.exp(-x))),
    "erf": _precise(lambda x: np.asarray(_erf(x), np.float64)),
    "sin": _precise(np.sin),
    "cos": _precise(np.cos),
    "tan": _precise(np.tan),
    "asin": _precise(np.arcsin),
    "acos": _precise(np.arccos),
    "atan": _precise(np.arctan),
    "sinh": _precise(np.sinh),
    "cosh": _precise(np.cosh),
    "log1p": _precise(np.log1p),
    "expm1": _precise(np.expm1),
    "log2": _precise(np.log2),
    "log10": _precise(np.log10),
    "exp2": _precise(np.exp2),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "sign": np.sign,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "pow": _precise(np.power),
    "floor_mod": _precise(np.mod),
    "leaky_relu": _leaky,
    # Product and sum are rounded together.
    "axpy": _precise(lambda dst, src, scale: dst + src * scale),
    "mul_add": _precise(lambda dst, a, b: dst + a * b),
}


# ---- with an attribute or another type ----------------------------------------------------------
def _fill(request: Request) -> Values:
    return (np.broadcast_to(request.element(0), request.shapes[0]),)


def _copy(request: Request) -> Values:
    return (request.array(0).copy(),)


def _cast(request: Request) -> Values:
    source = request.op.ins[0]
    assert isinstance(source, View)
    assert source.buffer.dtype is not None
    mode = str(request.op.attrs["round"])
    return (cast(request.array(0), source.buffer.dtype, request.dtype, mode),)


def _broadcast(request: Request) -> Values:
    return (np.broadcast_to(request.array(0), request.shapes[0]).copy(),)


def _iota(request: Request) -> Values:
    steps = np.arange(request.shapes[0][0])
    start, step = request.numbers(0), request.numbers(1)
    if request.dtype.kind == "float":
        return (start + steps.astype(np.float32) * step,)
    return (start + steps.astype(request.dtype.array_type) * step,)


def _insert(request: Request) -> Values:
    return (request.element(0),)


def _shift(request: Request) -> tuple[AnyArray, int, DType]:
    dtype = request.dtype
    count = request.operands[1]
    assert isinstance(count, int)
    if not 0 <= count <= dtype.bits:
        raise failure("TL-04", request.op.span, f"a shift of {dtype.name} by {count} bits")
    return request.array(0).astype(np.int64), count, dtype


def _shift_left(request: Request) -> Values:
    """A signed number keeps its sign bit."""
    values, count, dtype = _shift(request)
    moved = values << count
    if dtype.kind == "int":
        sign = 1 << (dtype.bits - 1)
        moved = (moved & (sign - 1)) | (values & sign)
    return (moved.astype(dtype.array_type),)


def _shift_right(request: Request) -> Values:
    values, count, dtype = _shift(request)
    return ((values >> count).astype(dtype.array_type),)


_COMPARISONS: Mapping[str, Callable[[AnyArray, AnyArray], AnyArray]] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def _compare(request: Request) -> Values:
    compare = _COMPARISONS[str(request.op.attrs["op"])]
    return (compare(request.array(0), request.like(1, 0)),)


def _select(request: Request) -> Values:
    return (np.where(request.array(0), request.element(1), request.element(2)),)


_SPECIAL: Mapping[str, Callable[[Request], Values]] = {
    "fill": _fill,
    "copy": _copy,
    "cast": _cast,
    "broadcast": _broadcast,
    "iota": _iota,
    "insert_scalar": _insert,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "compare": _compare,
    "select": _select,
    "mask_and": lambda request: (request.array(0) & request.array(1),),
    "mask_or": lambda request: (request.array(0) | request.array(1),),
    "mask_not": lambda request: (~request.array(0),),
    "mask_from_bool": lambda request: (request.array(0) != 0,),
    "bool_from_mask": lambda request: (request.array(0).astype(request.dtype.array_type),),
    "is_nan": lambda request: (np.isnan(request.array(0)),),
    "is_inf": lambda request: (np.isinf(request.array(0)),),
}

MEANINGS: Mapping[str, Callable[[Request], Values]] = {
    **{name: _elementwise(function) for name, function in _ELEMENTWISE.items()},
    **_SPECIAL,
    **REDUCTIONS,
    **REARRANGEMENTS,
}
