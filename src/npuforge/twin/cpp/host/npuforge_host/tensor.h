// SPDX-License-Identifier: Apache-2.0
// Tensors and attributes handed to tiling and inference functions.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "npuforge_host/shape.h"

namespace gert {

enum TensorPlacement { kOnDeviceHbm, kOnHost, kFollowing, kOnDeviceP2p, kTensorPlacementEnd };
using TensorAddress = void*;
using ConstTensorAddressPtr = const void*;

class TensorData {
public:
    TensorAddress GetAddr() const { return addr_; }
    size_t GetSize() const { return size_; }
    TensorPlacement GetPlacement() const { return placement_; }
    void Set(TensorAddress addr, size_t size, TensorPlacement placement) {
        addr_ = addr;
        size_ = size;
        placement_ = placement;
    }

private:
    TensorAddress addr_ = nullptr;
    size_t size_ = 0;
    TensorPlacement placement_ = kOnDeviceHbm;
};

// Only value-dependent inputs carry data; GetData of any other tensor answers nullptr.
class Tensor {
public:
    int64_t GetShapeSize() const { return shape.GetStorageShape().GetShapeSize(); }
    template <typename T>
    const T* GetData() const {
        return static_cast<const T*>(data.GetAddr());
    }
    template <typename T>
    T* GetData() {
        return static_cast<T*>(data.GetAddr());
    }
    const void* GetAddr() const { return data.GetAddr(); }
    void* GetAddr() { return data.GetAddr(); }
    size_t GetSize() const { return data.GetSize(); }
    ge::DataType GetDataType() const { return desc.GetDataType(); }
    void SetDataType(ge::DataType type) { desc.SetDataType(type); }
    const Shape& GetStorageShape() const { return shape.GetStorageShape(); }
    const Shape& GetOriginShape() const { return shape.GetOriginShape(); }
    const StorageShape& GetShape() const { return shape; }
    StorageShape& GetShape() { return shape; }
    Shape& MutableStorageShape() { return shape.MutableStorageShape(); }
    Shape& MutableOriginShape() { return shape.MutableOriginShape(); }
    const StorageFormat& GetFormat() const { return desc.GetFormat(); }
    ge::Format GetStorageFormat() const { return desc.GetStorageFormat(); }
    ge::Format GetOriginFormat() const { return desc.GetOriginFormat(); }
    TensorPlacement GetPlacement() const { return data.GetPlacement(); }
    const TensorData& GetTensorData() const { return data; }
    TensorData& MutableTensorData() { return data; }

    StorageShape shape;
    CompileTimeTensorDesc desc;
    TensorData data;
};

class TensorRange : public Range<Tensor> {
public:
    using Range<Tensor>::Range;
};

class ContinuousVector {
public:
    size_t GetSize() const { return size_; }
    size_t GetCapacity() const { return capacity_; }
    ge::graphStatus SetSize(size_t size) {
        if (size > capacity_) return ge::GRAPH_FAILED;
        size_ = size;
        return ge::GRAPH_SUCCESS;
    }
    const void* GetData() const { return data_; }
    void* MutableData() { return data_; }
    void Bind(void* data, size_t size, size_t capacity) {
        data_ = data;
        size_ = size;
        capacity_ = capacity;
    }

private:
    void* data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

template <typename T>
class TypedContinuousVector : public ContinuousVector {
public:
    const T* GetData() const { return static_cast<const T*>(ContinuousVector::GetData()); }
    T* MutableData() { return static_cast<T*>(ContinuousVector::MutableData()); }
};

class ContinuousVectorVector {
public:
    const ContinuousVector* Get(size_t index) const {
        return index < rows.size() ? &rows[index] : nullptr;
    }
    size_t GetSize() const { return rows.size(); }

    std::vector<ContinuousVector> rows;
};

}  // namespace gert

namespace npuforge::host {

using AttrValue = std::variant<std::monostate, bool, int64_t, float, std::string, std::vector<char>,
                               std::vector<int64_t>, std::vector<float>,
                               std::vector<std::vector<int64_t>>>;

// An attribute at the stable address that GetAttrPointer hands out.
class Attribute {
public:
    explicit Attribute(AttrValue value) : value_(std::move(value)) { Bind(); }
    Attribute(const Attribute&) = delete;
    Attribute& operator=(const Attribute&) = delete;

    const void* Address() const {
        if (std::holds_alternative<std::monostate>(value_)) return nullptr;
        if (const auto* flag = std::get_if<bool>(&value_)) return flag;
        if (const auto* number = std::get_if<int64_t>(&value_)) return number;
        if (const auto* number = std::get_if<float>(&value_)) return number;
        if (const auto* text = std::get_if<std::string>(&value_)) return text->c_str();
        if (std::holds_alternative<std::vector<std::vector<int64_t>>>(value_)) return &rows_;
        return &list_;
    }

private:
    void Bind() {
        std::visit(
            [this](auto& value) {
                using Value = std::decay_t<decltype(value)>;
                if constexpr (std::is_same_v<Value, std::vector<std::vector<int64_t>>>) {
                    for (auto& row : value) {
                        rows_.rows.emplace_back().Bind(row.data(), row.size(), row.size());
                    }
                } else if constexpr (requires { value.data(); value.front(); } &&
                                     !std::is_same_v<Value, std::string>) {
                    list_.Bind(value.data(), value.size(), value.size());
                }
            },
            value_);
    }

    AttrValue value_;
    gert::ContinuousVector list_;
    gert::ContinuousVectorVector rows_;
};

}  // namespace npuforge::host

namespace gert {

class RuntimeAttrs {
public:
    template <typename T>
    const T* GetAttrPointer(size_t index) const {
        return index < values.size() ? static_cast<const T*>(values[index]->Address()) : nullptr;
    }
    const int64_t* GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
    const float* GetFloat(size_t index) const { return GetAttrPointer<float>(index); }
    const bool* GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
    const char* GetStr(size_t index) const { return GetAttrPointer<char>(index); }
    const TypedContinuousVector<int64_t>* GetListInt(size_t index) const {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
    }
    const TypedContinuousVector<float>* GetListFloat(size_t index) const {
        return GetAttrPointer<TypedContinuousVector<float>>(index);
    }
    const ContinuousVectorVector* GetListListInt(size_t index) const {
        return GetAttrPointer<ContinuousVectorVector>(index);
    }
    const Tensor* GetTensor(size_t index) const { return GetAttrPointer<Tensor>(index); }
    size_t GetAttrNum() const { return values.size(); }

    std::vector<std::unique_ptr<npuforge::host::Attribute>> values;
};

}  // namespace gert
