// SPDX-License-Identifier: Apache-2.0
// The staged tiling classes of the common operator library and their registry by priority.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "npuforge_host/log_macros.h"
#include "npuforge_host/platform.h"

#ifndef ASCENDC_EXTERN_C
#define ASCENDC_EXTERN_C
#endif

namespace optiling {

struct AiCoreParams {
    uint64_t ubSize = 0;
    uint64_t blockDim = 0;
    uint64_t aicNum = 0;
    uint64_t l1Size = 0;
    uint64_t l0aSize = 0;
    uint64_t l0bSize = 0;
    uint64_t l0cSize = 0;
};

// Subclasses fill the stages; a stage that answers GRAPH_PARAM_INVALID, or IsCapable() saying no,
// passes the call on to the template of the next priority.
class TilingBaseClass {
public:
    TilingBaseClass() = default;
    explicit TilingBaseClass(gert::TilingContext* context) : context_(context) {}
    virtual ~TilingBaseClass() = default;
    virtual void Reset(gert::TilingContext* context) { context_ = context; }

    ge::graphStatus DoTiling() {
        using Stage = ge::graphStatus (TilingBaseClass::*)();
        const auto run = [this](std::initializer_list<Stage> stages) {
            for (const Stage stage : stages) {
                if (const auto status = (this->*stage)(); status != ge::GRAPH_SUCCESS) return status;
            }
            return ge::GRAPH_SUCCESS;
        };
        auto status = run({&TilingBaseClass::GetShapeAttrsInfo, &TilingBaseClass::GetPlatformInfo});
        if (status != ge::GRAPH_SUCCESS) return status;
        if (!IsCapable()) return ge::GRAPH_PARAM_INVALID;
        status = run({&TilingBaseClass::DoOpTiling, &TilingBaseClass::DoLibApiTiling,
                      &TilingBaseClass::GetWorkspaceSize, &TilingBaseClass::PostTiling});
        if (status != ge::GRAPH_SUCCESS) return status;
        context_->SetTilingKey(GetTilingKey());
        DumpTilingInfo();
        return ge::GRAPH_SUCCESS;
    }

protected:
    virtual bool IsCapable() = 0;
    virtual ge::graphStatus GetPlatformInfo() = 0;
    virtual ge::graphStatus GetShapeAttrsInfo() = 0;
    virtual ge::graphStatus DoOpTiling() = 0;
    virtual ge::graphStatus DoLibApiTiling() = 0;
    virtual uint64_t GetTilingKey() const = 0;
    virtual ge::graphStatus GetWorkspaceSize() = 0;
    virtual ge::graphStatus PostTiling() = 0;
    virtual void DumpTilingInfo() {}

    static uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) {
        if (aic == 0 || aiv == 0 || aic > aiv) return slices;
        const uint32_t ratio = aiv / aic;
        return (slices + ratio - 1) / ratio;
    }
    template <typename ShapeLike>
    std::string GetShapeDebugStr(const ShapeLike& shape) const {
        std::ostringstream text;
        text << "[";
        for (size_t i = 0; i < shape.GetDimNum(); ++i) text << (i ? ", " : "") << shape.GetDim(i);
        text << "]";
        return text.str();
    }
    std::string GetTensorDebugStr(const gert::StorageShape* shape,
                                  const gert::CompileTimeTensorDesc* desc) const {
        if (shape == nullptr || desc == nullptr) return "nil ";
        return ge::TypeUtils::DataTypeToSerialString(desc->GetDataType()) +
               GetShapeDebugStr(shape->GetStorageShape()) + " ";
    }
    std::string GetTilingContextDebugStr() const {
        std::string text;
        for (size_t i = 0; i < context_->GetComputeNodeInputNum(); ++i) {
            text += GetTensorDebugStr(context_->GetInputShape(i), context_->GetInputDesc(i));
        }
        return text;
    }
    std::string GetTilingDataDebugStr() const {
        std::ostringstream text;
        const auto* raw = context_->GetRawTilingData();
        const auto* words = static_cast<const int32_t*>(raw->GetData());
        for (size_t i = 0; i < raw->GetDataSize() / sizeof(int32_t); ++i) text << words[i] << ", ";
        return text.str();
    }

    gert::TilingContext* context_ = nullptr;
    std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_;
    uint32_t blockDim_ = 0;
    uint64_t workspaceSize_ = 0;
    uint64_t tilingKey_ = 0;
    AiCoreParams aicoreParams_;
};

using TilingClassCase = std::unique_ptr<TilingBaseClass> (*)(gert::TilingContext*);

template <typename T>
std::unique_ptr<TilingBaseClass> TILING_CLASS(gert::TilingContext* context) {
    return std::make_unique<T>(context);
}

class TilingRegistry {
public:
    static TilingRegistry& GetInstance() {
        static TilingRegistry registry;
        return registry;
    }
    void Add(const std::string& op_type, int32_t priority, TilingClassCase create) {
        cases_[op_type].emplace(priority, create);
    }
    const std::map<int32_t, TilingClassCase>& GetTilingTemplates(const std::string& op_type) {
        return cases_[op_type];
    }
    ge::graphStatus DoTilingImpl(gert::TilingContext* context) {
        for (const auto& [priority, create] : GetTilingTemplates(context->GetNodeType())) {
            const auto status = create(context)->DoTiling();
            if (status != ge::GRAPH_PARAM_INVALID) return status;
        }
        NPUFORGE_LOG(kError, context, "no tiling template accepts this call");
        return ge::GRAPH_FAILED;
    }
    ge::graphStatus DoTilingImpl(gert::TilingContext* context,
                                 const std::vector<int32_t>& priorities) {
        const auto& templates = GetTilingTemplates(context->GetNodeType());
        for (const int32_t priority : priorities) {
            const auto found = templates.find(priority);
            if (found == templates.end()) continue;
            if (found->second(context)->DoTiling() == ge::GRAPH_SUCCESS) return ge::GRAPH_SUCCESS;
        }
        return ge::GRAPH_FAILED;
    }

private:
    std::map<std::string, std::map<int32_t, TilingClassCase>> cases_;
};

class Register {
public:
    explicit Register(std::string op_type) : op_type_(std::move(op_type)) {}
    template <typename T>
    Register& tiling(int32_t priority) {
        TilingRegistry::GetInstance().Add(op_type_, priority, TILING_CLASS<T>);
        return *this;
    }

private:
    std::string op_type_;
};

}  // namespace optiling

#define REGISTER_TILING_TEMPLATE(op_type, class_name, priority)                               \
    [[maybe_unused]] static ::optiling::Register class_name##priority##_template_registered = \
        ::optiling::Register(op_type).tiling<class_name>(priority)
#define REGISTER_OPS_TILING_TEMPLATE(op_type, class_name, priority) \
    REGISTER_TILING_TEMPLATE(#op_type, class_name, priority)
