# SPDX-License-Identifier: Apache-2.0
"""Modules and answers that the tests of strategies share; what is built once is built for all."""

from __future__ import annotations

import torch
from tests.models.server import Answer, chat

from npuforge.generate import generate
from npuforge.generate.outcome import Outcome
from npuforge.generate.writer import Writer
from npuforge.generate.written.answer import joined
from npuforge.lower.compiler import lower
from npuforge.lower.formats import msopgen
from npuforge.tile import texts


class Scale(torch.nn.Module):
    """Runs in the test's own process, which spares it the start of another."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 + 1


class Gelu(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x)


class Softmax(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def generated(
    module: torch.nn.Module, writer: Writer, *shape: int, form: str = "msopgen"
) -> Outcome:
    """What a writer makes of a module, called with one tensor."""
    kind = torch.float16 if isinstance(module, Gelu) else torch.float32
    torch.manual_seed(0)
    inputs = [torch.randn(*shape).to(kind)]
    name = type(module).__name__.lower()
    return generate(module, inputs, name=name, strategy=writer, form=form)


KERNEL = """\
#include "kernel_operator.h"

using namespace AscendC;

constexpr int64_t TILE = 64;

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQue;
    TQue<QuePosition::VECOUT, 2> outQue;
    pipe.InitBuffer(inQue, 2, TILE * sizeof(float));
    pipe.InitBuffer(outQue, 2, TILE * sizeof(float));
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
    xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
    yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
    const int64_t total = t.xDim0 * t.xDim1;
    const int64_t cores = GetBlockNum();
    const int64_t share = (total + cores * 8 - 1) / (cores * 8) * 8;
    const int64_t first = GetBlockIdx() * share;
    const int64_t last = first + share < total ? first + share : total;
    for (int64_t at = first; at < last; at += TILE) {
        const int64_t count = last - at < TILE ? last - at : TILE;
        const DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        LocalTensor<float> in = inQue.AllocTensor<float>();
        DataCopyPad(in, xGm[at], copy, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
        inQue.EnQue(in);
        in = inQue.DeQue<float>();
        LocalTensor<float> out = outQue.AllocTensor<float>();
        Muls(out, in, 2.0f, count);
        Adds(out, out, 1.0f, count);
        inQue.FreeTensor(in);
        outQue.EnQue(out);
        out = outQue.DeQue<float>();
        DataCopyPad(yGm[at], out, copy);
        outQue.FreeTensor(out);
    }
}
"""
PROJECT = msopgen.sources(lower(texts.examples()["gelu"]))


def python(program: str, words: str = "The rows are divided over the cores.") -> Answer:
    return chat(f"{words}\n```python\n{program}```", usage=(900, 300))


def cpp(program: str) -> Answer:
    return chat(f"Each core takes a share.\n```cpp\n{program}```", usage=(900, 300))


def files(texts_by_path: dict[str, str]) -> Answer:
    fenced = {path: f"```cpp\n{text}```\n" for path, text in texts_by_path.items()}
    return chat(joined(fenced), usage=(900, 300))
