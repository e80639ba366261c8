# SPDX-License-Identifier: Apache-2.0
"""A small correct kernel with places to put faults into."""

from __future__ import annotations

from npuforge.twin.lint import Finding, SourceText, lint


def kernel(
    *,
    top: str = "",
    members: str = "",
    method: str = "",
    body: str = "",
    entry: str = "",
    constructor: str = "__aicore__ inline ScaleKernel() {}",
) -> str:
    """A kernel that doubles a vector; each argument is inserted at its place."""
    return f"""
#include "kernel_operator.h"
{top}
constexpr uint32_t TILE = 1024;
class ScaleKernel {{
public:
    {constructor}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, AscendC::TPipe *pipe)
    {{
        this->length = length;
        this->scale = 2.0f;
        xGm.SetGlobalBuffer((__gm__ float *)x, length);
        yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(y), length);
        pipe->InitBuffer(inQueue, 2, TILE * sizeof(float));
        pipe->InitBuffer(outQueue, 2, TILE * sizeof(float));
    }}
    __aicore__ inline void Process()
    {{
        for (uint32_t i = 0; i < length / TILE; i++) {{
            CopyIn(i);
            Compute();
            CopyOut(i);
        }}
    }}

private:
    {method}
    __aicore__ inline void CopyIn(uint32_t i)
    {{
        AscendC::LocalTensor<float> x = inQueue.AllocTensor<float>();
        AscendC::DataCopy(x, xGm[i * TILE], TILE);
        inQueue.EnQue(x);
    }}
    __aicore__ inline void Compute()
    {{
        AscendC::LocalTensor<float> x = inQueue.DeQue<float>();
        AscendC::LocalTensor<float> y = outQueue.AllocTensor<float>();
        {body}
        AscendC::Muls(y, x, scale, TILE);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }}
    __aicore__ inline void CopyOut(uint32_t i)
    {{
        AscendC::LocalTensor<float> y = outQueue.DeQue<float>();
        AscendC::DataCopy(yGm[i * TILE], y, TILE);
        outQueue.FreeTensor(y);
    }}

    {members}
    AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue;
    AscendC::GlobalTensor<float> xGm, yGm;
    uint32_t length;
    float scale;
}};

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{{
    GET_TILING_DATA(tilingData, tiling);
    AscendC::TPipe pipe;
    ScaleKernel op;
    {entry}
    op.Init(x, y, tilingData.length, &pipe);
    op.Process();
}}
"""


def findings(source: str) -> list[Finding]:
    """What the lint says about one source."""
    return lint([SourceText("scale.cpp", source)])


def rule_lines(source: str) -> list[tuple[str, str]]:
    """(rule, text of the line) of every finding."""
    lines = source.splitlines()
    return [(f.rule, lines[f.line - 1].strip()) for f in findings(source)]
