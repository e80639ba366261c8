# SPDX-License-Identifier: Apache-2.0
"""Running sums and their kin."""

from __future__ import annotations

from typing import Any

from npuforge.plan.arith import apply, cast, constant, is_float
from npuforge.plan.expand.indexing import axis_back, axis_last
from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import Iota, Load, Special, Value, is_whole, results
from npuforge.plan.views import cut
from npuforge.spec.graph import Node

_EXACT = 1 << 24  # places that float32 tells apart


def _scan(node: Node, kind: str, x: Value, axis: int, *, backwards: bool = False) -> Value:
    if not is_float(node.type.dtype):
        raise refuse(node, "scans of whole numbers are not planned")
    if not x.shape:
        return cast(x, node.type.dtype)
    return _scan_of(kind, x, axis, node.type.dtype, backwards=backwards, name=node.name)


def _scan_of(
    kind: str, x: Value, axis: int, dtype: str, *, backwards: bool = False, name: str = ""
) -> Value:
    data = {"kind": kind, "axis": axis % len(x.shape), "backwards": backwards}
    return results(Special("scan", (x,), (x.shape,), (dtype,), data, name))[0]


@rule("aten.cumsum.default")
def _cumsum(node: Node, x: Value, axis: int, **_: Any) -> Value:
    return _scan(node, "cumsum", x, axis)


@rule("aten.cumprod.default")
def _cumprod(node: Node, x: Value, axis: int, **_: Any) -> Value:
    return _scan(node, "cumprod", x, axis)


@rule("aten.cummax.default")
def _cummax(node: Node, x: Value, axis: int) -> tuple[Value, Value]:
    return _extreme(node, "cummax", x, axis)


@rule("aten.cummin.default")
def _cummin(node: Node, x: Value, axis: int) -> tuple[Value, Value]:
    return _extreme(node, "cummin", x, axis)


def _extreme(node: Node, kind: str, x: Value, axis: int) -> tuple[Value, Value]:
    """Running extremes, and where each was found: the last place whose element is the extreme so
    far. From the first that is not a number on, that is the extreme."""
    values = _scan(node, kind, x, axis)
    if not x.shape:
        return values, constant(0, "int64")
    axis %= len(x.shape)
    if (x.shape[axis].known or 0) > _EXACT:
        raise refuse(node, "places in an axis that long are not planned")
    place = cast(Iota(x.shape, "int64", axis), "float32")
    new = apply("or", "bool", apply("eq", "bool", x, values), apply("isnan", "bool", x))
    found = apply("where", "float32", new, place, 0.0)
    return values, cast(_scan_of("cummax", found, axis, "float32"), "int64")


@rule("aten.logcumsumexp.default")
def _logcumsumexp(node: Node, x: Value, axis: int) -> Value:
    """Rows are combined one after the other, so a last axis comes first on the way."""
    if len(x.shape) < 2 or axis % len(x.shape) < len(x.shape) - 1:
        return _scan(node, "logcumsumexp", x, axis)
    turned = axis_back(x, 0)
    return axis_last(_scan(node, "logcumsumexp", turned, 0), 0)


@rule("aten.flip.default")
def _flip(node: Node, x: Value, axes: list[int]) -> Value:
    scan = _scanned(x)
    if scan is not None and [axis % len(x.shape) for axis in axes] == [scan.data["axis"]]:
        # The reverse of a scan is a scan from the other end of the reversed argument.
        axis = scan.data["axis"]
        turned = _reversed(scan.args[0], axis)
        return _scan(node, scan.data["kind"], turned, axis, backwards=not scan.data["backwards"])
    for axis in axes:
        x = _reversed(x, axis)
    return x


def _scanned(x: Value) -> Special | None:
    if isinstance(x, Load) and is_whole(x) and isinstance(x.tensor.producer, Special):
        producer = x.tensor.producer
        return producer if producer.op == "scan" and x.shape == x.tensor.shape else None
    return None


def _reversed(x: Value, axis: int) -> Value:
    return cut(x, axis, x.shape[axis] - 1, x.shape[axis], -1)
