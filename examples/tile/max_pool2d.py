# SPDX-License-Identifier: Apache-2.0
"""Max pooling of images: rows fold by a reduction, columns by gathers with a step."""

import tile.language as tl


@ascend_kernel
def max_pool2d_kernel(x, y, lines, per_core, height, width, out_height, out_width, size, stride):
    first = tl.program_id(0) * per_core
    count = min(per_core, lines - first)
    window = tl.alloc_ub((size, width), dtype=tl.float32)
    folded = tl.alloc_ub(width, dtype=tl.float32)
    shifted = tl.alloc_ub(out_width, dtype=tl.float32)
    best = tl.alloc_ub(out_width, dtype=tl.float32)
    start = tl.alloc_ub(out_width, dtype=tl.int32)
    place = tl.alloc_ub(out_width, dtype=tl.int32)
    with tl.compute():
        tl.iota(start, 0, stride)
    for t in range(count):
        image = (first + t) // out_height
        top = (first + t) % out_height * stride
        with tl.copyin():
            tl.load(x + (image * height + top) * width, window, stride=width)
        with tl.compute():
            tl.reduce_max(folded, window, axis=0)
            tl.gather(best, folded, start)
            for k in range(1, size):
                tl.add(place, start, k)
                tl.gather(shifted, folded, place)
                tl.maximum(best, best, shifted)
        with tl.copyout():
            tl.store(y + (first + t) * out_width, best)


def max_pool2d_host(
    x: tl.input(tl.float32),
    size: tl.attr(int),
    stride: tl.attr(int),
    y: tl.output(
        tl.float32,
        (
            x.shape[0],
            x.shape[1],
            (x.shape[2] - size) // stride + 1,
            (x.shape[3] - size) // stride + 1,
        ),
    ),
):
    images, channels, height, width = x.shape
    tl.require(1 <= size <= 16 and stride >= 1, "the window has at most 16 rows")
    tl.require(size <= height and size <= width <= 1024, "the window lies within the image")
    out_height = (height - size) // stride + 1
    out_width = (width - size) // stride + 1
    # One line of the result at a time: its window of rows twice (at most 128 KiB), and five lines.
    lines = images * channels * out_height
    n_cores = max(1, min(tl.num_cores(), lines))
    per_core = tl.cdiv(lines, n_cores)
    max_pool2d_kernel[n_cores](
        x, y, lines, per_core, height, width, out_height, out_width, size, stride
    )
