// SPDX-License-Identifier: Apache-2.0
// Shapes and formats as tiling and inference code sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "npuforge_host/ge_types.h"

namespace gert {

class Shape {
public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() = default;
    Shape(const std::initializer_list<int64_t>& dims) {
        if (dims.size() > kMaxDimNum) return;
        for (const int64_t dim : dims) dims_[dim_num_++] = dim;
    }
    bool operator==(const Shape& other) const {
        if (dim_num_ != other.dim_num_) return false;
        for (size_t i = 0; i < dim_num_; ++i) {
            if (dims_[i] != other.dims_[i]) return false;
        }
        return true;
    }
    bool operator!=(const Shape& other) const { return !(*this == other); }

    // The product of all dims; a scalar counts one element, an overflow is reported as -1.
    int64_t GetShapeSize() const {
        int64_t size = 1;
        for (size_t i = 0; i < dim_num_; ++i) {
            if (__builtin_mul_overflow(size, dims_[i], &size)) return -1;
        }
        return size;
    }
    bool IsScalar() const { return dim_num_ == 0; }
    void SetScalar() { dim_num_ = 0; }
    size_t GetDimNum() const { return dim_num_; }
    void SetDimNum(size_t dim_num) { dim_num_ = dim_num; }
    int64_t GetDim(size_t index) const { return index < kMaxDimNum ? dims_[index] : kInvalidDimValue; }
    void SetDim(size_t index, int64_t value) {
        if (index < kMaxDimNum) dims_[index] = value;
    }
    const int64_t& operator[](size_t index) const { return dims_[index]; }
    int64_t& operator[](size_t index) { return dims_[index]; }
    Shape& AppendDim(int64_t value) {
        if (dim_num_ < kMaxDimNum) dims_[dim_num_++] = value;
        return *this;
    }

private:
    size_t dim_num_ = 0;
    int64_t dims_[kMaxDimNum] = {};
};

class Stride : public Shape {
public:
    using Shape::Shape;
    int64_t GetStride(size_t index) const { return GetDim(index); }
};

class StorageShape {
public:
    StorageShape() = default;
    StorageShape(const std::initializer_list<int64_t>& origin,
                 const std::initializer_list<int64_t>& storage)
        : origin_(origin), storage_(storage) {}
    const Shape& GetOriginShape() const { return origin_; }
    const Shape& GetStorageShape() const { return storage_; }
    const Shape& GetShape() const { return storage_; }
    Shape& MutableOriginShape() { return origin_; }
    Shape& MutableStorageShape() { return storage_; }
    Shape& MutableShape() { return storage_; }
    bool operator==(const StorageShape& other) const {
        return origin_ == other.origin_ && storage_ == other.storage_;
    }
    bool operator!=(const StorageShape& other) const { return !(*this == other); }

private:
    Shape origin_;
    Shape storage_;
};

class ExpandDimsType {
public:
    ExpandDimsType() = default;
    explicit ExpandDimsType(int64_t value) : value_(value) {}
    explicit ExpandDimsType(const char*) {}

private:
    int64_t value_ = 0;
};

class StorageFormat {
public:
    StorageFormat() = default;
    StorageFormat(ge::Format origin, ge::Format storage, const ExpandDimsType& expand)
        : origin_(origin), storage_(storage), expand_(expand) {}
    ge::Format GetOriginFormat() const { return origin_; }
    ge::Format GetStorageFormat() const { return storage_; }
    ExpandDimsType GetExpandDimsType() const { return expand_; }
    void SetOriginFormat(ge::Format format) { origin_ = format; }
    void SetStorageFormat(ge::Format format) { storage_ = format; }

private:
    ge::Format origin_ = ge::FORMAT_ND;
    ge::Format storage_ = ge::FORMAT_ND;
    ExpandDimsType expand_;
};

class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const { return type_; }
    const StorageFormat& GetFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
    void SetDataType(ge::DataType type) { type_ = type; }
    void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }
    void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }

private:
    ge::DataType type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
};

template <typename T>
class Range {
public:
    Range() = default;
    Range(T* min, T* max) : min_(min), max_(max) {}
    const T* GetMin() const { return min_; }
    const T* GetMax() const { return max_; }
    T* GetMin() { return min_; }
    T* GetMax() { return max_; }
    void SetMin(T* min) { min_ = min; }
    void SetMax(T* max) { max_ = max; }

private:
    T* min_ = nullptr;
    T* max_ = nullptr;
};

}  // namespace gert
