# SPDX-License-Identifier: Apache-2.0
"""Folds as simpler ones: over the last axes, of one thing at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

from npuforge.generate.lm.question.rewriting import Rewriting, lengths
from npuforge.spec.graph import Argument, Node, Ref, TensorType
from npuforge.spec.size import product

_TURNED = 3  # axes of what is turned before it is folded


def softmax(made: Rewriting, node: Node) -> bool:
    """What is left of the largest, and the sum of its powers: their quotient, or its logarithm."""
    of, axis, _ = node.args
    kind = made.kind(of)
    if kind != node.type or not isinstance(axis, int) or kind.dtype != "float32":
        return False
    name = node.name
    most = _folded(made, f"{name}_max", "amax.default", of, axis)
    shifted = made.compute(f"{name}_shifted", "sub.Tensor", [of, most], kind)
    powers = made.compute(f"{name}_exp", "exp.default", [shifted], kind)
    total = _folded(made, f"{name}_sum", "sum.dim_IntList", powers, axis)
    if node.word == "_softmax":
        made.compute(name, "div.Tensor", [powers, total], kind)
    else:
        logarithm = made.compute(f"{name}_log", "log.default", [total], made.kind(total))
        made.compute(name, "sub.Tensor", [shifted, logarithm], kind)
    return True


def _folded(made: Rewriting, name: str, op: str, of: Argument, axis: int) -> Ref:
    """Along an axis that stays, with one element."""
    kind = made.kind(of)
    axis %= len(kind.shape)
    shape = (*kind.shape[:axis], 1, *kind.shape[axis + 1 :])
    extents = (*kind.extents[:axis], "1", *kind.extents[axis + 1 :])
    folded = replace(kind, shape=shape, extents=extents)
    return made.compute(name, op, [of, [axis - len(kind.shape)], True], folded)


def var_mean(made: Rewriting, node: Node) -> bool:
    """The mean, and the mean of the squares of what is left of it; another spread and the mean,
    each by itself."""
    of, axes = node.args[0], node.args[1] if len(node.args) > 1 else None
    kind = made.kind(of)
    if not isinstance(axes, list) or kind.dtype != "float32" or not axes:
        return turned_fold(made, node)
    name, folded = node.name, next(one for one in node.types if one is not None)
    if node.kwargs.get("correction") != 0 or node.kwargs.get("keepdim") is not True:
        keeps = node.kwargs.get("keepdim") is True
        spread = Node(f"{name}_var", "aten.var.correction", [of, axes], node.kwargs, [folded])
        mean = Node(f"{name}_mean", "aten.mean.dim", [of, axes, keeps], {}, [folded])
        for one in (spread, mean):
            if not turned_fold(made, one):
                made.put(one)
        made.several[name] = [made.names.get(one.name, one.name) for one in (spread, mean)]
        return True
    mean = Node(f"{name}_mean", "aten.mean.dim", [of, axes, True], {}, [folded])
    if not turned_fold(made, mean):
        made.put(mean)
    left = made.compute(f"{name}_left", "sub.Tensor", [of, Ref(mean.name)], kind)
    squares = made.compute(f"{name}_squares", "mul.Tensor", [left, left], kind)
    spread = Node(f"{name}_var", "aten.mean.dim", [squares, axes, True], {}, [folded])
    made.several[name] = [spread.name, mean.name]
    if not turned_fold(made, spread):
        made.put(spread)
    return True


def item(made: Rewriting, node: Node) -> bool:
    """Of something that is not computed at once any more."""
    of, place = node.args[0], node.args[1]
    several = made.several.get(of.ref) if isinstance(of, Ref) else None
    if several is None or not isinstance(place, int):
        return False
    made.names[node.name] = several[place]
    return True


def turned_fold(made: Rewriting, node: Node) -> bool:
    """Over axes that are not the last: over the last, of what is turned."""
    of, axes, *more = [*node.args, None][: max(2, len(node.args))]
    kind = made.kind(of)
    rank = len(kind.shape)
    if not isinstance(axes, list) or not axes or rank < _TURNED:
        return False
    gone = sorted(cast(int, axis) % rank for axis in axes)
    kept = [axis for axis in range(rank) if axis not in gone]
    real = [axis for axis in range(rank) if kind.extents[axis] != "1"]
    folded = [axis for axis in real if axis in gone]
    if folded in (real[: len(folded)], real[len(real) - len(folded) :]):
        return False
    now = _turned(made, f"{node.name}_turned", of, [*kept, *gone])
    turned = made.kind(now)
    shape, extents = turned.shape[: len(kept)], turned.extents[: len(kept)]
    types = [TensorType(shape, (own or node.type).dtype, extents) for own in node.types]
    named = {key: given for key, given in node.kwargs.items() if key != "keepdim"}
    args: list[Argument] = [now, list(range(len(kept), rank))]
    if more[:1] != [True] and node.kwargs.get("keepdim") is not True:
        made.put(replace(node, args=args, kwargs=named, types=list(types)))
        return True
    name = f"{node.name}_folded"
    found = Ref(made.put(Node(name, node.op, args, named, list(types))))
    if len(types) == 1:
        _with_ones(made, node.name, found, node.type)
        return True
    several: list[str] = []
    for place, (one, own) in enumerate(zip(types, node.types, strict=True)):
        if own is not None:
            part = Ref(made.put(Node(f"{name}_{place}", "getitem", [found, place], {}, [one])))
            several.append(_with_ones(made, f"{node.name}_{place}", part, own).ref)
    made.several[node.name] = several
    return True


def _turned(made: Rewriting, name: str, of: Argument, order: list[int]) -> Ref:
    """With axes in another order."""
    kind = made.kind(of)
    turned = replace(
        kind,
        shape=tuple(kind.shape[axis] for axis in order),
        extents=tuple(kind.extents[axis] for axis in order),
    )
    return made.compute(name, "permute.default", [of, cast(Argument, order)], turned)


def _with_ones(made: Rewriting, name: str, of: Ref, kind: TensorType) -> Ref:
    """With axes of one element where some are missing."""
    return made.compute(name, "view.default", [of, lengths(kind)], kind)


def turned_back_scan(made: Rewriting, node: Node) -> bool:
    """Along the last of two axes or more: along the first, of what is turned, and turned back."""
    of, axis = node.args[0], node.args[1]
    kind = made.kind(of)
    last = len(kind.shape) - 1
    if not isinstance(axis, int) or last < 1 or axis % (last + 1) != last or kind != node.type:
        return False
    now = _turned(made, f"{node.name}_turned", of, [last, *range(last)])
    scanned = made.compute(
        f"{node.name}_scanned", node.op.removeprefix("aten."), [now, 0], made.kind(now)
    )
    _turned(made, node.name, scanned, [*range(1, last + 1), 0])
    return True


def group_norm(made: Rewriting, node: Node) -> bool:
    """A norm of the rows that groups are, and what each channel is scaled and moved by."""
    of, weight, bias, _, _, _, groups, eps = node.args
    kind, several = made.kind(of), [place for name, place in made.items if name == node.name]
    if kind.dtype != "float32" or several != [0] or not isinstance(groups, int):
        return False
    name, count, sizes = node.name, kind.shape[0], kind.sizes
    rest = product(sizes[1:]).exactly(groups)
    if rest is None:
        return False
    shape = (count, groups, math.prod(kind.shape[1:]) // groups)
    rows = TensorType(shape, kind.dtype, (str(sizes[0]), str(groups), str(rest)))
    one = replace(rows, shape=(*shape[:2], 1), extents=(*rows.extents[:2], "1"))
    seen = made.compute(f"{name}_rows", "view.default", [of, lengths(rows)], rows)
    both = Node(
        f"{name}_both",
        "aten.var_mean.correction",
        [seen, [-1]],
        {"correction": 0, "keepdim": True},
        [one, one],
    )
    var_mean(made, both)
    spread, mean = map(Ref, made.several[both.name])
    left = made.compute(f"{name}_left", "sub.Tensor", [seen, mean], rows)
    more = made.compute(f"{name}_more", "add.Tensor", [spread, eps], one)
    root = made.compute(f"{name}_root", "rsqrt.default", [more], one)
    normal = made.compute(f"{name}_normal", "mul.Tensor", [left, root], rows)
    now = made.compute(f"{name}_seen", "view.default", [normal, lengths(kind)], kind)
    for what, op, by in (("scaled", "mul.Tensor", weight), ("moved", "add.Tensor", bias)):
        if isinstance(by, Ref):
            own = made.kind(by)
            axes = replace(
                own,
                shape=(*own.shape, *(1 for _ in kind.shape[2:])),
                extents=(*own.extents, *("1" for _ in kind.shape[2:])),
            )
            along = made.compute(f"{name}_{what}_by", "view.default", [by, lengths(axes)], axes)
            now = made.compute(f"{name}_{what}", op, [now, along], kind)
    made.several[name] = [now.ref]
    return True


def turned_scan(made: Rewriting, node: Node) -> bool:
    """Along another axis than the last: along the last, of what is turned, and turned back."""
    of, axis = node.args[0], node.args[1]
    rank = len(made.kind(of).shape)
    if not isinstance(axis, int) or axis % rank == rank - 1:
        return False
    if made.kind(of).dtype != node.type.dtype:
        return False
    axis %= rank
    order = [*(one for one in range(rank) if one != axis), axis]
    name = node.name
    now = _turned(made, f"{name}_turned", of, order)
    args = [now, rank - 1, *node.args[2:]]
    scanned = replace(node, name=f"{name}_scanned", args=args, types=[made.kind(now)])
    back = [order.index(one) for one in range(rank)]
    _turned(made, name, Ref(made.put(scanned)), back)
    return True
