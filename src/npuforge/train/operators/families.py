# SPDX-License-Identifier: Apache-2.0
"""Families of operators: each makes up one module on a sketch and names its results.

Most of them have element-wise work before and after what gives them their name, as the operators
that people fuse do.
"""

from __future__ import annotations

from collections.abc import Callable

from npuforge.train.operators.chains import blocks, masked, statistics
from npuforge.train.operators.channels import channels
from npuforge.train.operators.composed import composed
from npuforge.train.operators.created import created
from npuforge.train.operators.graphs import chain, graph
from npuforge.train.operators.images import images
from npuforge.train.operators.indices import indices
from npuforge.train.operators.moves import layout
from npuforge.train.operators.optimisers import optimiser
from npuforge.train.operators.parts import parts
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.sorting import sorting
from npuforge.train.operators.tables import tables
from npuforge.train.operators.terms import terms
from npuforge.train.operators.updates import updates

Family = Callable[[Sketch], list[str]]
_WHOLE = ("int32", "int32", "int16", "int64")


def elementwise(sketch: Sketch) -> list[str]:
    shape, dtype = sketch.shape(), sketch.float_type()
    values = [sketch.tensor(shape, dtype) for _ in range(sketch.rng.choice((1, 1, 2, 2, 3, 4)))]
    return [graph(sketch, values, sketch.rng.choice((1, 2, 2, 3, 4, 5, 6)))]


def several(sketch: Sketch) -> list[str]:
    """More results than one, of common work."""
    rng = sketch.rng
    shape, dtype = sketch.shape(), sketch.float_type()
    values = [sketch.tensor(shape, dtype) for _ in range(rng.choice((1, 2, 3)))]
    common = graph(sketch, values, rng.choice((1, 2)))
    others = [common, *values]
    return [chain(sketch, rng.choice(others), rng.choice((1, 2))) for _ in range(2)]


def lists(sketch: Sketch) -> list[str]:
    """The same work on several tensors, as foreach operators do."""
    rng, dtype = sketch.rng, sketch.float_type()
    count, steps = rng.choice((1, 2, 3, 3, 4, 5, 6, 7)), rng.choice((1, 1, 1, 2))
    offered = tables().pointwise
    keys = rng.choice(("a", "a", "ab", "ab", "abc"))
    template = rng.choice({"a": offered.unary, "ab": offered.binary, "abc": offered.ternary}[keys])
    shapes = [sketch.shape(rng.choice((1, 2, 2, 3, 4)), most=1 << 20) for _ in range(count)]
    if rng.random() < 0.35:
        shapes[rng.randrange(count)] = [1]
    given = {key: [sketch.tensor(shape, dtype) for shape in shapes] for key in keys}
    after = [rng.choice(offered.unary) for _ in range(steps - 1)]
    factors = _factors(sketch, count, dtype) if rng.random() < 0.5 else None
    sign = rng.choice("+*-")
    alone = keys == "a" and rng.random() < 0.6  # the factor is all that a tensor meets
    template = rng.choice(offered.binary) if factors is not None and alone else template
    results: list[str] = []
    for place, name in enumerate(given["a"]):
        own = {key: values[place] for key, values in given.items()}
        if factors is not None and alone:
            own["b"] = factors.format(place)
        value = sketch.let(sketch.fill(template, **own))
        for more in after:
            value = sketch.let(sketch.fill(more, a=value))
        if factors is not None and not alone:
            value = sketch.let(f"{name} {sign} {value} * {factors.format(place)}")
        results.append(value)
    if rng.random() < 0.2:
        for name, value in zip(given["a"], results, strict=True):
            sketch.lines.append(f"{name}.copy_({value})")
        return given["a"]
    return results


def _factors(sketch: Sketch, count: int, dtype: str) -> str:
    """How the factor of each tensor is read: one for all of them, or one of a list."""
    kind = sketch.rng.choice(("[1]", "[]", "squeezed", "listed", "listed"))
    if kind == "listed":
        return sketch.tensor([count], sketch.rng.choice((dtype, "float32"))) + "[{}]"
    if kind == "squeezed":
        return sketch.tensor([1], dtype) + ".squeeze(0)"
    return sketch.tensor([1] if kind == "[1]" else [], dtype)


