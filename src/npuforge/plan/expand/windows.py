# SPDX-License-Identifier: Apache-2.0
"""Pooling: windows that slide over the last axes."""

from __future__ import annotations

from typing import Any

from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import ONE, Shape, Special, Value, results
from npuforge.plan.views import reshape
from npuforge.spec.graph import Node
from npuforge.spec.size import product

FLOATS = ("float32", "float16", "bfloat16")


def _three(node: Node, value: Any, axes: int, what: str, least: int, neutral: int) -> list[int]:
    """A setting for depth, height and width; axes that are not there get the neutral one."""
    items = [value] if isinstance(value, int) else list(value)
    if len(items) == 1:
        items *= axes
    if len(items) != axes or not all(isinstance(item, int) and item >= least for item in items):
        raise refuse(node, f"{what} {value} is not understood")
    return [neutral] * (3 - axes) + items


def _pooled(
    node: Node, x: Value, axes: int, kind: str, kernel: Any, stride: Any, padding: Any, **more: Any
) -> Value:
    if x.dtype not in FLOATS:
        raise refuse(node, f"windows over {x.dtype} are not planned")
    lead = len(x.shape) - axes
    extents = x.shape[lead:]
    results_extents = node.type.sizes[lead:]
    ones: Shape = (ONE,) * (3 - axes)
    volume = (product(x.shape[:lead]), *ones, *extents)
    shape = (product(x.shape[:lead]), *ones, *results_extents)
    data = {
        "kind": kind,
        "kernel": _three(node, kernel, axes, "kernel", 1, 1),
        "stride": _three(node, stride or kernel, axes, "stride", 1, 1),
        "padding": _three(node, padding, axes, "padding", 0, 0),
        **more,
    }
    special = Special("pool", (reshape(x, volume),), (shape,), (x.dtype,), data, node.name)
    return reshape(results(special)[0], node.type.sizes)


def _average(name: str, axes: int) -> None:
    @rule(f"aten.{name}.default")
    def average(
        node: Node,
        x: Value,
        kernel: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Value:
        return _pooled(
            node, x, axes, "avg", kernel, stride, padding,
            dilation=[1, 1, 1], ceil=ceil_mode, include=count_include_pad, divisor=divisor_override,
        )  # fmt: skip


def _largest(name: str, axes: int) -> None:
    @rule(f"aten.{name}.default")
    def largest(
        node: Node,
        x: Value,
        kernel: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> tuple[Value | None, ...]:
        spread = _three(node, dilation, axes, "dilation", 1, 1)
        value = _pooled(
            node, x, axes, "max", kernel, stride, padding, dilation=spread, ceil=ceil_mode
        )
        return value, None  # where the largest stood is not computed


def _adaptive(name: str, axes: int, kind: str) -> None:
    @rule(f"aten.{name}.default")
    def adaptive(node: Node, x: Value, size: Any) -> Value | tuple[Value | None, ...]:
        lead = len(x.shape) - axes
        kernel: list[int] = []
        for extent, out in zip(x.shape[lead:], node.type.sizes[lead:], strict=True):
            window = extent.exactly(out)
            if window is None or window.known is None:
                raise refuse(node, f"windows of {out} results over {extent} differ in size")
            kernel.append(window.known)
        value = _pooled(
            node, x, axes, kind, kernel, kernel, 0,
            dilation=[1, 1, 1], ceil=False, include=True, divisor=None,
        )  # fmt: skip
        return value if kind == "avg" else (value, None)


for _axes in (1, 2, 3):
    _average(f"avg_pool{_axes}d", _axes)
    if _axes > 1:
        _largest(f"max_pool{_axes}d_with_indices", _axes)
        _adaptive(f"_adaptive_avg_pool{_axes}d", _axes, "avg")
        _adaptive(f"adaptive_max_pool{_axes}d", _axes, "max")
