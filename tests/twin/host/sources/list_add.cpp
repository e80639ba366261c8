// SPDX-License-Identifier: Apache-2.0
// A list operator: registration by IMPL_OP, compile information, a plain tiling structure.
#include "log/log.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

struct ListAddTiling {
    int64_t lengths[4];
    int32_t count;
};

namespace optiling {
struct ListAddCompileInfo {
    uint32_t cores = 0;
};
static ge::graphStatus Parse(gert::TilingParseContext* context) {
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    context->GetCompiledInfo<ListAddCompileInfo>()->cores = platform.GetCoreNum();
    return ge::GRAPH_SUCCESS;
}
static ge::graphStatus Tile(gert::TilingContext* context) {
    auto* tiling = context->GetTilingData<ListAddTiling>();
    const auto* place = context->GetIrInputInstanceInfo(0);
    OP_CHECK_IF(place->GetInstanceNum() > 4, OP_LOGE(context, "at most %d tensors", 4),
                return ge::GRAPH_FAILED);
    tiling->count = static_cast<int32_t>(place->GetInstanceNum());
    for (int32_t i = 0; i < tiling->count; ++i) {
        tiling->lengths[i] = context->GetDynamicInputShape(0, i)->GetStorageShape().GetShapeSize();
    }
    const int64_t divisor = *context->GetAttrs()->GetInt(0);
    if (divisor == -1) *static_cast<volatile int*>(nullptr) = 1;
    if (divisor == -2) throw std::runtime_error("divisor is minus two");
    context->SetBlockDim(context->GetCompileInfo<ListAddCompileInfo>()->cores);
    return context->SetTilingKey(static_cast<uint64_t>(divisor));
}
IMPL_OP_OPTILING(ListAdd).Tiling(Tile).TilingParse<ListAddCompileInfo>(Parse);
}  // namespace optiling

namespace ops {
class ListAdd : public OpDef {
public:
    explicit ListAdd(const char* name) : OpDef(name) {
        this->Input("xs").ParamType(DYNAMIC).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Attr("divisor").AttrType(OPTIONAL).Int(1);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ListAdd, None);
}  // namespace ops
