// SPDX-License-Identifier: Apache-2.0
// One operator call: everything a request says about it and everything the host code answers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "npuforge_host/tensor.h"

namespace gert {

// Where the instances of one declared (IR) input or output lie in the flat list.
class AnchorInstanceInfo {
public:
    AnchorInstanceInfo() = default;
    AnchorInstanceInfo(size_t start, size_t count) : start_(start), count_(count) {}
    size_t GetInstanceStart() const { return start_; }
    size_t GetInstanceNum() const { return count_; }

private:
    size_t start_ = 0;
    size_t count_ = 0;
};

class ComputeNodeInfo {
public:
    const char* GetNodeType() const { return type.c_str(); }
    const char* GetNodeName() const { return name.c_str(); }
    size_t GetIrInputsNum() const { return ir_inputs.size(); }
    size_t GetIrOutputsNum() const { return ir_outputs.size(); }
    size_t GetInputsNum() const { return inputs.size(); }
    size_t GetOutputsNum() const { return outputs.size(); }
    const AnchorInstanceInfo* GetInputInstanceInfo(size_t index) const {
        return index < ir_inputs.size() ? &ir_inputs[index] : nullptr;
    }
    const AnchorInstanceInfo* GetOutputInstanceInfo(size_t index) const {
        return index < ir_outputs.size() ? &ir_outputs[index] : nullptr;
    }
    const CompileTimeTensorDesc* GetInputTdInfo(size_t index) const {
        return index < inputs.size() ? &inputs[index]->desc : nullptr;
    }
    const CompileTimeTensorDesc* GetOutputTdInfo(size_t index) const {
        return index < outputs.size() ? &outputs[index]->desc : nullptr;
    }
    const RuntimeAttrs* GetAttrs() const { return &attrs; }

    std::string type;
    std::string name;
    std::vector<AnchorInstanceInfo> ir_inputs;
    std::vector<AnchorInstanceInfo> ir_outputs;
    std::vector<std::unique_ptr<Tensor>> inputs;
    std::vector<std::unique_ptr<Tensor>> outputs;
    RuntimeAttrs attrs;
};

class TilingData {
public:
    explicit TilingData(size_t capacity) : bytes_(capacity) {}
    size_t GetCapacity() const { return bytes_.size(); }
    size_t GetDataSize() const { return size_; }
    void SetDataSize(size_t size) { size_ = size; }
    void* GetData() { return bytes_.data(); }
    const void* GetData() const { return bytes_.data(); }
    template <typename T>
    ge::graphStatus Append(const T& value) {
        return Append(&value, 1);
    }
    template <typename T>
    ge::graphStatus Append(const T* values, size_t count) {
        void* place = Expand(sizeof(T) * count);
        if (place == nullptr) return ge::GRAPH_FAILED;
        std::memcpy(place, values, sizeof(T) * count);
        return ge::GRAPH_SUCCESS;
    }
    void* Expand(size_t size) {
        if (size > bytes_.size() - size_) return nullptr;
        void* place = bytes_.data() + size_;
        size_ += size;
        return place;
    }

private:
    std::vector<uint8_t> bytes_;
    size_t size_ = 0;
};

template <typename T>
TilingData& operator<<(TilingData& out, const T& value) {
    out.Append(value);
    return out;
}

}  // namespace gert

namespace fe {
class PlatFormInfos;
}

namespace npuforge::host {

constexpr size_t kTilingCapacity = 64 * 1024;
constexpr size_t kMaxWorkspaces = 16;

struct Node {
    gert::ComputeNodeInfo info;
    std::vector<gert::Shape> inferred_shapes;
    std::vector<ge::DataType> inferred_types;
    fe::PlatFormInfos* platform = nullptr;
    void* compile_info = nullptr;
    std::string compile_json = "{}";
    int32_t deterministic = 0;

    gert::TilingData tiling{kTilingCapacity};
    uint64_t tiling_key = 0;
    uint32_t block_dim = 0;
    bool block_dim_set = false;
    uint32_t schedule_mode = 0;
    uint32_t local_memory = 0;
    uint32_t aicpu_block_dim = 0;
    int32_t tiling_cond = 0;
    bool need_atomic = false;
    size_t workspaces[kMaxWorkspaces] = {};
    size_t workspace_count = 0;
};

}  // namespace npuforge::host
