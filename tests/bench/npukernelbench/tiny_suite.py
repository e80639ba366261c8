# SPDX-License-Identifier: Apache-2.0
"""A checkout in the suite's layout, with tasks and kernels written here."""

from __future__ import annotations

import json
from pathlib import Path

KERNEL = """\
#include "kernel_operator.h"
using namespace AscendC;

struct Share { uint32_t total; };

extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y, GM_ADDR workspace)
{
    const Share share{TOTAL};
    const uint32_t tile = 8;
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float*)x, share.total);
    to.SetGlobalBuffer((__gm__ float*)y, share.total);
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, tile * sizeof(float));
    pipe.InitBuffer(out, 2, tile * sizeof(float));
    const uint32_t step = GetBlockNum() * tile;
    for (uint32_t at = GetBlockIdx() * tile; at < share.total; at += step) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, from[at], tile);
        in.EnQue(a);
        a = in.DeQue<float>();
        LocalTensor<float> b = out.AllocTensor<float>();
        Muls(b, a, FACTOR, tile);
        out.EnQue(b);
        in.FreeTensor(a);
        b = out.DeQue<float>();
        DataCopy(to[at], b, tile);
        out.FreeTensor(b);
    }
}
"""

_WITH_TILING = """\
    GET_TILING_DATA(share, tiling);
"""

HOST = """\
HEADER#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
TILING    auto* chip = platform_ascendc::PlatformAscendCManager::GetInstance();
    context->SetBlockDim(chip->GetCoreNumAiv());
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class TYPE : public OpDef {
public:
    explicit TYPE(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(TYPE);
}  // namespace ops
"""

_HEADER = """\
#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(TYPEShare)
TILING_DATA_FIELD_DEF(uint32_t, total);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(TYPE, TYPEShare)
}  // namespace optiling
"""

_TILING = """\
    TYPEShare share;
    share.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    share.SaveToBuffer(context->GetRawTilingData()->GetData(),
                       context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(share.GetDataSize());
"""

BINDING = """\
#include <torch/library.h>
#include "pytorch_npu_helper.hpp"

at::Tensor custom_pybind_func(at::Tensor& x)
{
    at::Tensor y = torch::empty_like(x);
    EXEC_NPU_CMD(aclnnCustomOp, x, y);
    return y;
}

PYBIND11_MODULE(kernel_gen_ops, m)
{
    m.def("custom_pybind_api", &custom_pybind_func, "");
}
"""

MODULE = """\
import torch
import torch_npu
from torch_npu.contrib import transfer_to_npu


class Model(torch.nn.Module):
    def forward(self, x):
        return FORMULA


class ModelNew(torch.nn.Module):
    def forward(self, x):
        import kernel_gen_ops
        return kernel_gen_ops.NAME(x)
"""

INPUTS = """\
import torch


def get_inputs(param, device=None):
    shape = eval(param.get("shape", "[1]"))
    return (torch.rand(shape, device=device, dtype=getattr(torch, param.get("dtype"))),)


def get_init_inputs(param, device=None):
    return []
"""

LOOSE_CHECK = """\

def custom_check_precision(param, outputs, outputs_new):
    from framework.utils import check_precision
    return check_precision(outputs, outputs_new, max_abs_error=10.0, max_rel_error=0.0)
"""

# A list of tensors, a tensor among what the reference is made with, and attributes.
MIX_MODULE = """\
import torch
import kernel_gen_ops


class Model(torch.nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = weight
        self.scale = scale

    def forward(self, xs, power):
        total = sum(x.float() for x in xs) * self.weight
        return [torch.softmax(total * self.scale, dim=-1).to(xs[0].dtype), total**power]
"""

MIX_INPUTS = """\
import torch


def get_inputs(param, device=None):
    shape, dtype = eval(param.get("shape")), getattr(torch, param.get("dtype"))
    return [torch.randn(shape, device=device, dtype=dtype) for _ in range(2)], param.get("power")


def get_init_inputs(param, device=None):
    last = eval(param.get("shape"))[-1]
    return [torch.rand(last, device=device) + 0.5, param.get("scale")]
"""

TABLE = "case_id;shape;dtype\n0;[4, 64];float32\n1;[96];float32\n"
MIX_TABLE = (
    "case_id;shape;dtype;scale;power\n"
    "0;[5, 40];float32;0.5;2\n1;[6, 72];float16;0.5;2\n2;[7, 40];float32;0.5;2\n"
)


def kernel(name: str, factor: float, total: int | None = None) -> str:
    """Times `factor`; for `total` elements only where that is given."""
    text = KERNEL.replace("NAME", name).replace("FACTOR", f"{factor}f")
    if total is not None:
        return text.replace("TOTAL", str(total))
    text = text.replace("struct Share { uint32_t total; };\n\n", "")
    text = text.replace("    const Share share{TOTAL};\n", _WITH_TILING)
    return text.replace("GM_ADDR workspace)", "GM_ADDR workspace, GM_ADDR tiling)")


def project(kind: str, name: str, factor: float) -> dict[str, str]:
    """A whole operator: tiling header, host code, kernel."""
    host = HOST.replace("HEADER", f'#include "{name}_tiling.h"\n').replace("TILING", _TILING)
    return {
        f"op_host/{name}_tiling.h": _HEADER.replace("TYPE", kind),
        f"op_host/{name}.cpp": host.replace("TYPE", kind),
        f"op_kernel/{name}.cpp": kernel(name, factor),
    }


def question(kind: str, name: str) -> dict[str, str]:
    """The suite's host code for a kernel alone."""
    host = HOST.replace("HEADER", "").replace("TILING", "").replace("TYPE", kind)
    return {f"op_host/{name}.cpp": host}


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def checkout(root: Path) -> Path:
    """`Twice` has a right answer, `Loose` a wrong one that its own check lets pass, `Mix` none;
    the table of `Torn` is empty."""
    tasks = root / "tasks"
    for place, kind, formula, extra in (
        ("level1/Math", "Twice", "x * 2", ""),
        ("level2/Norm", "Loose", "x * 3", LOOSE_CHECK),
    ):
        name = kind.lower()
        folder = tasks / place / kind
        write(folder / "answer" / "0", project(kind, name, 2.0))
        write(folder / "question", question(kind, name))
        module = MODULE.replace("FORMULA", formula).replace("NAME", name)
        write(folder / "validation", {"module.py": module, "prepare_inputs.py": INPUTS + extra})
        write(folder / "validation", {"pybind.cpp": BINDING, "test_cases.csv": TABLE})
    for place, kind, table in (
        ("level3/Sort", "Mix", MIX_TABLE),
        ("level1/Math", "Torn", "case_id;shape\n"),
    ):
        files = {"module.py": MIX_MODULE, "prepare_inputs.py": MIX_INPUTS, "pybind.cpp": BINDING}
        write(tasks / place / kind / "validation", {**files, "test_cases.csv": table})
    return root


def said(text: str) -> str:
    """What the suite saves of a model's answer."""
    return json.dumps({"gen_content": text, "reasoning_content": "Twice, in tiles."})
