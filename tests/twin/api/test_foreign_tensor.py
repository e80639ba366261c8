# SPDX-License-Identifier: Apache-2.0
"""A tensor of one queue put into another: named as wrong, and handed on as the framework does."""

from __future__ import annotations

import numpy as np

from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import Launch, output, tensor

SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void hand_on(GM_ADDR x, GM_ADDR y) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 1, 256);
    GlobalTensor<float> source, target;
    source.SetGlobalBuffer((__gm__ float*)x, 256);
    target.SetGlobalBuffer((__gm__ float*)y, 256);
    for (uint32_t i = 0; i < 4; ++i) {
        LocalTensor<float> t = in.AllocTensor<float>();
        DataCopy(t, source[i * 64], 64);
        in.EnQue(t);
        t = in.DeQue<float>();
        Adds(t, t, 1.0f, 64);
        out.EnQue(t);
        LocalTensor<float> u = out.DeQue<float>();
        DataCopy(target[i * 64], u, 64);
        out.FreeTensor(u);
        in.FreeTensor(t);
    }
}
"""


def test_foreign_tensor_is_named_and_handed_on() -> None:
    build = Kernel.build(SOURCE)
    assert build.ok, build.log
    x = np.arange(256, dtype=np.float32)
    result = execute(build, Launch(1, (tensor("x", x), output("y", (256,), "float32"))))
    assert result.error is None
    assert "QUE-19" in {violation.rule for violation in result.violations}
    assert (result.outputs["y"] == x + 1).all()
