# SPDX-License-Identifier: Apache-2.0
"""Bilinear resize of images: two rows are mixed, then columns are gathered and mixed."""

import tile.language as tl


@ascend_kernel
def resize_kernel(
    x, y, lines, per_core, height, width, out_height, out_width, scale_y, scale_x, last_column
):
    first = tl.program_id(0) * per_core
    count = min(per_core, lines - first)
    upper = tl.alloc_ub(width, dtype=tl.float32)
    lower = tl.alloc_ub(width, dtype=tl.float32)
    mixed = tl.alloc_ub(width, dtype=tl.float32)
    place = tl.alloc_ub(out_width, dtype=tl.float32)
    weight = tl.alloc_ub(out_width, dtype=tl.float32)
    left = tl.alloc_ub(out_width, dtype=tl.int32)
    right = tl.alloc_ub(out_width, dtype=tl.int32)
    right_value = tl.alloc_ub(out_width, dtype=tl.float32)
    line = tl.alloc_ub(out_width, dtype=tl.float32)
    with tl.compute():
        # Columns are the same for every line: where they come from, and with which weight.
        tl.iota(place, 0.5, 1.0)
        tl.mul(place, place, scale_x)
        tl.sub(place, place, 0.5)
        tl.maximum(place, place, 0.0)
        tl.floor(weight, place)
        tl.cast(left, weight, round="trunc")
        tl.add(right, left, 1)
        tl.minimum(right, right, last_column)
        tl.sub(weight, place, weight)
    for t in range(count):
        image = (first + t) // out_height
        source = max((float((first + t) % out_height) + 0.5) * scale_y - 0.5, 0.0)
        top = int(source)
        bottom = min(top + 1, height - 1)
        with tl.copyin():
            tl.load(x + (image * height + top) * width, upper)
            tl.load(x + (image * height + bottom) * width, lower)
        with tl.compute():
            tl.sub(mixed, lower, upper)
            tl.mul(mixed, mixed, source - float(top))
            tl.add(mixed, mixed, upper)
            tl.gather(line, mixed, left)
            tl.gather(right_value, mixed, right)
            tl.sub(right_value, right_value, line)
            tl.mul_add(line, right_value, weight)
        with tl.copyout():
            tl.store(y + (first + t) * out_width, line)


def resize_bilinear_host(
    x: tl.input(tl.float32),
    out_height: tl.attr(int),
    out_width: tl.attr(int),
    y: tl.output(tl.float32, (x.shape[0], x.shape[1], out_height, out_width)),
):
    images, channels, height, width = x.shape
    tl.require(height >= 1 and 1 <= width <= 4096, "an image has elements and its rows fit")
    tl.require(out_height >= 1 and 1 <= out_width <= 3072, "a row of the result fits")
    # A line of the result at a time: two source rows twice and once mixed (20 bytes a column),
    # places, weights and results (32 bytes a column of the result).
    lines = images * channels * out_height
    n_cores = max(1, min(tl.num_cores(), lines))
    per_core = tl.cdiv(lines, n_cores)
    scale_y = float(height) / float(out_height)
    scale_x = float(width) / float(out_width)
    resize_kernel[n_cores](
        x, y, lines, per_core, height, width, out_height, out_width, scale_y, scale_x, width - 1
    )
