# SPDX-License-Identifier: Apache-2.0
"""Reductions, softmax and norms."""

from __future__ import annotations

import math
from typing import Any

from npuforge.plan.arith import (
    add,
    apply,
    cast,
    constant,
    count,
    div,
    is_float,
    mean,
    mul,
    power,
    reduce,
    sub,
    variance,
)
from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import ONE, ReduceKind, Value
from npuforge.plan.views import reshape
from npuforge.spec.graph import Node
from npuforge.spec.size import Size, product


def _axes(value: Value, axes: Any) -> list[int]:
    if axes is None or axes == []:
        return list(range(len(value.shape)))
    return [axes] if isinstance(axes, int) else list(axes)


@rule("aten.sum.dim_IntList", "aten.sum.default")
def _sum(node: Node, x: Value, axes: Any = None, keep: bool = False, **_: Any) -> Value:
    return reduce("sum", x, _axes(x, axes), node.type.dtype, keep=keep)


@rule("aten.mean.dim", "aten.mean.default")
def _mean(node: Node, x: Value, axes: Any = None, keep: bool = False, **_: Any) -> Value:
    return mean(x, _axes(x, axes), node.type.dtype, keep=keep)


@rule("aten.prod.dim_int", "aten.prod.default")
def _prod(node: Node, x: Value, axes: Any = None, keep: bool = False, **_: Any) -> Value:
    if not is_float(node.type.dtype):
        raise refuse(node, "products of whole numbers are not planned")
    return reduce("prod", x, _axes(x, axes), node.type.dtype, keep=keep)


_LARGEST = 3.4028234663852886e38  # of float32


def _ranked(x: Value, places: ReduceKind) -> Value:
    """What decides about the place of an extreme: PyTorch takes the first NaN, before infinities.

    So NaN stands for the infinity of that end, and the infinity itself for the last finite number.
    """
    if not is_float(x.dtype):
        return x
    end, join = (math.inf, "min") if places == "argmax" else (-math.inf, "max")
    wide = cast(x, "float32")
    within = apply(join, "float32", wide, constant(math.copysign(_LARGEST, end), "float32"))
    return apply("where", "float32", apply("isnan", "bool", wide), constant(end, "float32"), within)


def _extreme(kind: ReduceKind, places: ReduceKind) -> None:
    @rule(f"aten.{kind}.dim")
    def along(node: Node, x: Value, axis: int, keep: bool = False) -> tuple[Value, ...]:
        values = reduce(kind, x, [axis], x.dtype, keep=keep)
        return values, reduce(places, _ranked(x, places), [axis], "int64", keep=keep)

    @rule(f"aten.{kind}.default")
    def whole(node: Node, x: Value) -> Value:
        return reduce(kind, x, [], x.dtype)

    @rule(f"aten.a{kind}.default")
    def many(node: Node, x: Value, axes: Any = None, keep: bool = False) -> Value:
        return reduce(kind, x, _axes(x, axes), x.dtype, keep=keep)

    @rule(f"aten.{places}.default")
    def place(node: Node, x: Value, axis: int | None = None, keep: bool = False) -> Value:
        if axis is None:
            x, axis = reshape(x, (product(x.shape),)), 0
        return reduce(places, _ranked(x, places), [axis], "int64", keep=keep)


_extreme("max", "argmax")
_extreme("min", "argmin")


@rule("aten.any.dim", "aten.any.dims", "aten.any.default")
def _any(node: Node, x: Value, axes: Any = None, keep: bool = False) -> Value:
    truth = x if x.dtype == "bool" else apply("ne", "bool", x, constant(0, x.dtype))
    most = reduce("max", cast(truth, "float32"), _axes(x, axes), "float32", keep=keep)
    return apply("ne", "bool", most, constant(0.0, "float32"))


@rule("aten.all.dim", "aten.all.dims", "aten.all.default")
def _all(node: Node, x: Value, axes: Any = None, keep: bool = False) -> Value:
    truth = x if x.dtype == "bool" else apply("ne", "bool", x, constant(0, x.dtype))
    least = reduce("min", cast(truth, "float32"), _axes(x, axes), "float32", keep=keep)
    return apply("ne", "bool", least, constant(0.0, "float32"))


