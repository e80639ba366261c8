# SPDX-License-Identifier: Apache-2.0
"""How close emitted kernels come to the modelled chip's limits.

    python benchmarks/tile_roofline.py [--soc 910b2]

Large shapes: share of the roofline (memory and vector rate, as `npuforge profile` computes it).
Small shapes: time as a multiple of the smallest kernel there is, one block that moves eight
numbers. The programs are those of `examples/tile`; nothing is timed on this machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram

EXAMPLES = Path(__file__).parents[1] / "examples" / "tile"
WANTED_SHARE = 0.85
WANTED_MULTIPLE = 2.0

Shapes = dict[str, tuple[int, ...]]

_SMALLEST = """
import tile.language as tl


@ascend_kernel
def smallest_kernel(x, y):
    tile = tl.alloc_ub(8, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, tile)
    with tl.copyout():
        tl.store(y, tile)


def smallest_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    tl.require(x.numel() == 8, "eight elements")
    smallest_kernel[1](x, y)
"""


def flat(n: int, *names: str) -> Shapes:
    return dict.fromkeys(names, (n,))


def rows(r: int, c: int) -> Shapes:
    return {"x": (r, c), "gamma": (c,), "beta": (c,)}


ADAMW = ("param", "grad", "moment", "square")
LARGE: list[tuple[str, str, Shapes]] = [
    ("element-wise", "gelu", flat(1 << 26, "x")),
    ("element-wise", "gelu", flat(100_000_007, "x")),
    ("element-wise", "adamw", flat(1 << 25, *ADAMW)),
    ("element-wise", "masked_fill", flat(1 << 26, "x", "where")),
    ("row reduction", "softmax", {"x": (16384, 4096)}),
    ("row reduction", "softmax", {"x": (65536, 1024)}),
    ("row reduction", "sum_all", flat(1 << 27, "x")),
    ("norm", "layer_norm", rows(16384, 4096)),
    ("norm", "layer_norm", rows(65536, 1024)),
    ("element-wise", "scale_shift", {"x": (65536, 1024), "a": (65536,), "b": (1024,)}),
]
# Rows that do not end on 32 bytes are transferred row by row: shown, not held to the mark.
ODD: list[tuple[str, str, Shapes]] = [
    ("row reduction", "softmax", {"x": (200_003, 250)}),
    ("norm", "layer_norm", rows(200_003, 250)),
]
SMALL: list[tuple[str, str, Shapes]] = [
    ("element-wise", "gelu", flat(1000, "x")),
    ("element-wise", "adamw", flat(1000, *ADAMW)),
    ("row reduction", "softmax", {"x": (8, 100)}),
    ("row reduction", "softmax", {"x": (16, 256)}),
    ("norm", "layer_norm", rows(8, 100)),
    ("norm", "layer_norm", rows(16, 256)),
]
ATTRIBUTES = {"adamw": {"correction1": 0.1, "root_correction2": 0.03}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--soc", default="910b2")
    soc = parser.parse_args().soc
    programs = {
        name: TwinProgram(lower((EXAMPLES / f"{name}.py").read_text(), soc))
        for name in sorted({name for _, name, _ in (*LARGE, *ODD, *SMALL)})
    }
    missed = 0
    print(f"{'kind':14} {'program':12} {'shape':18} {'us':>9} {'best us':>9} {'share':>6}  bound")
    for kind, name, shapes in (*LARGE, *ODD):
        timing = programs[name].time(shapes, ATTRIBUTES.get(name)).timing
        assert timing is not None
        assert timing.roofline is not None
        share = timing.roofline.share
        missed += share < WANTED_SHARE and (kind, name, shapes) in LARGE
        shape = "x".join(map(str, next(iter(shapes.values()))))
        print(
            f"{kind:14} {name:12} {shape:18} {timing.time_us:9.1f} {timing.roofline.best_us:9.1f} "
            f"{share:6.2f}  {timing.bottleneck.kind}"
        )
    smallest = TwinProgram(lower(_SMALLEST, soc)).time({"x": (8,)}).timing
    assert smallest is not None
    print(f"\nsmallest kernel: {smallest.time_us:.2f} us")
    print(f"{'kind':14} {'program':12} {'shape':18} {'us':>9} {'multiple':>9}")
    for kind, name, shapes in SMALL:
        timing = programs[name].time(shapes, ATTRIBUTES.get(name)).timing
        assert timing is not None
        multiple = timing.time_us / smallest.time_us
        missed += multiple > WANTED_MULTIPLE
        shape = "x".join(map(str, next(iter(shapes.values()))))
        print(f"{kind:14} {name:12} {shape:18} {timing.time_us:9.2f} {multiple:9.2f}")
    print(f"\n{missed} below the mark (share {WANTED_SHARE}, multiple {WANTED_MULTIPLE})")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
