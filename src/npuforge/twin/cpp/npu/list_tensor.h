// SPDX-License-Identifier: Apache-2.0
// Dynamic tensor lists. In GM: the byte offset of the pointer table; for each tensor a word with its
// number of dimensions (low half) and its index (high half; in the first word the number of tensors)
// and its dimensions; then the pointer table. A list without shapes has one word with the number of
// tensors in the high half and 0 dimensions, and a filler word.
#pragma once
#include "tensor.h"

namespace AscendC {

class ListTensorDesc;

template <class T> class TensorDesc {
public:
    void SetShapeAddr(uint64_t* shapePtr) { shape_ = shapePtr; }
    uint64_t GetDim() { return dim_; }
    uint64_t GetIndex() { return index_; }
    uint64_t GetShape(uint32_t offset) { return shape_[offset]; }
    __gm__ T* GetDataPtr() { return data_; }
    GlobalTensor<T> GetDataObj() {
        uint64_t count = 1;
        for (uint32_t i = 0; i < dim_; ++i) count *= shape_[i];
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_, count);
        return tensor;
    }

private:
    friend class ListTensorDesc;
    uint32_t dim_ = 0, index_ = 0;
    uint64_t* shape_ = nullptr;
    __gm__ T* data_ = nullptr;
};

class ListTensorDesc {
public:
    ListTensorDesc() = default;
    ListTensorDesc(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) { Init(data, length, shapeSize); }
    void Init(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) {
        const auto* words = static_cast<const uint64_t*>(data);
        pointers_ = words + words[0] / sizeof(uint64_t);
        shapes_ = words + 1;
        dim_ = static_cast<uint32_t>(words[1]);
        perTensor_ = dim_ == 0 ? 2 : dim_ + 1;
        const auto first = static_cast<uint32_t>(words[1] >> 32);
        count_ = first != 0 ? first : static_cast<uint32_t>(*(pointers_ - perTensor_) >> 32) + 1;
        (void)length;
        (void)shapeSize;
    }
    template <class T> void GetDesc(TensorDesc<T>& desc, uint32_t index) {
        desc.dim_ = dim_;
        desc.index_ = index;
        desc.data_ = GetDataPtr<T>(index);
        for (uint32_t i = 0; i < dim_ && desc.shape_ != nullptr; ++i) desc.shape_[i] = shapes_[index * perTensor_ + 1 + i];
    }
    template <class T> __gm__ T* GetDataPtr(uint32_t index) { return reinterpret_cast<__gm__ T*>(pointers_[index]); }
    uint32_t GetSize() { return count_; }

private:
    const uint64_t* pointers_ = nullptr;
    const uint64_t* shapes_ = nullptr;
    uint32_t dim_ = 0, perTensor_ = 0, count_ = 0;
};

}  // namespace AscendC
