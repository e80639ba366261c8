// SPDX-License-Identifier: Apache-2.0
// An operator that uses the library's tiling helpers and a template tiling key.
#include "ascendc/host_api/tiling/template_argument.h"
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"

ASCENDC_TPL_ARGS_DECL(MatmulSoftmax, ASCENDC_TPL_DATATYPE_DECL(TYPE, C_DT_FLOAT16, C_DT_FLOAT),
                      ASCENDC_TPL_UINT_DECL(STAGES, ASCENDC_TPL_4_BW, ASCENDC_TPL_UI_MIX, 1, 2, 4, 16),
                      ASCENDC_TPL_BOOL_DECL(WITH_BIAS, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(STAGES, ASCENDC_TPL_UI_LIST, 2, 16)));

namespace optiling {
BEGIN_TILING_DATA_DEF(MatmulSoftmaxTilingData)
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
TILING_DATA_FIELD_DEF_STRUCT(SoftMaxTiling, softmax);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(MatmulSoftmax, MatmulSoftmaxTilingData)

static ge::graphStatus Tile(gert::TilingContext* context) {
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const auto& a = context->GetInputShape(0)->GetStorageShape();
    const auto& b = context->GetInputShape(1)->GetStorageShape();
    const int32_t m = a.GetDim(0), k = a.GetDim(1), n = b.GetDim(1);
    const int64_t fixed = *context->GetAttrs()->GetInt(0);
    matmul_tiling::MultiCoreMatmulTiling cube(platform);
    cube.SetDim(platform.GetCoreNumAic());
    using matmul_tiling::CubeFormat;
    using matmul_tiling::TPosition;
    cube.SetAType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cube.SetBType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cube.SetCType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    cube.SetShape(m, n, k);
    cube.SetOrgShape(m, n, k);
    cube.SetBufferSpace(-1, -1, -1);
    if (fixed > 0) cube.SetFixSplit(fixed, fixed, -1);
    MatmulSoftmaxTilingData tiling;
    if (cube.GetTiling(tiling.cube) == -1) return ge::GRAPH_FAILED;
    ge::Shape rows({16, 128});
    const uint32_t work = AscendC::GetSoftMaxMaxTmpSize(rows, sizeof(float), false);
    AscendC::SoftMaxTilingFunc(rows, sizeof(float), work, tiling.softmax);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(tiling.cube.get_usedCoreNum());
    ASCENDC_TPL_SEL_PARAM(context, C_DT_FLOAT16, static_cast<uint64_t>(16), true);
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class MatmulSoftmax : public OpDef {
public:
    explicit MatmulSoftmax(const char* name) : OpDef(name) {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("fixed").AttrType(OPTIONAL).Int(0);
        this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
    }
};
OP_ADD(MatmulSoftmax);
}  // namespace ops
