// SPDX-License-Identifier: Apache-2.0
// The context classes passed to registered functions; all are views of one Node.
#pragma once

#include "npuforge_host/node.h"

namespace gert {

class KernelContext {
public:
    explicit KernelContext(npuforge::host::Node& node) : node_(&node) {}

protected:
    npuforge::host::Node* node_;
};

class ExtendedKernelContext : public KernelContext {
public:
    using KernelContext::KernelContext;
    const ComputeNodeInfo* GetComputeNodeInfo() const { return &node_->info; }
    const char* GetNodeType() const { return node_->info.GetNodeType(); }
    const char* GetNodeName() const { return node_->info.GetNodeName(); }
    const char* GetKernelType() const { return node_->info.GetNodeType(); }
    const char* GetKernelName() const { return node_->info.GetNodeName(); }
    const RuntimeAttrs* GetAttrs() const { return node_->info.GetAttrs(); }
    size_t GetComputeNodeInputNum() const { return node_->info.GetInputsNum(); }
    size_t GetComputeNodeOutputNum() const { return node_->info.GetOutputsNum(); }
    const AnchorInstanceInfo* GetIrInputInstanceInfo(size_t index) const {
        return node_->info.GetInputInstanceInfo(index);
    }
    const AnchorInstanceInfo* GetIrOutputInstanceInfo(size_t index) const {
        return node_->info.GetOutputInstanceInfo(index);
    }
    const CompileTimeTensorDesc* GetInputDesc(size_t index) const {
        return node_->info.GetInputTdInfo(index);
    }
    const CompileTimeTensorDesc* GetOutputDesc(size_t index) const {
        return node_->info.GetOutputTdInfo(index);
    }
    const CompileTimeTensorDesc* GetDynamicInputDesc(size_t ir, size_t relative) const {
        const Tensor* tensor = DynamicInput(ir, relative);
        return tensor == nullptr ? nullptr : &tensor->desc;
    }
    const CompileTimeTensorDesc* GetOptionalInputDesc(size_t ir) const {
        return GetDynamicInputDesc(ir, 0);
    }
    const CompileTimeTensorDesc* GetRequiredInputDesc(size_t ir) const {
        return GetDynamicInputDesc(ir, 0);
    }
    const CompileTimeTensorDesc* GetDynamicOutputDesc(size_t ir, size_t relative) const {
        const auto* place = GetIrOutputInstanceInfo(ir);
        if (place == nullptr || relative >= place->GetInstanceNum()) return nullptr;
        return GetOutputDesc(place->GetInstanceStart() + relative);
    }
    const Tensor* GetInputTensor(size_t index) const {
        return index < node_->info.inputs.size() ? node_->info.inputs[index].get() : nullptr;
    }
    const Tensor* GetDynamicInputTensor(size_t ir, size_t relative) const {
        return DynamicInput(ir, relative);
    }
    const Tensor* GetOptionalInputTensor(size_t ir) const { return DynamicInput(ir, 0); }
    const Tensor* GetRequiredInputTensor(size_t ir) const { return DynamicInput(ir, 0); }

protected:
    const Tensor* DynamicInput(size_t ir, size_t relative) const {
        const auto* place = GetIrInputInstanceInfo(ir);
        if (place == nullptr || relative >= place->GetInstanceNum()) return nullptr;
        return GetInputTensor(place->GetInstanceStart() + relative);
    }
};

class TilingContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;

    const void* GetCompileInfo() const { return node_->compile_info; }
    template <typename T>
    const T* GetCompileInfo() const {
        return static_cast<const T*>(node_->compile_info);
    }
    fe::PlatFormInfos* GetPlatformInfo() const { return node_->platform; }
    int32_t GetDeterministic() const { return node_->deterministic; }
    int32_t GetDeterministicLevel() const { return node_->deterministic; }

    const StorageShape* GetInputShape(size_t index) const { return ShapeOf(GetInputTensor(index)); }
    const StorageShape* GetOptionalInputShape(size_t ir) const { return ShapeOf(DynamicInput(ir, 0)); }
    const StorageShape* GetRequiredInputShape(size_t ir) const { return ShapeOf(DynamicInput(ir, 0)); }
    const StorageShape* GetDynamicInputShape(size_t ir, size_t relative) const {
        return ShapeOf(DynamicInput(ir, relative));
    }
    const StorageShape* GetOutputShape(size_t index) const {
        return index < node_->info.outputs.size() ? &node_->info.outputs[index]->shape : nullptr;
    }
    const StorageShape* GetDynamicOutputShape(size_t ir, size_t relative) const {
        const auto* place = GetIrOutputInstanceInfo(ir);
        if (place == nullptr || relative >= place->GetInstanceNum()) return nullptr;
        return GetOutputShape(place->GetInstanceStart() + relative);
    }

