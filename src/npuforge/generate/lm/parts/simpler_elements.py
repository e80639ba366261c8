# SPDX-License-Identifier: Apache-2.0
"""What is computed element by element, as operations that every model has read often."""

from __future__ import annotations

from dataclasses import replace

from npuforge.generate.lm.question.rewriting import Rewriting, lengths
from npuforge.spec.graph import Argument, Node, Ref, TensorType


def multiplied(made: Rewriting, node: Node) -> bool:
    """By one: as it is."""
    for of, factor in (node.args, node.args[::-1]):
        if made.constant(factor) == 1 and isinstance(of, Ref) and made.kind(of) == node.type:
            made.names[node.name] = of.ref
            return True
    return False


def rest_of_erf(made: Rewriting, node: Node) -> bool:
    """What is left of one."""
    of, kind = node.args[0], node.type
    if made.kind(of) != kind:
        return False
    wide = replace(kind, dtype="float32")
    narrow = kind != wide
    if narrow:
        of = made.compute(f"{node.name}_wide", "_to_copy.default", [of], wide, dtype="float32")
    erf = made.compute(f"{node.name}_erf", "erf.default", [of], wide)
    name = f"{node.name}_left" if narrow else node.name
    left = made.compute(name, "sub.Tensor", [1, erf], wide)
    if narrow:
        made.compute(node.name, "_to_copy.default", [left], kind, dtype=kind.dtype)
    return True


def norm_of_number(made: Rewriting, node: Node) -> bool:
    """Of one number: how large it is."""
    of = node.args[0]
    if made.kind(of) != node.type or node.type.shape:
        return False
    made.compute(node.name, "abs.default", [of], node.type)
    return True


def where(made: Rewriting, node: Node) -> bool:
    """By a mask that rows share which are not the last ones: by one of all elements."""
    mask, kind = node.args[0], node.type
    own = made.kind(mask)
    missing = [axis for axis, size in enumerate(_padded(own, kind)) if size != kind.extents[axis]]
    if not missing or len(own.shape) < len(kind.shape) or min(missing) == 0:
        return False
    numbers, all_ = replace(own, dtype="float32"), replace(kind, dtype="float32")
    name = node.name
    one = made.compute(f"{name}_one", "_to_copy.default", [mask], numbers, dtype="float32")
    none = made.compute(f"{name}_none", "full.default", [lengths(kind), 0.0], all_, dtype="float32")
    every = made.compute(f"{name}_mask", "ne.Tensor", [one, none], replace(kind, dtype="bool"))
    made.compute(name, "where.self", [every, *node.args[1:]], kind)
    return True


def _padded(kind: TensorType, like: TensorType) -> tuple[str, ...]:
    return ("1",) * (len(like.shape) - len(kind.shape)) + kind.extents


def hypot(made: Rewriting, node: Node) -> bool:
    """The longer side times a root of at least one, as no square may overflow. Of two that are
    nothing, or infinite, there is no ratio: their sum is right then."""
    kind = node.type
    if any(made.kind(side) != kind for side in node.args):
        return False
    truth = replace(kind, dtype="bool")

    def step(what: str, operation: str, *args: Argument) -> Argument:
        return made.compute(f"{node.name}_{what}", operation, list(args), kind)

    one, other = (step(f"side{place}", "abs.default", of) for place, of in enumerate(node.args))
    longer = step("longer", "maximum.default", one, other)
    shorter = step("shorter", "minimum.default", one, other)
    ratio = step("ratio", "div.Tensor", shorter, longer)
    square = step("square", "mul.Tensor", ratio, ratio)
    root = step("root", "sqrt.default", step("grown", "add.Tensor", square, 1.0))
    length = step("length", "mul.Tensor", longer, root)
    without = made.compute(f"{node.name}_without", "isnan.default", [ratio], truth)
    both = step("both", "add.Tensor", longer, shorter)
    made.compute(node.name, "where.self", [without, both, length], kind)
    return True
