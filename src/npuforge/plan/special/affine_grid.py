# SPDX-License-Identifier: Apache-2.0
"""The places that an affine map sends the pixels of an image to.

Coordinates of a block of rows are two long vectors; a gather brings them together in pairs. Images
are sampled at these places, where an error grows with the size of the image: products and sums keep
what they round off, and it is added at the end.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.lines import Lines

_MOST_POINTS = 1536

_PARAMETERS = (
    "tiles", "per_core", "blocks", "rows", "points", "height", "width",
)  # fmt: skip

_KERNEL = """\
def {name}(theta, y, {parameters}):
    first = tl.program_id(0) * per_core
    count = min(per_core, tiles - first)
    row = tl.alloc_ub(points, dtype=tl.float32)
    column = tl.alloc_ub(points, dtype=tl.float32)
    level = tl.alloc_ub(points, dtype=tl.float32)
    column_high = tl.alloc_ub(points, dtype=tl.float32)
    column_low = tl.alloc_ub(points, dtype=tl.float32)
    level_high = tl.alloc_ub(points, dtype=tl.float32)
    level_low = tl.alloc_ub(points, dtype=tl.float32)
    total = tl.alloc_ub(points, dtype=tl.float32)
    lost = tl.alloc_ub(points, dtype=tl.float32)
    other = tl.alloc_ub(points, dtype=tl.float32)
    more = tl.alloc_ub(points, dtype=tl.float32)
    wrong = tl.alloc_mask(points)
    both = tl.alloc_ub(2 * points, dtype=tl.float32)
    half = tl.alloc_ub(2 * points, dtype=tl.float32)
    number = tl.alloc_ub(2 * points, dtype=tl.float32)
    pair = tl.alloc_ub(2 * points, dtype=tl.int32)
    result = tl.alloc_ub(2 * points, dtype=tl.float32)
    with tl.compute():
        # Point i of a block is in row i // width, column i % width.
        tl.iota(column, 0.5, 1.0)
        tl.mul(row, column, 1.0 / float(width))
        tl.floor(row, row)
        tl.axpy(column, row, -float(width))
        tl.sub(column, column, 0.5)
{columns}
{column_halves}
        # Number i of the result is x or y of point i // 2.
        tl.iota(number, 0.0, 1.0)
        tl.mul(half, number, 0.5)
        tl.floor(half, half)
        tl.axpy(number, half, -2.0)
        tl.axpy(half, number, float(points))
        tl.cast(pair, half, round="rint")
    for t in range(count):
        image = (first + t) // blocks
        top = (first + t) % blocks * rows
        n = min(rows, height - top) * width
        with tl.copyin():
            xx = tl.load_scalar(theta + image * 6)
            xy = tl.load_scalar(theta + image * 6 + 1)
            xs = tl.load_scalar(theta + image * 6 + 2)
            yx = tl.load_scalar(theta + image * 6 + 3)
            yy = tl.load_scalar(theta + image * 6 + 4)
            ys = tl.load_scalar(theta + image * 6 + 5)
        with tl.compute():
            tl.add(level, row, float(top))
{levels}
{level_halves}
{places}
            tl.gather(result[: 2 * n], both, pair[: 2 * n])
        with tl.copyout():
            tl.store(y + (image * height + top) * width * 2, result[: 2 * n])