def broadcast(sketch: Sketch) -> list[str]:
    rng, dtype = sketch.rng, sketch.float_type()
    shape = sketch.shape(rng.choice((2, 2, 3, 4)))
    values = [sketch.tensor(shape, dtype)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        kept = [extent if rng.random() < 0.5 else 1 for extent in shape]
        cut = rng.choice((0, 0, 1, len(shape) - 1))
        values.append(sketch.tensor(kept[cut:], rng.choice((dtype, dtype, dtype, "float32"))))
    if rng.random() < 0.25:
        values.append(sketch.tensor(rng.choice(([], [1])), dtype))
    return [graph(sketch, values, rng.choice((1, 2, 3, 4, 5)))]


def whole_numbers(sketch: Sketch) -> list[str]:
    rng, offered = sketch.rng, tables().pointwise
    shape, dtype = sketch.shape(), rng.choice(_WHOLE)
    value = sketch.tensor(shape, dtype, "whole")
    alone = rng.random() < 0.4
    if not alone:
        other = sketch.tensor(shape, dtype, "whole")
        value = sketch.let(sketch.fill(rng.choice(offered.whole_binary), a=value, b=other))
    for _ in range(rng.choice((1, 2, 3, 4) if alone else (0, 0, 1, 2))):
        value = sketch.let(sketch.fill(rng.choice(offered.whole_unary), a=value))
    return [value]


def truth(sketch: Sketch) -> list[str]:
    rng = sketch.rng
    shape, dtype = sketch.shape(), sketch.float_type()
    one, two = (sketch.tensor(shape, dtype) for _ in range(2))
    value = chain(sketch, one, rng.choice((0, 0, 1, 2)))
    mask = sketch.let(sketch.fill(rng.choice(tables().pointwise.truth), a=value, b=two))
    kind = rng.random()
    if kind < 0.3:
        return [mask]
    if kind < 0.6:
        made = rng.choice(("int32", "float32", "float16", "int8", "uint8"))
        return [sketch.let(f"{mask}.to(torch.{made})")]
    return [sketch.let(f"torch.where({mask}, {one}, {two})")]


def fold(sketch: Sketch) -> list[str]:
    rng, dtype = sketch.rng, sketch.float_type()
    shape = sketch.shape(rng.choice((2, 2, 3, 4)))
    values = [sketch.tensor(shape, dtype) for _ in range(rng.choice((1, 1, 2)))]
    value = graph(sketch, values, rng.choice((0, 1, 2)))
    keep = rng.random() < 0.5
    kind = rng.random()
    if kind < 0.12:
        reduced = sketch.fill(rng.choice(tables().fold.total), a=value)
    elif kind < 0.22:
        mask = sketch.let(sketch.fill("{a} > {p}", a=value))
        template = rng.choice(tables().fold.truth)
        reduced = sketch.fill(template, t=mask, d=_axis(sketch, shape), keep=keep)
        return [sketch.let(reduced)]
    elif kind < 0.32:
        template = rng.choice(tables().fold.one_axis)
        reduced = sketch.fill(template, a=value, d=_axis(sketch, shape), keep=keep)
        return [sketch.let(reduced)]
    else:
        axes = _axes(sketch, shape)
        reduced = sketch.fill(rng.choice(tables().fold.number), a=value, d=axes, keep=keep)
    result = chain(sketch, sketch.let(reduced), rng.choice((0, 0, 1, 2)))
    if keep and kind >= 0.32 and rng.random() < 0.4:
        back = sketch.fill(rng.choice(tables().pointwise.binary), a=value, b=result)
        return [sketch.let(back)]
    return [result]


def folds(sketch: Sketch) -> list[str]:
    """Two numbers of the same values."""
    rng, dtype = sketch.rng, sketch.float_type()
    shape = sketch.shape(rng.choice((2, 2, 3)))
    value = chain(sketch, sketch.tensor(shape, dtype), rng.choice((0, 0, 1)))
    keep, axes = rng.random() < 0.3, _axes(sketch, shape)
    found = [
        sketch.let(sketch.fill(template, a=value, d=axes, keep=keep))
        for template in rng.sample(tables().fold.number, 2)
    ]
    if rng.random() < 0.4:
        return [
            sketch.let(sketch.fill(rng.choice(tables().pointwise.binary), a=found[0], b=found[1]))
        ]
    return found


def norm(sketch: Sketch) -> list[str]:
    rng, dtype = sketch.rng, sketch.float_type()
    kind = rng.random()
    if kind < 0.12:
        groups = rng.choice((1, 2, 4, 8))
        channels = groups * rng.choice((1, 2, 3, 4, 8))
        shape = [rng.choice((2, 3, 8, 16)), channels, *sketch.shape(2, most=1 << 14)]
        value = chain(sketch, sketch.tensor(shape, dtype), rng.choice((0, 0, 1)))
        made = _scaled(sketch, rng.choice(tables().norm.planes), channels, dtype, a=value, g=groups)
        return [chain(sketch, sketch.let(made), rng.choice((0, 1, 2)))]
    shape = sketch.shape(rng.choice((2, 2, 3)))
    inputs = [sketch.tensor(shape, dtype) for _ in range(rng.choice((1, 1, 2)))]
    value = graph(sketch, inputs, rng.choice((0, 0, 1, 2)))
    if kind < 0.4:
        template = rng.choice(tables().norm.last)
        made = _scaled(sketch, template, shape[-1], dtype, a=value, n=shape[-1])
    else:
        made = sketch.fill(
            rng.choice(tables().norm.along), a=value, d=_axis(sketch, shape, last=0.75)
        )
    result = sketch.let(made)
    if rng.random() < 0.2:  # what the way back needs comes out too
        kept = rng.choice(
            (
                "{a}",
                "{a}.mean(-1, keepdim=True)",
                "torch.rsqrt({a}.pow(2).mean(-1, keepdim=True) + {e})",
            )
        )
        return [result, sketch.let(sketch.fill(kept, a=value))]
    if rng.random() < 0.3:
        other = sketch.tensor(shape[-1:] if rng.random() < 0.6 else shape, dtype)
        result = sketch.let(sketch.fill(rng.choice(tables().pointwise.binary), a=result, b=other))
    return [chain(sketch, result, rng.choice((0, 0, 1, 2)))]


def loss(sketch: Sketch) -> list[str]:
    rng, offered = sketch.rng, tables().loss
    dtype = rng.choice(("float32", "float32", "float16", "bfloat16"))
    kind = rng.random()
    names: dict[str, object] = {
        "r": rng.choice(("mean", "mean", "sum", "none")),
        "r2": rng.choice(("mean", "mean", "sum")),
    }
    if kind < 0.15:
        rows, classes = sketch.extent(2, 4096), sketch.extent(2, 4096)
        value = sketch.tensor([rows, classes], dtype)
        chosen = sketch.tensor([rows], "int64", f"index:{classes}")
        value = chain(sketch, value, rng.choice((0, 0, 1)))
        return [sketch.let(sketch.fill(rng.choice(offered.classes), a=value, t=chosen, **names))]
    shape = sketch.shape(rng.choice((2, 2, 3)))
    one, two = (sketch.tensor(shape, dtype) for _ in range(2))
    one = chain(sketch, one, rng.choice((0, 0, 1)))
    if kind < 0.35:
        three = sketch.tensor(shape, dtype)
        made = sketch.fill(rng.choice(offered.triple), a=one, b=two, c=three, **names)
    else:
        made = sketch.fill(rng.choice(offered.pair), a=one, b=two, **names)
    return [chain(sketch, sketch.let(made), rng.choice((0, 0, 0, 1)))]


def scan(sketch: Sketch) -> list[str]:
    rng = sketch.rng
    shape = sketch.shape(rng.choice((1, 2, 2, 3)), most=1 << 22)
    value = chain(sketch, sketch.tensor(shape, sketch.float_type()), rng.choice((0, 1, 1, 2)))
    axis = _axis(sketch, shape, last=0.7)
    made = sketch.let(sketch.fill(rng.choice(tables().scan.along), a=value, d=axis))
    if rng.random() < 0.4:  # against what was scanned, or a tensor that it meets
        other = value if rng.random() < 0.6 else sketch.tensor(shape[-1:], "float32")
        made = sketch.let(sketch.fill(rng.choice(tables().calm.binary), a=made, b=other))
    made = chain(sketch, made, rng.choice((0, 0, 1, 1, 2)))
    if rng.random() < 0.4:
        template = rng.choice((*tables().statistic.one, *tables().norm.along))
        keep = rng.random() < 0.4
        made = sketch.let(sketch.fill(template, a=made, d=_axis(sketch, shape), keep=keep))
    return [made]


def pooling(sketch: Sketch) -> list[str]:
    rng, offered = sketch.rng, tables().pool
    dtype = sketch.float_type()
    rank = rng.choice((1, 2, 2, 2, 3))
    planes = [rng.choice((1, 2, 4, 8)), rng.choice((1, 3, 16, 32))]
    most = {1: 4096, 2: 128, 3: 24}[rank]
    shape = [*planes, *(sketch.extent(12, most) for _ in range(rank))]
    value = chain(sketch, sketch.tensor(shape, dtype), rng.choice((0, 0, 1)))
    if rank == 2 and rng.random() < 0.15:
        made = sketch.fill(rng.choice(offered.whole), a=value)
    else:
        window = rng.choice((2, 2, 3, 3, 4, 5))
        stride = rng.choice((1, 2, 2, 3, window))
        template = rng.choice({1: offered.one, 2: offered.two, 3: offered.three}[rank])
        made = sketch.fill(template, a=value, w=window, s=stride, q=rng.randint(0, window // 2))
    return [chain(sketch, sketch.let(made), rng.choice((0, 0, 1, 2)))]


def movement(sketch: Sketch) -> list[str]:
    rng, offered = sketch.rng, tables().move
    dtype = sketch.float_type()
    kind = rng.random()
    if kind < 0.2:
        shape = sketch.shape(2)
        table = chain(sketch, sketch.tensor(shape, dtype), rng.choice((0, 0, 1)))
        count = sketch.extent(2, 4096)
        chosen = sketch.tensor([count], rng.choice(("int64", "int32")), f"index:{shape[0]}")
        made = sketch.fill(rng.choice(offered.index), a=table, t=chosen)
    elif kind < 0.35:
        value = chain(sketch, sketch.tensor(sketch.shape(2), dtype), rng.choice((0, 1)))
        made = sketch.fill(rng.choice(offered.created), a=value)
    elif kind < 0.45:
        shape = [sketch.extent(2, 512), sketch.extent(8, 2048)]
        value = chain(sketch, sketch.tensor(shape, dtype), rng.choice((0, 0, 1)))
        return [sketch.let(sketch.fill(rng.choice(offered.sorted), a=value))]
    else:
        shape = [2 * max(2, extent // 2) for extent in sketch.shape(2)]
        template = rng.choice(offered.matrix)
        count = 2 if "{b}" in template else 1
        if rng.random() < 0.3 and "{k}" not in template and "silu" not in template:
            whole = rng.choice((*_WHOLE, "int8", "uint8"))
            moved = [sketch.tensor(shape, whole, "whole") for _ in range(count)]
            named = dict(zip("ab", moved, strict=False))
            return [sketch.let(sketch.fill(template, **named))]
        values = [sketch.tensor(shape, dtype) for _ in range(count)]
        values[0] = chain(sketch, values[0], rng.choice((0, 0, 1)))
        made = sketch.fill(template, **dict(zip("ab", values, strict=False)))
    return [chain(sketch, sketch.let(made), rng.choice((0, 0, 1, 2)))]


def casting(sketch: Sketch) -> list[str]:
    rng, offered = sketch.rng, tables().cast
    shape = sketch.shape()
    if rng.random() < 0.4:
        dtype = rng.choice(("int8", "uint8", "int32", "int16"))
        value = sketch.tensor(shape, dtype, "whole")
        made = sketch.let(sketch.fill(rng.choice(offered.from_whole), a=value))
        if rng.random() < 0.4:
            other = sketch.tensor(shape[-1:], "float32")
            made = sketch.let(f"{made} * {other}")
        return [chain(sketch, made, rng.choice((0, 0, 1)))]
    value = chain(sketch, sketch.tensor(shape, sketch.float_type()), rng.choice((0, 1, 2)))
    if rng.random() < 0.4:
        scale = sketch.tensor(shape[-1:] if rng.random() < 0.5 else [1], "float32", "rand")
        value = sketch.let(f"{value} / ({scale} + 0.5)")
    return [sketch.let(sketch.fill(rng.choice(offered.to), a=value))]


def _axis(sketch: Sketch, shape: list[int], last: float = 0.6) -> int:
    if sketch.rng.random() < last or len(shape) == 1:
        return -1
    return sketch.rng.randrange(len(shape))


def _axes(sketch: Sketch, shape: list[int]) -> int | tuple[int, ...]:
    if len(shape) > 2 and sketch.rng.random() < 0.25:
        first = sketch.rng.randrange(len(shape) - 1)
        return (first, first + 1)
    return _axis(sketch, shape)


def _scaled(sketch: Sketch, template: str, extent: int, dtype: str, **names: object) -> str:
    """The template with a weight and a bias, where it has them."""
    own = [key for key in "wb" if "{" + key + "}" in template]
    return sketch.fill(template, **names, **{key: sketch.tensor([extent], dtype) for key in own})


# How often each is drawn.
FAMILIES: dict[str, tuple[Family, float]] = {
    "elementwise": (elementwise, 10.0),
    "several": (several, 3.0),
    "lists": (lists, 16.0),
    "updates": (updates, 22.0),
    "broadcast": (broadcast, 7.0),
    "channels": (channels, 16.0),
    "whole": (whole_numbers, 8.0),
    "truth": (truth, 4.0),
    "fold": (fold, 9.0),
    "folds": (folds, 4.0),
    "statistics": (statistics, 32.0),
    "norm": (norm, 8.0),
    "masked": (masked, 18.0),
    "loss": (loss, 5.0),
    "terms": (terms, 10.0),
    "optimiser": (optimiser, 8.0),
    "scan": (scan, 10.0),
    "pooling": (pooling, 4.0),
    "movement": (movement, 12.0),
    "created": (created, 10.0),
    "images": (images, 10.0),
    "layout": (layout, 28.0),
    "parts": (parts, 16.0),
    "indices": (indices, 14.0),
    "sorting": (sorting, 12.0),
    "casting": (casting, 4.0),
    "composed": (composed, 14.0),
    "blocks": (blocks, 22.0),
}
# What reads its inputs as they are: it may write to them, or has so many that casts would be most
# of the work.
AS_GIVEN = frozenset({"lists", "updates", "optimiser"})
