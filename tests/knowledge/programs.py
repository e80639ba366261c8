# SPDX-License-Identifier: Apache-2.0
"""Two pairs of programs that tests of entries share, so that each is compiled once."""

from __future__ import annotations

from typing import Any

from npuforge.knowledge.entry import Advice, Entry

_KERNEL = """\
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y) {
    constexpr uint32_t N = 20;
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, N);
    yGm.SetGlobalBuffer((__gm__ float*)y, N);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 96);
    pipe.InitBuffer(out, 1, 96);
    LocalTensor<float> a = in.AllocTensor<float>();
    // [
    COPY_IN
    // ]
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Muls(b, a, 2.0f, 24);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopyPad(yGm, b, {1, N * sizeof(float), 0, 0, 0});
    out.FreeTensor(b);
}
"""
PADDED = _KERNEL.replace(
    "COPY_IN", "DataCopyPad(a, xGm, {1, N * sizeof(float), 0, 0, 0}, {false, 0, 0, 0.0f});"
)
PLAIN = _KERNEL.replace("COPY_IN", "DataCopy(a, xGm, N);")
LAUNCH = """\
blocks = 1

[[argument]]
name = "x"
shape = [20]
dtype = "float32"

[[argument]]
name = "y"
role = "out"
shape = [20]
dtype = "float32"

[expected]
y = "2 * x"
"""

_TILE = """\
import tile.language as tl


@ascend_kernel
def twice_kernel(x, y, total, per_core, tile):
    first = tl.program_id(0) * per_core
    count = min(per_core, total - first)
    held = tl.alloc_ub(tile, dtype=tl.float32)
    made = tl.alloc_ub(tile, dtype=tl.float32)
    for t in range(tl.cdiv(count, tile)):
        start = t * tile
        n = min(tile, count - start)
        with tl.copyin():
            tl.load(x + first + start, held[:n])
        with tl.compute():
            tl.mul(made[:n], held[:n], 2.0)
        with tl.copyout():
            tl.store(y + first + start, made[:n])


def twice_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    total = x.numel()
    per_core = PER_CORE
    n_cores = max(1, tl.cdiv(total, per_core))
    twice_kernel[n_cores](x, y, total, per_core, 1024)
"""
MANY_CORES = _TILE.replace("PER_CORE", "tl.align_up(max(1, tl.cdiv(total, tl.num_cores())), 64)")
ONE_CORE = _TILE.replace("PER_CORE", "tl.align_up(max(1, total), 64)")
TILE_LAUNCH = """\
[[case]]
[[case.input]]
name = "x"
shape = [48, 1024]
dtype = "float32"

[[case]]
[[case.input]]
name = "x"
shape = [7, 3]
dtype = "float32"
"""


def padded(**changes: Any) -> Entry:
    """A kernel that copies a short row right, after one that does not."""
    given: dict[str, Any] = {
        "id": "copy-short-rows-with-pad",
        "title": "Rows that do not end on 32 bytes are copied with DataCopyPad",
        "criterion": "difficulty",
        "language": "ascendc",
        "rationale": "DataCopy moves whole blocks of 32 bytes; DataCopyPad moves any count.",
        "before": PLAIN,
        "after": PADDED,
        "launch": LAUNCH,
        "claim": "rule CPY-01",
        "tags": ("alignment", "tail"),
        "identifiers": ("DataCopy", "DataCopyPad", "CPY-01"),
        "advises": Advice("copy of a tail", "DataCopyPad"),
    }
    return Entry(**{**given, **changes})


def many_cores(**changes: Any) -> Entry:
    """A tile program on all cores, after one on a single core."""
    given: dict[str, Any] = {
        "id": "all-cores",
        "title": "Elements are divided between all cores",
        "criterion": "speed",
        "language": "tile",
        "rationale": "A core has its own copy engines and vector unit; the others idle.",
        "before": ONE_CORE,
        "after": MANY_CORES,
        "launch": TILE_LAUNCH,
        "claim": "slower 2",
        "tags": ("cores",),
        "identifiers": ("tl.num_cores", "tl.cdiv"),
        "advises": Advice("division between cores", "all cores"),
    }
    return Entry(**{**given, **changes})