@rule("aten.linalg_vector_norm.default")
def _vector_norm(
    node: Node,
    x: Value,
    order: float = 2,
    axes: Any = None,
    keep: bool = False,
    **_: Any,
) -> Value:
    dtype = node.type.dtype
    chosen = _axes(x, axes)
    size = apply("abs", dtype, x)
    if order == 2:
        return apply("sqrt", dtype, reduce("sum", mul(x, x, dtype), chosen, dtype, keep=keep))
    if order == 1:
        return reduce("sum", size, chosen, dtype, keep=keep)
    if math.isinf(order):
        return reduce("max" if order > 0 else "min", size, chosen, dtype, keep=keep)
    if order == 0:
        marks = cast(apply("ne", "bool", x, constant(0.0, x.dtype)), dtype)
        return reduce("sum", marks, chosen, dtype, keep=keep)
    total = reduce("sum", power(size, float(order), dtype), chosen, dtype, keep=keep)
    return power(total, 1.0 / order, dtype)


@rule("aten.var.correction", "aten.var.dim")
def _var(
    node: Node,
    x: Value,
    axes: Any = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Value:
    unbiased = 1 if correction is None else correction
    return variance(x, _axes(x, axes), node.type.dtype, correction=unbiased, keep=keepdim)


@rule("aten.var_mean.correction")
def _var_mean(
    node: Node,
    x: Value,
    axes: Any = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Value, Value]:
    dtype = node.type.dtype
    unbiased = 1 if correction is None else correction
    chosen = _axes(x, axes)
    return (
        variance(x, chosen, dtype, correction=unbiased, keep=keepdim),
        mean(x, chosen, dtype, keep=keepdim),
    )


@rule("aten._softmax.default")
def _softmax(node: Node, x: Value, axis: int, half: bool = False) -> Value:
    dtype = node.type.dtype
    peak = reduce("max", x, [axis], dtype, keep=True)
    total = reduce("sumexp", x, [axis], dtype, keep=True)
    return apply("div", dtype, apply("exp", dtype, apply("sub", dtype, x, peak)), total)


@rule("aten._log_softmax.default")
def _log_softmax(node: Node, x: Value, axis: int, half: bool = False) -> Value:
    dtype = node.type.dtype
    peak = reduce("max", x, [axis], dtype, keep=True)
    total = reduce("sumexp", x, [axis], dtype, keep=True)
    return apply("sub", dtype, apply("sub", dtype, x, peak), apply("log", dtype, total))


@rule("aten.logsumexp.default")
def _logsumexp(node: Node, x: Value, axes: Any, keep: bool = False) -> Value:
    dtype = node.type.dtype
    peak = reduce("max", x, _axes(x, axes), dtype, keep=keep)
    total = reduce("sumexp", x, _axes(x, axes), dtype, keep=keep)
    return add(peak, apply("log", dtype, total), dtype)


def _normalized(x: Value, axes: list[int], eps: float, dtype: str) -> tuple[Value, Value, Value]:
    """The values around their mean in units of their spread, the mean, one over the spread."""
    middle = mean(x, axes, dtype, keep=True)
    spread = apply("sqrt", dtype, add(variance(x, axes, dtype, keep=True), eps, dtype))
    inverse = apply("div", dtype, 1.0, spread)
    return mul(sub(x, middle, dtype), inverse, dtype), middle, inverse


def _affine(value: Value, weight: Value | None, bias: Value | None, dtype: str) -> Value:
    if weight is not None:
        value = mul(value, weight, dtype)
    return value if bias is None else add(value, bias, dtype)


@rule("aten.native_layer_norm.default")
def _layer_norm(
    node: Node,
    x: Value,
    shape: list[Any],
    weight: Value | None,
    bias: Value | None,
    eps: float,
) -> tuple[Value, Value, Value]:
    dtype = node.type.dtype
    axes = list(range(len(x.shape) - len(shape), len(x.shape)))
    result, middle, inverse = _normalized(x, axes, eps, dtype)
    return _affine(result, weight, bias, dtype), middle, inverse


@rule("aten._fused_rms_norm.default")
def _rms_norm(
    node: Node, x: Value, shape: list[Any], weight: Value | None, eps: float | None
) -> tuple[Value, Value]:
    dtype = node.type.dtype
    axes = list(range(len(x.shape) - len(shape), len(x.shape)))
    square = mean(mul(x, x, dtype), axes, dtype, keep=True)
    inverse = apply(
        "div", dtype, 1.0, apply("sqrt", dtype, add(square, eps or 1.1920929e-07, dtype))
    )
    return _affine(mul(x, inverse, dtype), weight, None, dtype), inverse


@rule("aten.native_group_norm.default")
def _group_norm(
    node: Node,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    batch: Any,
    channels: Any,
    area: Any,
    groups: int,
    eps: float,
) -> tuple[Value, Value, Value]:
    dtype = node.type.dtype
    each = Size.of(channels) // groups
    shape = (Size.of(batch), Size.of(groups), each, Size.of(area))
    grouped = reshape(x, shape)
    result, middle, inverse = _normalized(grouped, [2, 3], eps, dtype)

    def by_channel(value: Value | None) -> Value | None:
        return None if value is None else reshape(value, (Size.of(groups), each, ONE))

    result = _affine(result, by_channel(weight), by_channel(bias), dtype)
    statistics = (Size.of(batch), Size.of(groups))
    return (
        reshape(result, x.shape),
        reshape(middle, statistics),
        reshape(inverse, statistics),
    )


def _by_channel(value: Value, rank: int) -> Value:
    """A value per channel (axis 1) as it stands beside a batch of images."""
    return reshape(value, (*value.shape, *(ONE,) * (rank - 2)))


def _batch_norm(
    x: Value,
    weight: Value | None,
    bias: Value | None,
    statistics: tuple[Value, Value] | None,
    eps: float,
    dtype: str,
) -> tuple[Value, Value, Value]:
    """Normalized, mean and one over the spread, by channel; `statistics` are given mean and
    variance, else those of the batch are taken."""
    rank = len(x.shape)
    axes = [0, *range(2, rank)]
    if statistics is None:
        middle, spread = mean(x, axes, dtype), variance(x, axes, dtype)
    else:
        middle, spread = statistics
    inverse = apply("div", dtype, 1.0, apply("sqrt", dtype, add(spread, eps, dtype)))
    around = sub(x, _by_channel(middle, rank), dtype)
    # Scale and inverse spread are combined once per channel, not once per element.
    scale = inverse if weight is None else mul(weight, inverse, dtype)
    result = mul(around, _by_channel(scale, rank), dtype)
    if bias is not None:
        result = add(result, _by_channel(bias, rank), dtype)
    return result, middle, inverse


@rule("aten._native_batch_norm_legit_functional.default")
def _batch_norm_functional(
    node: Node,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Value, ...]:
    dtype = node.type.dtype
    if not training:
        given = (running_mean, running_var)
        result, middle, inverse = _batch_norm(x, weight, bias, given, eps, dtype)
        return result, middle, inverse, running_mean, running_var
    result, middle, inverse = _batch_norm(x, weight, bias, None, eps, dtype)
    axes = [0, *range(2, len(x.shape))]
    squares = reduce("squares", x, axes, dtype)
    unbiased = div(squares, constant(count(x, axes) - 1, dtype), dtype)

    def moved(old: Value, new: Value) -> Value:
        return add(mul(old, 1.0 - momentum, dtype), mul(new, momentum, dtype), dtype)

    return result, middle, inverse, moved(running_mean, middle), moved(running_var, unbiased)


@rule("aten._native_batch_norm_legit.no_stats")
def _batch_norm_no_stats(
    node: Node,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Value, ...]:
    return _batch_norm(x, weight, bias, None, eps, node.type.dtype)


@rule("aten._native_batch_norm_legit_no_training.default")
def _batch_norm_no_training(
    node: Node,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> tuple[Value, ...]:
    return _batch_norm(x, weight, bias, (running_mean, running_var), eps, node.type.dtype)
