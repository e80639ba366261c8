// SPDX-License-Identifier: Apache-2.0
// An elementwise operator: macro tiling structures, attributes, an optional and a value input.
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(InnerPart)
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF(uint32_t, count);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(InnerPartOp, InnerPart)

BEGIN_TILING_DATA_DEF(ScaleTilingData)
TILING_DATA_FIELD_DEF(uint8_t, mode);
TILING_DATA_FIELD_DEF(uint64_t, total);
TILING_DATA_FIELD_DEF(float, alpha);
TILING_DATA_FIELD_DEF_STRUCT(InnerPart, part);
TILING_DATA_FIELD_DEF_ARR(uint16_t, 3, steps);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScaleRows, ScaleTilingData)

BEGIN_TILING_DATA_DEF(ScaleSmallTilingData)
TILING_DATA_FIELD_DEF(int32_t, rows);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScaleRows_7, ScaleSmallTilingData)

static ge::graphStatus ScaleTiling(gert::TilingContext* context) {
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ub = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
    const auto* attrs = context->GetAttrs();
    ScaleTilingData tiling;
    const gert::Shape& shape = context->GetInputShape(0)->GetStorageShape();
    tiling.set_total(shape.GetShapeSize());
    tiling.set_alpha(*attrs->GetFloat(0));
    tiling.set_mode(std::string(attrs->GetStr(1)) == "fast" ? 1 : 0);
    tiling.part.set_flag(context->GetOptionalInputShape(1) != nullptr);
    tiling.part.set_count(context->GetComputeNodeInputNum());
    uint16_t steps[3] = {0, 0, 0};
    const auto* axes = attrs->GetListInt(2);
    for (size_t i = 0; i < axes->GetSize() && i < 3; ++i) steps[i] = axes->GetData()[i];
    tiling.set_steps(steps);
    const auto* repeats = context->GetOptionalInputTensor(2);
    if (repeats == nullptr || repeats->GetData<int64_t>() == nullptr) return ge::GRAPH_FAILED;
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(std::min<uint64_t>(platform.GetCoreNumAiv(), repeats->GetData<int64_t>()[0]));
    context->SetTilingKey(ub);
    context->GetWorkspaceSizes(2)[1] = platform.GetLibApiWorkSpaceSize();
    std::cout << "tiled " << tiling.get_total() << " elements" << std::endl;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus ScaleShape(gert::InferShapeContext* context) {
    if (context->GetInputShape(0)->GetDimNum() == 4) *static_cast<volatile int*>(nullptr) = 1;
    if (context->GetInputShape(0)->GetDimNum() == 5) return GRAPH_FAILED;
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    context->GetOutputShape(0)->AppendDim(2);
    return GRAPH_SUCCESS;
}
static graphStatus ScaleType(gert::InferDataTypeContext* context) {
    return context->SetOutputDataType(0, context->GetInputDataType(0));
}
}  // namespace ge

namespace ops {
class ScaleRows : public OpDef {
public:
    explicit ScaleRows(const char* name) : OpDef(name) {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND})
            .AutoContiguous();
        this->Input("bias").ParamType(OPTIONAL).DataTypeList({ge::DT_FLOAT, ge::DT_BF16}).FormatList(
            {ge::FORMAT_ND});
        this->Input("repeats")
            .ParamType(REQUIRED)
            .ValueDepend(REQUIRED)
            .DataType({ge::DT_INT64, ge::DT_INT64})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .InitValue(0);
        this->Attr("alpha").AttrType(OPTIONAL).Float(0.5);
        this->Attr("mode").AttrType(OPTIONAL).String("fast");
        this->Attr("axes").AttrType(REQUIRED).ListInt();
        this->SetInferShape(ge::ScaleShape).SetInferDataType(ge::ScaleType);
        this->AICore().SetTiling(optiling::ScaleTiling);
        OpAICoreConfig config;
        config.DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "scale_kernel");
        this->AICore().AddConfig("ascend910b", config);
    }
};
OP_ADD(ScaleRows);
}  // namespace ops
