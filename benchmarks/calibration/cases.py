# SPDX-License-Identifier: Apache-2.0
"""Published measurements with the streams that mirror them."""

from __future__ import annotations

from published_streams import (
    Case,
    add_double,
    add_queue,
    add_scalar,
    add_single,
    mish_queue,
    sqrt_queue,
    tiles,
    unary_queue,
    whole_matrix,
)

from npuforge.twin.timing.records import BYPASS_L2

ADD = [
    Case("add case 0 (1/100)", "910b1", 12396.0, add_scalar, note="scaled: 164 of 16384 rounds"),
    Case("add case 1", "910b1", 6909.6, lambda: add_single(1, 4096, 86)),
    Case("add case 2", "910b1", 306.58, lambda: add_single(48, 4096, 86), listed=False),
    Case("add case 3", "910b1", 268.5, lambda: add_single(48, 16384, 278)),
    Case("add case 4", "910b1", 264.02, lambda: add_double(48, 16384, 278, 0)),
    Case(
        "add case 5", "910b1", 187.68, lambda: add_double(48, 16384, 278, BYPASS_L2), listed=False
    ),
    Case("add case 6", "910b1", 184.52, lambda: add_double(48, 16256, 149, BYPASS_L2)),
]

LARGE = (12288, 12288)
ODD = (12288, 12287)  # rows start at odd addresses
SMALL = (6144, 512)

COPY = [
    Case("copy UB 1", "910b1", 564.84, lambda: tiles(*LARGE, 48, (1, 64))),
    Case("copy UB 2", "910b1", 233.54, lambda: tiles(*LARGE, 48, (64, 64))),
    Case("copy UB 3", "910b1", 215.82, lambda: tiles(*LARGE, 48, (64, 1024)), listed=False),
    Case("copy UB 4", "910b1", 275.3, lambda: tiles(*ODD, 48, (64, 1024))),
    Case("copy UB 5", "910b1", 828.06, lambda: tiles(*LARGE, 48, (64, 1024), repeat=4)),
    Case(
        "copy UB 6",
        "910b1",
        365.74,
        lambda: tiles(*LARGE, 48, (64, 1024), repeat=4, slices=4),
        listed=False,
    ),
    Case("copy UB 7", "910b1", 539.42, lambda: whole_matrix(*SMALL, 48, (128, 64), shifted=False)),
    Case(
        "copy UB 8",
        "910b1",
        328.88,
        lambda: whole_matrix(*SMALL, 48, (128, 64), shifted=True),
        listed=False,
    ),
]

# The same into L1 (cube cores, with layout conversion on the way).
COPY_L1 = [
    Case(name, "910b1", measured, build, "cube", listed=name not in {"copy L1 3", "copy L1 6"})
    for name, measured, build in (
        ("copy L1 1", 300.7, lambda: tiles(*LARGE, 24, (64, 64))),
        ("copy L1 2", 230.24, lambda: tiles(*LARGE, 24, (64, 256))),
        ("copy L1 3", 438.76, lambda: tiles(*ODD, 24, (64, 256))),
        ("copy L1 4", 899.34, lambda: tiles(*LARGE, 24, (64, 1024), repeat=4)),
        ("copy L1 5", 414.96, lambda: tiles(*LARGE, 24, (64, 1024), repeat=4, slices=4)),
        ("copy L1 6", 278.56, lambda: whole_matrix(*SMALL, 24, (256, 64), shifted=False)),
        ("copy L1 7", 221.34, lambda: whole_matrix(*SMALL, 24, (256, 64), shifted=True)),
    )
]

# direct_launch_simple examples of cann-bench (sources in its history), 910B2, cold L2
QUEUE = [
    Case("add f32 1K", "910b2", 2.04, lambda: add_queue(1024, 4), listed=False),
    Case("add f32 1M", "910b2", 9.95, lambda: add_queue(1 << 20, 4), listed=False),
    Case("add f16 1M", "910b2", 6.3, lambda: add_queue(1 << 20, 2), listed=False),
    Case("sqrt f32 1K", "910b2", 2.82, lambda: sqrt_queue(1024, 4), listed=False),
    Case("sqrt f32 1M", "910b2", 8.2, lambda: sqrt_queue(1 << 20, 4), listed=False),
    Case("sqrt f16 1M", "910b2", 7.47, lambda: sqrt_queue(1 << 20, 2), listed=False),
    Case("mish f16 1M", "910b2", 9.44, lambda: mish_queue(1 << 20, 2), listed=False),
    Case("mish f32 4M", "910b2", 21.19, lambda: mish_queue(4 << 20, 4), listed=False),
    Case("mish bf16 16M", "910b2", 76.17, lambda: mish_queue(16 << 20, 2), listed=False),
    Case("mish f16 67M", "910b2", 283.77, lambda: mish_queue(64 << 20, 2), listed=False),
]

# Vendor kernels without public source, memory bound: sigmoid, exp and gelu agree within 2 %.
LIBRARY = [
    Case("unary f32 8192x8192", "910b2", 354.19, lambda: unary_queue(64 << 20, 4)),
    Case("unary f16 8192x8192", "910b2", 142.2, lambda: unary_queue(64 << 20, 2)),
    Case("unary f32 2048x2048", "910b2", 18.14, lambda: unary_queue(4 << 20, 4)),
    Case("unary f16 1024x1024", "910b2", 5.3, lambda: unary_queue(1 << 20, 2)),
]

CASES = [*ADD, *COPY, *COPY_L1, *QUEUE, *LIBRARY]
