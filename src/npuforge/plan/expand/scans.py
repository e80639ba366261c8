# SPDX-License-Identifier: Apache-2.0
"""Running sums and their kin."""

from __future__ import annotations

from typing import Any

from npuforge.plan.arith import cast, is_float
from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import Load, Special, Value, is_whole, results
from npuforge.plan.views import cut
from npuforge.spec.graph import Node


def _scan(node: Node, kind: str, x: Value, axis: int, *, backwards: bool = False) -> Value:
    if not is_float(node.type.dtype):
        raise refuse(node, "scans of whole numbers are not planned")
    if not x.shape:
        return cast(x, node.type.dtype)
    data = {"kind": kind, "axis": axis % len(x.shape), "backwards": backwards}
    special = Special("scan", (x,), (x.shape,), (node.type.dtype,), data, node.name)
    return results(special)[0]


@rule("aten.cumsum.default")
def _cumsum(node: Node, x: Value, axis: int, **_: Any) -> Value:
    return _scan(node, "cumsum", x, axis)


@rule("aten.cumprod.default")
def _cumprod(node: Node, x: Value, axis: int, **_: Any) -> Value:
    return _scan(node, "cumprod", x, axis)


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