"""


def _coordinates(view: str, extent: str, align: bool, depth: int) -> str:
    """Numbers 0, 1, ... as coordinates from -1 to 1: quotients of whole numbers, rounded once."""
    under = f"max(1, {extent} - 1)" if align else extent
    lines = [
        f"tl.mul({view}, {view}, 2.0)",
        f"tl.sub({view}, {view}, float({extent} - 1))",
        f"tl.fill(other, float({under}))",
        f"tl.div({view}, {view}, other)",
    ]
    return "\n".join(" " * depth + line for line in lines)


def _halves(view: str, depth: int) -> str:
    """Twelve bits each: their products are exact."""
    lines = [
        f"tl.mul({view}_low, {view}, {2**12 + 1}.0)",
        f"tl.sub({view}_high, {view}_low, {view})",
        f"tl.sub({view}_high, {view}_low, {view}_high)",
        f"tl.sub({view}_low, {view}, {view}_high)",
    ]
    return "\n".join(" " * depth + line for line in lines)


def _place(target: str, column: str, level: str, shift: str, depth: int) -> str:
    """`target` = column * number + level * number + shift, rounded as if once."""
    lines = [f"tl.mul(total, column, {column})", *_lost("total", "column", column, "fresh")]
    lines += [f"tl.mul(other, level, {level})", *_lost("other", "level", level, "more")]
    lines += [
        # What the sum of the products loses ...
        f"tl.add({target}, total, other)",
        f"tl.sub(more, {target}, total)",
        "tl.sub(other, other, more)",
        "tl.add(lost, lost, other)",
        f"tl.sub(more, {target}, more)",
        "tl.sub(total, total, more)",
        "tl.add(lost, lost, total)",
        # ... and the sum with the shift.
        f"tl.add(total, {target}, {shift})",
        f"tl.sub(more, total, {target})",
        f"tl.sub(other, {shift}, more)",
        "tl.add(lost, lost, other)",
        "tl.sub(more, total, more)",
        f"tl.sub(more, {target}, more)",
        "tl.add(lost, lost, more)",
        # Infinities lose nothing.
        "tl.is_nan(wrong, lost)",
        "tl.select(lost, wrong, 0.0, lost)",
        f"tl.add({target}, total, lost)",
    ]
    return "\n".join(" " * depth + line for line in lines)


def _lost(product: str, view: str, number: str, first: str) -> list[str]:
    """Add what the product of a vector and a number has lost to `lost`, or begin it."""
    high, low = f"{number}_high", f"{number}_low"
    part = "lost" if first == "fresh" else "more"
    lines = [
        f"{high} = {number} * {2**12 + 1}.0 - ({number} * {2**12 + 1}.0 - {number})",
        f"{low} = {number} - {high}",
        f"tl.mul({part}, {view}_high, {high})",
        f"tl.sub({part}, {part}, {product})",
        f"tl.axpy({part}, {view}_high, {low})",
        f"tl.axpy({part}, {view}_low, {high})",
        f"tl.axpy({part}, {view}_low, {low})",
    ]
    return lines if part == "lost" else [*lines, "tl.add(lost, lost, more)"]


@writes("affine_grid")
def affine_grid(job: Job) -> list[Launch]:
    (theta,), (y,) = job.args, job.results
    p = f"{job.name}_"
    images, height, width, _ = y.shape
    lines = Lines()
    lines.add(f"{p}height = {height}", f"{p}width = {width}")
    lines.add(f'tl.require({p}width <= {_MOST_POINTS}, "a row of the grid must fit")')
    share = f"tl.cdiv({p}images * {p}height, tl.num_cores())"
    lines.add(
        f"{p}images = {images}",
        f"{p}rows = max(1, min({_MOST_POINTS} // {p}width, {share}, {p}height))",
        f"{p}points = tl.align_up({p}rows * {p}width, 8)",
        f"{p}blocks = tl.cdiv({p}height, {p}rows)",
        f"{p}tiles = {p}images * {p}blocks",
        f"{p}cores = max(1, min(tl.num_cores(), {p}tiles))",
        f"{p}per_core = tl.cdiv({p}tiles, {p}cores)",
    )
    arguments = ", ".join([theta.name, y.name, *(p + name for name in _PARAMETERS)])
    lines.add(f"{job.name}[{p}cores]({arguments})")
    align = bool(job.special.data["align"])
    text = _KERNEL.format(
        name=job.name,
        parameters=", ".join(_PARAMETERS),
        columns=_coordinates("column", "width", align, 8),
        column_halves=_halves("column", 8),
        levels=_coordinates("level", "height", align, 12),
        level_halves=_halves("level", 12),
        places="\n".join(
            _place(view, f"{axis}x", f"{axis}y", f"{axis}s", 12)
            for axis, view in (("x", "both[:points]"), ("y", "both[points : points + points]"))
        ),
    )
    return [Launch(text, lines.found)]