    ge::graphStatus SetTilingKey(uint64_t key) { return Set(node_->tiling_key, key); }
    uint64_t GetTilingKey() const { return node_->tiling_key; }
    ge::graphStatus SetBlockDim(uint32_t blocks) {
        node_->block_dim_set = true;
        return Set(node_->block_dim, blocks);
    }
    ge::graphStatus SetSimdNumBlocks(uint32_t blocks) { return SetBlockDim(blocks); }
    uint32_t GetBlockDim() const { return node_->block_dim; }
    uint32_t GetSimdNumBlocks() const { return node_->block_dim; }
    ge::graphStatus SetScheduleMode(uint32_t mode) { return Set(node_->schedule_mode, mode); }
    uint32_t GetScheduleMode() const { return node_->schedule_mode; }
    ge::graphStatus SetAicpuBlockDim(uint32_t blocks) { return Set(node_->aicpu_block_dim, blocks); }
    uint32_t GetAicpuBlockDim() const { return node_->aicpu_block_dim; }
    ge::graphStatus SetTilingCond(int32_t cond) { return Set(node_->tiling_cond, cond); }
    int32_t GetTilingCond() const { return node_->tiling_cond; }
    ge::graphStatus SetNeedAtomic(bool atomic) { return Set(node_->need_atomic, atomic); }
    bool NeedAtomic() const { return node_->need_atomic; }
    ge::graphStatus SetLocalMemorySize(uint32_t size) { return Set(node_->local_memory, size); }
    ge::graphStatus SetDynUBufSize(uint32_t size) { return SetLocalMemorySize(size); }
    uint32_t GetLocalMemorySize() const { return node_->local_memory; }

    template <typename T>
    T* GetTilingData() {
        if (node_->tiling.GetCapacity() < sizeof(T)) return nullptr;
        node_->tiling.SetDataSize(sizeof(T));
        return static_cast<T*>(node_->tiling.GetData());
    }
    TilingData* GetRawTilingData() { return &node_->tiling; }
    size_t* GetWorkspaceSizes(size_t count) {
        if (count > npuforge::host::kMaxWorkspaces) return nullptr;
        node_->workspace_count = count;
        return node_->workspaces;
    }
    size_t GetWorkspaceNum() const { return node_->workspace_count; }
    bool InputIsView(size_t) const { return false; }
    bool OutputIsView(size_t) const { return false; }

private:
    static const StorageShape* ShapeOf(const Tensor* tensor) {
        return tensor == nullptr ? nullptr : &tensor->shape;
    }
    template <typename T>
    static ge::graphStatus Set(T& field, T value) {
        field = value;
        return ge::GRAPH_SUCCESS;
    }
};

class TilingParseContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const char* GetCompiledJson() const { return node_->compile_json.c_str(); }
    template <typename T>
    T* GetCompiledInfo() {
        return static_cast<T*>(node_->compile_info);
    }
    fe::PlatFormInfos* GetPlatformInfo() const { return node_->platform; }
};

class InferShapeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Shape* GetInputShape(size_t index) const { return ShapeOf(GetInputTensor(index)); }
    const Shape* GetOptionalInputShape(size_t ir) const { return ShapeOf(DynamicInput(ir, 0)); }
    const Shape* GetRequiredInputShape(size_t ir) const { return ShapeOf(DynamicInput(ir, 0)); }
    const Shape* GetDynamicInputShape(size_t ir, size_t relative) const {
        return ShapeOf(DynamicInput(ir, relative));
    }
    Shape* GetOutputShape(size_t index) {
        return index < node_->inferred_shapes.size() ? &node_->inferred_shapes[index] : nullptr;
    }

private:
    // Inference works on the shapes the user sees, not on a tensor's storage layout.
    static const Shape* ShapeOf(const Tensor* tensor) {
        return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
    }
};

class InferDataTypeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    ge::DataType GetInputDataType(size_t index) const { return TypeOf(GetInputTensor(index)); }
    ge::DataType GetOptionalInputDataType(size_t ir) const { return TypeOf(DynamicInput(ir, 0)); }
    ge::DataType GetRequiredInputDataType(size_t ir) const { return TypeOf(DynamicInput(ir, 0)); }
    ge::DataType GetDynamicInputDataType(size_t ir, size_t relative) const {
        return TypeOf(DynamicInput(ir, relative));
    }
    ge::DataType GetOutputDataType(size_t index) const {
        return index < node_->inferred_types.size() ? node_->inferred_types[index] : ge::DT_UNDEFINED;
    }
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType type) {
        if (index >= node_->inferred_types.size()) return ge::GRAPH_FAILED;
        node_->inferred_types[index] = type;
        return ge::GRAPH_SUCCESS;
    }

private:
    static ge::DataType TypeOf(const Tensor* tensor) {
        return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
    }
};

// Range inference serves graph compilation with unknown shapes; the twin registers but never runs it.
class InferShapeRangeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Range<Shape>* GetInputShapeRange(size_t) const { return nullptr; }
    const Range<Shape>* GetOptionalInputShapeRange(size_t) const { return nullptr; }
    const Range<Shape>* GetDynamicInputShapeRange(size_t, size_t) const { return nullptr; }
    const TensorRange* GetInputTensorRange(size_t) const { return nullptr; }
    Range<Shape>* GetOutputShapeRange(size_t) { return nullptr; }
};

}  // namespace gert
