# SPDX-License-Identifier: Apache-2.0
"""Layouts: axes in another order, split and merged, tensors put side by side, shifted, cut and
repeated, one after the other, with arithmetic between."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npuforge.train.operators.axes import some_axes, spelled
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables


def layout(sketch: Sketch) -> list[str]:
    """One to three moves of a value; at the end it may be folded, or meet another tensor."""
    rng = sketch.rng
    shape = [
        4 * max(1, extent // 4)
        for extent in sketch.shape(rng.choice((2, 2, 3, 3, 4)), most=1 << 20)
    ]
    moved = Moved(sketch, shape)
    moved.arithmetic(0.4)
    for place in range(rng.choice((1, 2, 2, 3))):
        if place:
            moved.arithmetic(0.5)
        moved.move()
    moved.arithmetic(0.6)
    kind = rng.random()
    if kind < 0.15:
        moved.move(_LAST_MOVES)
    elif kind < 0.45:
        axes = spelled(rng, some_axes(rng, len(moved.shape)), len(moved.shape))
        template = rng.choice(tables().statistic.one)
        moved.value = sketch.let(
            sketch.fill(template, a=moved.value, d=axes, keep=rng.random() < 0.4)
        )
    return [moved.value]


class Moved:
    """A value whose shape is known while it is moved about."""

    def __init__(self, sketch: Sketch, shape: list[int]) -> None:
        self.sketch, self.shape, self.dtype = sketch, shape, sketch.float_type()
        self.value = sketch.tensor(shape, self.dtype)

    def arithmetic(self, often: float) -> None:
        """Element-wise work, with a tensor that fits the value as it now lies or without."""
        rng, offered = self.sketch.rng, tables().calm
        if rng.random() > often:
            return
        if rng.random() < 0.5:
            made = self.sketch.fill(rng.choice(offered.unary), a=self.value)
        else:
            kept = self.shape if rng.random() < 0.5 else self.shape[-1:]
            other = self.sketch.tensor(kept, self.dtype)
            made = self.sketch.fill(rng.choice(offered.binary), a=self.value, b=other)
        self.value = self.sketch.let(made)

    def move(self, offered: Sequence[_Move] = ()) -> None:
        """One move that the shape allows."""
        rng = self.sketch.rng
        text = None
        while text is None:
            text = rng.choice(offered or _MOVES)(self, rng.randrange(len(self.shape)))
        self.value = self.sketch.let(text)

    def resized(self, axis: int, extent: int) -> None:
        self.shape = [*self.shape[:axis], extent, *self.shape[axis + 1 :]]

    def cut(self, axis: int, piece: str) -> str:
        """A slice along one axis, as it is written."""
        return f"{self.value}[{':, ' * axis}{piece}]"


def _swapped(moved: Moved, axis: int) -> str | None:
    rng = moved.sketch.rng
    other = rng.randrange(len(moved.shape))
    if other == axis:
        return None
    shape = list(moved.shape)
    shape[axis], shape[other] = shape[other], shape[axis]
    moved.shape = shape
    return f"{moved.value}.transpose({axis}, {other})"


def _permuted(moved: Moved, axis: int) -> str | None:
    rng = moved.sketch.rng
    order = [place for place in range(len(moved.shape)) if place != axis]
    rng.shuffle(order)
    order.insert(rng.choice((0, len(order))), axis)
    if order == sorted(order):
        return None
    moved.shape = [moved.shape[place] for place in order]
    return f"{moved.value}.permute({', '.join(map(str, order))})"


def _split(moved: Moved, axis: int) -> str | None:
    rng = moved.sketch.rng
    extent = moved.shape[axis]
    parts = rng.choice((2, 2, 4))
    if extent % parts or extent == parts or len(moved.shape) > 3:
        return None
    inner = rng.random() < 0.5
    sizes = (extent // parts, parts) if inner else (parts, extent // parts)
    moved.shape = [*moved.shape[:axis], *sizes, *moved.shape[axis + 1 :]]
    return f"{moved.value}.unflatten({axis}, ({f'-1, {parts}' if inner else f'{parts}, -1'}))"


def _merged(moved: Moved, axis: int) -> str | None:
    if axis + 1 >= len(moved.shape) or len(moved.shape) < 3:
        return None
    both = moved.shape[axis] * moved.shape[axis + 1]
    moved.shape = [*moved.shape[:axis], both, *moved.shape[axis + 2 :]]
    return f"{moved.value}.flatten({axis}, {axis + 1})"


def _beside(moved: Moved, axis: int) -> str:
    """Together with another tensor, or with what is made of the value itself."""
    rng = moved.sketch.rng
    sketch = moved.sketch
    extent = moved.shape[axis]
    parts = [moved.value]
    for _ in range(rng.choice((1, 1, 1, 2))):
        if rng.random() < 0.6:
            other = rng.choice((extent, extent, 1, 2 * extent, 3))
            shape = [*moved.shape[:axis], other, *moved.shape[axis + 1 :]]
            parts.append(sketch.tensor(shape, moved.dtype))
        else:
            other = extent
            parts.append(sketch.let(sketch.fill(rng.choice(tables().calm.unary), a=moved.value)))
        moved.resized(axis, moved.shape[axis] + other)
    rng.shuffle(parts)
    return f"torch.cat([{', '.join(parts)}], dim={axis})"


def _stacked(moved: Moved, axis: int) -> str | None:
    rng = moved.sketch.rng
    if len(moved.shape) > 3:
        return None
    sketch = moved.sketch
    parts = [moved.value]
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            parts.append(sketch.tensor(moved.shape, moved.dtype))
        else:
            parts.append(sketch.let(sketch.fill(rng.choice(tables().calm.unary), a=moved.value)))
    moved.shape = [*moved.shape[:axis], len(parts), *moved.shape[axis:]]
    return f"torch.stack([{', '.join(parts)}], dim={axis})"


def _halves(moved: Moved, axis: int) -> str | None:
    """Parts of one axis that meet, or change places."""
    rng = moved.sketch.rng
    extent = moved.shape[axis]
    count = rng.choice((2, 2, 2, 4))
    if extent % count or extent == count:
        return None
    sketch = moved.sketch
    names = [f"{moved.value}_{place}" for place in range(count)]
    changed = rng.random() < 0.4
    if changed or rng.random() < 0.3:
        parts = f"chunk({count}, dim={axis})"
    else:
        parts = f"unflatten({axis}, ({count}, -1)).unbind({axis})"
    sketch.lines.append(f"{', '.join(names)} = {moved.value}.{parts}")
    if changed:
        rng.shuffle(names)
        one = rng.randrange(count)
        names[one] = sketch.let(sketch.fill(rng.choice(tables().calm.unary), a=names[one]))
        return f"torch.cat([{', '.join(names)}], dim={axis})"
    moved.resized(axis, extent // count)
    value = names[0]
    for name in names[1:]:
        value = sketch.let(sketch.fill(rng.choice(tables().calm.binary), a=value, b=name))
    return value


def _neighbours(moved: Moved, axis: int) -> str | None:
    """Every element with the one before it."""
    if moved.shape[axis] < 4:
        return None
    moved.resized(axis, moved.shape[axis] - 1)
    template = moved.sketch.rng.choice(tables().calm.binary)
    return moved.sketch.fill(template, a=moved.cut(axis, "1:"), b=moved.cut(axis, ":-1"))


def _paired(moved: Moved, axis: int) -> str | None:
    """The two elements of each pair."""
    extent = moved.shape[axis]
    if extent < 4 or extent % 2:
        return None
    moved.resized(axis, extent // 2)
    template = moved.sketch.rng.choice(tables().calm.binary)
    return moved.sketch.fill(template, a=moved.cut(axis, "::2"), b=moved.cut(axis, "1::2"))


def _flipped(moved: Moved, axis: int) -> str:
    return f"{moved.value}.flip({axis})"


def _padded(moved: Moved, axis: int) -> str:
    rng = moved.sketch.rng
    before, after = rng.choice(((1, 0), (0, 1), (1, 1), (2, 3), (0, 4)))
    moved.resized(axis, moved.shape[axis] + before + after)
    pads = "0, 0, " * (len(moved.shape) - 1 - axis) + f"{before}, {after}"
    filled = moved.sketch.fill(rng.choice(("", "", ", value={k}")))
    return f"F.pad({moved.value}, ({pads}){filled})"


def _rolled(moved: Moved, axis: int) -> str:
    """The last elements first; `torch.roll` itself is captured as arithmetic on places."""
    count = moved.sketch.rng.choice((1, 1, 2, 3))
    parts = [moved.cut(axis, f"-{count}:"), moved.cut(axis, f":-{count}")]
    return f"torch.cat([{', '.join(parts)}], dim={axis})"


def _repeated(moved: Moved, axis: int) -> str:
    rng = moved.sketch.rng
    times = rng.choice((2, 2, 3))
    counts = [times if place == axis else 1 for place in range(len(moved.shape))]
    if rng.random() < 0.3 and len(moved.shape) < 4:  # along an axis that was not there
        expanded = ", ".join(
            str(times) if place == axis else "-1" for place in range(len(counts) + 1)
        )
        moved.shape = [*moved.shape[:axis], times, *moved.shape[axis:]]
        return f"{moved.value}.unsqueeze({axis}).expand({expanded})"
    moved.resized(axis, moved.shape[axis] * times)
    return f"{moved.value}.repeat({', '.join(map(str, counts))})"


def _sliced(moved: Moved, axis: int) -> str | None:
    rng = moved.sketch.rng
    extent = moved.shape[axis]
    if extent < 8:
        return None
    piece, left = rng.choice(
        (
            ("1:", extent - 1),
            (":-2", extent - 2),
            (f": {extent // 2}", extent // 2),
            ("2:-1", extent - 3),
        )
    )
    moved.resized(axis, left)
    return moved.cut(axis, piece)


_Move = Callable[[Moved, int], "str | None"]
_MOVES: tuple[_Move, ...] = (
    _swapped, _swapped, _permuted, _split, _split, _merged, _beside, _beside, _stacked, _halves,
    _halves, _neighbours, _padded, _rolled, _repeated, _sliced,
)  # fmt: skip
# What is read backwards or in steps is seldom planned where more than a store follows.
_LAST_MOVES: tuple[_Move, ...] = (_flipped, _paired)
