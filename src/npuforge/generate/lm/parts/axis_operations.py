# SPDX-License-Identifier: Apache-2.0
"""Operations that name axes: which ones, and where among their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from npuforge.spec.graph import Argument, Node, Ref

SLICE = "slice.Tensor"
FOLDED_AT: Mapping[str, int] = {
    "sum.dim_IntList": 1,
    "sum.default": -1,
    "mean.dim": 1,
    "mean.default": -1,
    "amax.default": 1,
    "amin.default": 1,
    "prod.dim_int": 1,
    "any.dim": 1,
    "all.dim": 1,
    "var.correction": 1,
    "var_mean.correction": 1,
    "linalg_vector_norm.default": 2,
}
FROM_FIRST = ("select.int", SLICE, "cat.default", "index_select.default")
SCANS = ("cumsum.default", "cumprod.default", "_softmax.default", "_log_softmax.default")
LOOKS = (
    "unsqueeze.default",
    "squeeze.dims",
    "squeeze.dim",
    "clone.default",
    "alias.default",
)


def axis_of(node: Node, place: int, usual: int) -> int | None:
    axis = node.args[place] if len(node.args) > place else usual
    return axis if isinstance(axis, int) and not node.kwargs.keys() & {"dim"} else None


def several(argument: Argument) -> list[Argument]:
    return cast(list[Argument], argument) if isinstance(argument, list) else [argument]


def folded(node: Node) -> list[int]:
    """The axes that a fold is over; none where it is over all."""
    place = FOLDED_AT[node.op.removeprefix("aten.")]
    given = node.args[place] if 0 <= place < len(node.args) else None
    return [axis for axis in several(given) if isinstance(axis, int)]


def taken_by(node: Node) -> tuple[int, Ref | None]:
    """The axis and the places; none where there are several axes."""
    places = [(a, one) for a, one in enumerate(several(node.args[1])) if one is not None]
    axis, by = places[0]
    return axis, by if len(places) == 1 and isinstance(by, Ref) else None
