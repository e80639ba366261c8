# SPDX-License-Identifier: Apache-2.0
"""The places that an affine map sends the pixels of an image to.

Coordinates of a block of rows are two long vectors; a gather brings them together in pairs.
"""

from __future__ import annotations

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.lines import Lines

_MOST_POINTS = 2048

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
    other = tl.alloc_ub(points, dtype=tl.float32)
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
{rows_text}
            tl.mul(both[:points], column, xx)
            tl.axpy(both[:points], level, xy)
            tl.add(both[:points], both[:points], xs)
            tl.mul(both[points : points + points], column, yx)
            tl.axpy(both[points : points + points], level, yy)
            tl.add(both[points : points + points], both[points : points + points], ys)
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
        rows_text=_coordinates("level", "height", align, 12),
    )
    return [Launch(text, lines.found, [images, height, width])]
