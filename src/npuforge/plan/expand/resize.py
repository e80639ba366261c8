# SPDX-License-Identifier: Apache-2.0
"""Resizing, and sampling at places that a grid gives."""

from __future__ import annotations

from typing import Any

from npuforge.plan.expand.rules import refuse, rule
from npuforge.plan.values import ONE, Shape, Special, Value, results
from npuforge.plan.views import reshape
from npuforge.spec.graph import Node
from npuforge.spec.size import product

FLOATS = ("float32", "float16", "bfloat16")


def _resized(
    node: Node, x: Value, kind: str, scales: list[float | None], align: bool = False
) -> Value:
    """`scales` are the factors that were asked for, one for each resized axis."""
    if x.dtype not in FLOATS:
        raise refuse(node, f"resizing of {x.dtype} is not planned")
    axes = len(scales)
    lead = len(x.shape) - axes
    planes = product(x.shape[:lead])
    ones: Shape = (ONE,) * (3 - axes)
    source = (planes, *ones, *x.shape[lead:])
    shape = (planes, *ones, *node.type.sizes[lead:])
    factors = [None] * (3 - axes) + scales
    data = {"kind": kind, "scales": factors, "align": align, "axes": axes}
    special = Special("resize", (reshape(x, source),), (shape,), (x.dtype,), data, node.name)
    return reshape(results(special)[0], node.type.sizes)


def _nearest(name: str, axes: int, kind: str) -> None:
    @rule(f"aten.{name}.vec")
    def with_factors(node: Node, x: Value, size: Any = None, scales: Any = None) -> Value:
        return _resized(node, x, kind, list(scales or [None] * axes))

    @rule(f"aten.{name}.default")
    def plain(node: Node, x: Value, size: Any, *scales: float | None, **named: Any) -> Value:
        return _resized(node, x, kind, _each(scales, named, axes))


def _each(scales: tuple[float | None, ...], named: dict[str, Any], axes: int) -> list[float | None]:
    """Factors given one by one, by place or by name."""
    found: list[float | None] = [*scales, *([None] * (axes - len(scales)))]
    letters = ("d", "h", "w")[3 - axes :]
    for place, letter in enumerate(letters):
        found[place] = named.get(f"scales_{letter}", named.get("scales", found[place]))
    return found


def _smooth(name: str, axes: int, kind: str) -> None:
    @rule(f"aten.{name}.vec")
    def with_factors(
        node: Node, x: Value, size: Any, align_corners: bool, scale_factors: Any = None
    ) -> Value:
        return _resized(node, x, kind, list(scale_factors or [None] * axes), align_corners)

    @rule(f"aten.{name}.default")
    def plain(
        node: Node, x: Value, size: Any, align_corners: bool, *scales: float | None, **named: Any
    ) -> Value:
        return _resized(node, x, kind, _each(scales, named, axes), align_corners)


for _axes in (1, 2, 3):
    _nearest(f"upsample_nearest{_axes}d", _axes, "nearest")
    _nearest(f"_upsample_nearest_exact{_axes}d", _axes, "nearest_exact")
for _name, _axes in (("linear1d", 1), ("bilinear2d", 2), ("trilinear3d", 3)):
    _smooth(f"upsample_{_name}", _axes, "linear")
_smooth("upsample_bicubic2d", 2, "cubic")
_smooth("_upsample_bilinear2d_aa", 2, "antialias")


@rule("aten.affine_grid_generator.default")
def _affine_grid(node: Node, theta: Value, size: Any, align_corners: bool) -> Value:
    if theta.dtype != "float32" or len(size) != 4:
        raise refuse(node, "grids are planned for images, in float32")
    shape = node.type.sizes
    special = Special(
        "affine_grid", (theta,), (shape,), (theta.dtype,), {"align": align_corners}, node.name
    )
    return results(special)[0]


_MODES = ("bilinear", "nearest")
_PADDINGS = ("zeros", "border", "reflection")


@rule("aten.grid_sampler_2d.default", "aten.grid_sampler.default")
def _grid_sampler(
    node: Node, x: Value, grid: Value, mode: int, padding: int, align_corners: bool
) -> Value:
    if x.dtype != "float32" or len(x.shape) != 4:
        raise refuse(node, "sampling is planned for images, in float32")
    if mode >= len(_MODES):
        raise refuse(node, "bicubic sampling is not planned")
    data = {"mode": _MODES[mode], "padding": _PADDINGS[padding], "align": align_corners}
    shape = node.type.sizes
    special = Special("grid_sample", (x, grid), (shape,), (x.dtype,), data, node.name)
    return results(special)[0]
