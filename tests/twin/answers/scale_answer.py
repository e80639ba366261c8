# SPDX-License-Identifier: Apache-2.0
# ruff: noqa
# An answer in six strings, written for these tests.
project_json_src = (
    """[{"op": "ScaleCustom", "input_desc": [{"name": "x"}], "output_desc": [{"name": "y"}]}]"""
)

host_tiling_src = """
#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(ScaleTilingData)
TILING_DATA_FIELD_DEF(uint32_t, total);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScaleCustom, ScaleTilingData)
}
"""

host_operator_src = """
#include "scale_custom_tiling.h"
#include "register/op_def_registry.h"
namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    ScaleTilingData tiling;
    tiling.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    context->SetBlockDim(8);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}
namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
}
namespace ops {
class ScaleCustom : public OpDef {
public:
    explicit ScaleCustom(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->SetInferShape(ge::InferShape);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ScaleCustom);
}
"""

kernel_src = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void scale_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    const uint32_t count = data.total / GetBlockNum();
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, count * sizeof(float));
    pipe.InitBuffer(out, 1, count * sizeof(float));
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float*)x + count * GetBlockIdx(), count);
    to.SetGlobalBuffer((__gm__ float*)y + count * GetBlockIdx(), count);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, from, count);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Muls(b, a, 2.0f, count);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(to, b, count);
    out.FreeTensor(b);
}
"""

python_bind_src = """
#include <torch/extension.h>
#include "pytorch_npu_helper.hpp"
at::Tensor scale(const at::Tensor& x)
{
    std::vector<int64_t> shape(x.sizes().begin(), x.sizes().end());
    at::Tensor y = at::empty(shape, x.options());
    EXEC_NPU_CMD(aclnnScaleCustom, x, y);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale, "2 x"); }
"""

model_src = """
import torch
import torch_npu
import custom_ops_lib
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return custom_ops_lib.scale(x)
"""
