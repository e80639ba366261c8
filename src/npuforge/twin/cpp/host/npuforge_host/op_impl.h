// SPDX-License-Identifier: Apache-2.0
// IMPL_OP and its relatives: registration of functions by operator type.
#pragma once

#include <initializer_list>

#include "npuforge_host/registry.h"

namespace gert {

class OpImplRegisterV2 {
public:
    using TilingKernelFunc = npuforge::host::TilingFunc;
    using TilingParseFunc = npuforge::host::TilingParseFunc;
    using InferShapeKernelFunc = npuforge::host::InferShapeFunc;
    using InferShapeRangeKernelFunc = npuforge::host::InferShapeRangeFunc;
    using InferDataTypeKernelFunc = npuforge::host::InferDataTypeFunc;
    using KernelFunc = ge::graphStatus (*)(KernelContext*);

    explicit OpImplRegisterV2(const char* op_type)
        : functions_(&npuforge::host::FunctionsOf(op_type)) {}

    OpImplRegisterV2& Tiling(TilingKernelFunc func, size_t = 2048) {
        functions_->tiling = func;
        return *this;
    }
    template <typename T>
    OpImplRegisterV2& TilingParse(TilingParseFunc func) {
        functions_->tiling_parse = func;
        functions_->create_compile_info = []() -> void* { return new T(); };
        return *this;
    }
    template <typename T>
    OpImplRegisterV2& TilingParse(KernelFunc func) {
        return TilingParse<T>(reinterpret_cast<TilingParseFunc>(func));
    }
    OpImplRegisterV2& InferShape(InferShapeKernelFunc func) {
        functions_->infer_shape = func;
        return *this;
    }
    OpImplRegisterV2& InferShapeRange(InferShapeRangeKernelFunc) { return *this; }
    OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc func) {
        functions_->infer_data_type = func;
        return *this;
    }
    OpImplRegisterV2& InferOutDataTypeSameWithFirstInput() {
        functions_->same_type_as_first_input = true;
        return *this;
    }
    OpImplRegisterV2& InputsDataDependency(std::initializer_list<int32_t> inputs) {
        return TilingInputsDataDependency(inputs);
    }
    OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs) {
        SetValueDepend(inputs.begin(), inputs.size());
        return *this;
    }
    template <typename Placements>
    OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs, Placements) {
        return TilingInputsDataDependency(inputs);
    }
    OpImplRegisterV2& HostInputs(std::initializer_list<int32_t>) { return *this; }
    OpImplRegisterV2& OutputShapeDependOnCompute(std::initializer_list<int32_t>) { return *this; }
    OpImplRegisterV2& NullableOutputs(std::initializer_list<int32_t>) { return *this; }
    // Private attributes, simplified keys and format inference steer graph compilation only.
    template <typename... Values>
    OpImplRegisterV2& PrivateAttr(const char*, Values&&...) {
        return *this;
    }
    template <typename Func>
    OpImplRegisterV2& GenSimplifiedKey(Func) {
        return *this;
    }
    template <typename Func>
    OpImplRegisterV2& InferFormat(Func) {
        return *this;
    }

private:
    void SetValueDepend(const int32_t* inputs, size_t count);

    npuforge::host::OpFunctions* functions_;
};

using OpImplRegister = OpImplRegisterV2;

}  // namespace gert

#ifndef VAR_UNUSED
#define VAR_UNUSED __attribute__((unused))
#endif

#define NPUFORGE_JOIN_(a, b) a##b
#define NPUFORGE_JOIN(a, b) NPUFORGE_JOIN_(a, b)
#define IMPL_OP(op_type)                                                                        \
    static gert::OpImplRegisterV2 VAR_UNUSED NPUFORGE_JOIN(op_impl_register_##op_type, __COUNTER__) = \
        gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_OPTILING(op_type)                                                               \
    gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_optiling_##op_type =                     \
        gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_INFERSHAPE(op_type)                                                             \
    gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_infershape_##op_type =                   \
        gert::OpImplRegisterV2(#op_type)
#define DEVICE_IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
