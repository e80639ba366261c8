# SPDX-License-Identifier: Apache-2.0
"""What looks past the ends of an axis as simpler moves: what is padded is joined with what it is
padded with, and the mean of a window is the sum of parts that lie one further each."""

from __future__ import annotations

from typing import cast

from npuforge.generate.lm.parts.simpler_moves import LAST, join, with_axis
from npuforge.generate.lm.question.rewriting import Rewriting, lengths
from npuforge.spec.graph import Argument, Node, Ref, TensorType

_WIDEST = 16  # elements of a window


def padded(made: Rewriting, node: Node) -> bool:
    """Axis by axis: a join with a constant."""
    of, pads = node.args[:2]
    value = node.args[2] if len(node.args) > 2 else 0.0
    given = cast(list[Argument], pads)
    if not all(isinstance(one, int) and one >= 0 for one in given):
        return False
    widths = cast(list[int], given)
    rank = len(node.type.shape)
    sides = [
        (rank - 1 - place // 2, widths[place : place + 2]) for place in range(0, len(widths), 2)
    ]
    sides = [(axis, own) for axis, own in sides if own != [0, 0]]
    for number, (axis, (before, after)) in enumerate(sides):
        kind = made.kind(of)
        name = node.name if number == len(sides) - 1 else f"{node.name}_axis{number}"
        around = [
            _filled(made, f"{name}_{side}", with_axis(kind, axis, width, str(width)), value)
            for side, width in (("before", before), ("after", after))
            if width
        ]
        parts = [*around[: bool(before)], of, *around[bool(before) :]]
        extent = str(kind.sizes[axis] + before + after)
        whole = with_axis(kind, axis, kind.shape[axis] + before + after, extent)
        joined = Node(name, "aten.cat.default", [cast(Argument, parts), axis], {}, [whole])
        if not join(made, joined):
            made.put(joined)
        of = Ref(name)
    return bool(sides)


def _filled(made: Rewriting, name: str, kind: TensorType, value: Argument) -> Ref:
    return made.compute(name, "full.default", [lengths(kind), value], kind, dtype=kind.dtype)


def window_mean(made: Rewriting, node: Node) -> bool:
    """Along one axis, in steps of one element, with nothing around it."""
    usual: list[Argument] = [[], [0], False, True, None]
    of, given, *more = node.args
    steps, padding, rounded_up, _, divisor = [*more, *usual[len(more) :]]
    windows = cast(list[int], given)
    along = [place for place, width in enumerate(windows) if width != 1]
    kind = made.kind(of)
    if len(along) != 1 or any(step != 1 for step in cast(list[Argument], steps) or windows):
        return False
    if any(cast(list[int], padding)) or rounded_up or divisor is not None:
        return False
    width, axis = windows[along[0]], along[0] - len(windows)
    if width > _WIDEST or kind.dtype != "float32":
        return False
    axis %= len(kind.shape)
    total: Argument = of
    for first in range(width):
        end = LAST if first == width - 1 else first - width + 1
        part = made.compute(
            f"{node.name}_part{first}", "slice.Tensor", [of, axis, first, end], node.type
        )
        if first == 0:
            total = part
        else:
            total = made.compute(f"{node.name}_sum{first}", "add.Tensor", [total, part], node.type)
    made.compute(node.name, "div.Tensor", [total, float(width)], node.type)
    return True
