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
    "tiles", "per_core", "blocks", "rows", "points", "height", "width", "dx", "dy", "x0", "y0",
)  # fmt: skip

_KERNEL = """\
def {name}(theta, y, {parameters}):
    first = tl.program_id(0) * per_core
    count = min(per_core, tiles - first)
    row = tl.alloc_ub(points, dtype=tl.float32)
    column = tl.alloc_ub(points, dtype=tl.float32)
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
        tl.mul(column, column, dx)
        tl.add(column, column, x0)
        tl.mul(row, row, dy)
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
            start = float(top) * dy + y0
            tl.mul(both[:points], column, xx)
            tl.axpy(both[:points], row, xy)
            tl.add(both[:points], both[:points], start * xy + xs)
            tl.mul(both[points : points + points], column, yx)
            tl.axpy(both[points : points + points], row, yy)
            tl.add(both[points : points + points], both[points : points + points], start * yy + ys)
            tl.gather(result[: 2 * n], both, pair[: 2 * n])
        with tl.copyout():
            tl.store(y + (image * height + top) * width * 2, result[: 2 * n])
"""


@writes("affine_grid")
def affine_grid(job: Job) -> list[Launch]:
    (theta,), (y,) = job.args, job.results
    p = f"{job.name}_"
    images, height, width, _ = y.shape
    lines = Lines()
    lines.add(f"{p}height = {height}", f"{p}width = {width}")
    lines.add(f'tl.require({p}width <= {_MOST_POINTS}, "a row of the grid must fit")')
    for axis, extent in (("x", f"{p}width"), ("y", f"{p}height")):
        if job.special.data["align"]:
            lines.add(f"{p}d{axis} = 2.0 / float(max(1, {extent} - 1))")
            lines.add(f"{p}{axis}0 = -1.0 if {extent} > 1 else 0.0")
        else:
            lines.add(f"{p}d{axis} = 2.0 / float({extent})")
            lines.add(f"{p}{axis}0 = 1.0 / float({extent}) - 1.0")
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
    text = _KERNEL.format(name=job.name, parameters=", ".join(_PARAMETERS))
    return [Launch(text, lines.found, [images, height, width])]
