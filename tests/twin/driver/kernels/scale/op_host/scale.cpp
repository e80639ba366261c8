// SPDX-License-Identifier: Apache-2.0
// y = alpha * x (+ bias): two element types, an attribute, an optional input, workspace.
#include "register/op_def_registry.h"
#include "scale_tiling.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus Tiling(gert::TilingContext* context)
{
    const int64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    if (total % 64 != 0) return ge::GRAPH_FAILED;
    ScaleTiling tiling;
    tiling.set_total(total);
    tiling.set_alpha(*context->GetAttrs()->GetFloat(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(1);
    context->SetTilingKey(context->GetOptionalInputShape(1) != nullptr ? 2 : 1);
    context->GetWorkspaceSizes(1)[0] = 1024;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus Shape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
static graphStatus Type(gert::InferDataTypeContext* context)
{
    return context->SetOutputDataType(0, context->GetInputDataType(0));
}
}  // namespace ge

namespace ops {
class Scale : public OpDef {
public:
    explicit Scale(const char* name) : OpDef(name)
    {
        for (const char* input : {"x", "bias"})
            this->Input(input)
                .ParamType(input[0] == 'x' ? REQUIRED : OPTIONAL)
                .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
                .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("alpha").AttrType(OPTIONAL).Float(2.0);
        this->SetInferShape(ge::Shape).SetInferDataType(ge::Type);
        this->AICore().SetTiling(optiling::Tiling).AddConfig("ascend910b");
    }
};
OP_ADD(Scale);
}  // namespace ops
