// SPDX-License-Identifier: Apache-2.0
// GlobalTensor and LocalTensor: typed views of memory. They own nothing.
#pragma once
#include <initializer_list>

#include "abi.h"
#include "enums.h"

namespace AscendC {

inline constexpr int32_t K_MAX_DIM = K_MAX_SHAPE_DIM;

struct ShapeInfo {
    ShapeInfo() = default;
    ShapeInfo(const uint8_t dims, const uint32_t inShape[], const uint8_t oldDims, const uint32_t inOldShape[],
              const DataFormat format = DataFormat::ND)
        : shapeDim(dims), originalShapeDim(oldDims), dataFormat(format) {
        for (int i = 0; i < dims && i < K_MAX_SHAPE_DIM; ++i) shape[i] = inShape[i];
        for (int i = 0; i < oldDims && i < K_MAX_SHAPE_DIM; ++i) originalShape[i] = inOldShape[i];
    }
    ShapeInfo(const uint8_t dims, const uint32_t inShape[], const DataFormat format = DataFormat::ND)
        : ShapeInfo(dims, inShape, dims, inShape, format) {}
    uint8_t shapeDim = 0, originalShapeDim = 0;
    uint32_t shape[K_MAX_SHAPE_DIM] = {};
    uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
    DataFormat dataFormat = DataFormat::ND;
};

// Bytes of `count` elements; two int4b_t share a byte.
template <typename T> constexpr int64_t BytesOf(int64_t count) {
    if constexpr (std::is_same_v<T, int4b_t>) return count / 2;
    else return count * static_cast<int64_t>(sizeof(T));
}

template <typename T> T ScalarRead(const T* at, const T* tensor, npuforge::Space space) {
    if (__builtin_expect(npuforge::g_mode != 0, 0)) {
        if (!npuforge::scalar_access(at, tensor, sizeof(T), space, nullptr)) return T{};
        if (npuforge::g_mode & npuforge::kNoData) {
            const uint64_t bits = npuforge::fake_value(at);
            T value{};
            std::memcpy(&value, &bits, sizeof(T) < 8 ? sizeof(T) : 8);
            return value;
        }
    }
    return *at;
}

template <typename T> void ScalarWrite(T* at, const T* tensor, T value, npuforge::Space space) {
    if (__builtin_expect(npuforge::g_mode != 0, 0)) {
        if (!npuforge::scalar_access(at, tensor, sizeof(T), space, &value)) return;
        if (npuforge::g_mode & npuforge::kNoData) return;
    }
    *at = value;
}

// What `tensor(i)` gives: a place that can be read and assigned.
template <typename T> class ElementRef {
public:
    ElementRef(T* at, const T* tensor, npuforge::Space space) : at_(at), tensor_(tensor), space_(space) {}
    operator T() const { return ScalarRead<T>(at_, tensor_, space_); }
    ElementRef& operator=(T value) {
        ScalarWrite<T>(at_, tensor_, value, space_);
        return *this;
    }
    ElementRef& operator=(const ElementRef& other) { return *this = static_cast<T>(other); }

private:
    T* at_;
    const T* tensor_;
    npuforge::Space space_;
};

template <typename T> class GlobalTensor {
public:
    using PrimType = T;
    GlobalTensor() = default;
    void SetGlobalBuffer(__gm__ T* buffer, uint64_t bufferSize) {
        address_ = buffer;
        size_ = bufferSize;
    }
    void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }
    const __gm__ T* GetPhyAddr() const { return address_; }
    __gm__ T* GetPhyAddr(const uint64_t offset) const { return At(offset); }
    T GetValue(const uint64_t offset) const { return ScalarRead<T>(At(offset), address_, npuforge::Space::GM); }
    ElementRef<T> operator()(const uint64_t offset) const { return {At(offset), address_, npuforge::Space::GM}; }
    void SetValue(const uint64_t offset, T value) const { ScalarWrite<T>(At(offset), address_, value, npuforge::Space::GM); }
    GlobalTensor operator[](const uint64_t offset) const {
        GlobalTensor view = *this;
        view.address_ = At(offset);
        view.size_ = size_ > offset ? size_ - offset : 0;
        return view;
    }
    uint64_t GetSize() const { return size_; }
    void SetShapeInfo(const ShapeInfo& shapeInfo) { shape_ = shapeInfo; }
    ShapeInfo GetShapeInfo() const { return shape_; }
    template <CacheRwMode rwMode = CacheRwMode::RW> void SetL2CacheHint(CacheMode mode) {
        if constexpr (rwMode != CacheRwMode::WRITE) readCacheMode_ = mode;
        if constexpr (rwMode != CacheRwMode::READ) writeCacheMode_ = mode;
    }
    template <typename U> GlobalTensor<U> ReinterpretCast() const {
        GlobalTensor<U> view;
        const int64_t bytes = BytesOf<T>(static_cast<int64_t>(size_));
        constexpr int64_t perPair = BytesOf<U>(2);
        view.SetGlobalBuffer(reinterpret_cast<__gm__ U*>(address_), static_cast<uint64_t>(bytes * 2 / perPair));
        view.template SetL2CacheHint<CacheRwMode::READ>(readCacheMode_);
        view.template SetL2CacheHint<CacheRwMode::WRITE>(writeCacheMode_);
        return view;
    }
    CacheMode GetReadCacheMode() const { return readCacheMode_; }
    CacheMode GetWriteCacheMode() const { return writeCacheMode_; }

private:
    __gm__ T* At(uint64_t offset) const {
        return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(address_) + BytesOf<T>(static_cast<int64_t>(offset)));
    }
    __gm__ T* address_ = nullptr;
    uint64_t size_ = 0;
    CacheMode readCacheMode_ = CacheMode::CACHE_MODE_NORMAL;
    CacheMode writeCacheMode_ = CacheMode::CACHE_MODE_NORMAL;
    ShapeInfo shape_;
};

constexpr npuforge::Space SpaceOf(TPosition position) {
    switch (position) {
        case TPosition::GM: return npuforge::Space::GM;
        case TPosition::A1: case TPosition::B1: case TPosition::C1: case TPosition::TSCM: case TPosition::SPM:
            return npuforge::Space::L1;
        case TPosition::A2: return npuforge::Space::L0A;
        case TPosition::B2: return npuforge::Space::L0B;
        case TPosition::C2: return npuforge::Space::BT;
        case TPosition::CO1: return npuforge::Space::L0C;
        case TPosition::C2PIPE2GM: case TPosition::C2PIPE2LOCAL: return npuforge::Space::FB;
        default: return npuforge::Space::UB;
    }
}

// Real code assigns GetPhyAddr() of a local tensor both to integers and to pointers.
template <typename T> class LocalAddress {
public:
    explicit LocalAddress(T* at) : at_(at) {}
    operator T*() const { return at_; }
    explicit operator uint64_t() const { return reinterpret_cast<uint64_t>(at_); }
    template <typename U, typename = std::enable_if_t<!std::is_same_v<U, T>>> explicit operator U*() const {
        return reinterpret_cast<U*>(at_);
    }

private:
    T* at_;
};

template <typename T> class LocalTensor {
public:
    using PrimType = T;
    LocalTensor() = default;
    // Static-tensor style: a tensor at a byte address of local memory.
    LocalTensor(TPosition position, uint32_t address, uint32_t count)
        : address_(reinterpret_cast<T*>(npuforge::local_memory(SpaceOf(position)) + address)), size_(count),
          position_(position) {}
    LocalTensor(T* address, uint32_t count, TPosition position) : address_(address), size_(count), position_(position) {}

    T GetValue(const uint32_t index) const { return ScalarRead<T>(At(index), address_, SpaceOf(position_)); }
    template <typename V> void SetValue(const uint32_t index, const V value) const {
        ScalarWrite<T>(At(index), address_, static_cast<T>(value), SpaceOf(position_));
    }
    ElementRef<T> operator()(const uint32_t offset) const { return {At(offset), address_, SpaceOf(position_)}; }
    LocalTensor operator[](const uint32_t offset) const {
        LocalTensor view = *this;
        view.address_ = At(offset);
        view.size_ = size_ > offset ? size_ - offset : 0;
        return view;
    }
    template <typename U> LocalTensor<U> ReinterpretCast() const {
        const int64_t bytes = BytesOf<T>(size_);
        uint32_t count;
        if constexpr (std::is_same_v<U, int4b_t>) count = static_cast<uint32_t>(bytes * 2);
        else count = static_cast<uint32_t>(bytes / static_cast<int64_t>(sizeof(U)));
        LocalTensor<U> view(reinterpret_cast<U*>(address_), count, position_);
        view.SetUserTag(tag_);
        return view;
    }
    LocalAddress<T> GetPhyAddr() const { return LocalAddress<T>(address_); }
    LocalAddress<T> GetPhyAddr(const uint32_t offset) const { return LocalAddress<T>(At(offset)); }
    uint32_t GetSize() const { return size_; }
    uint32_t GetLength() const { return static_cast<uint32_t>(BytesOf<T>(size_)); }
    int32_t GetPosition() const { return static_cast<int32_t>(position_); }
    void SetSize(const uint32_t size) { size_ = size; }
    using TensorTag = int32_t;
    void SetUserTag(const TensorTag tag) { tag_ = tag; }
    TensorTag GetUserTag() const { return tag_; }
    void SetShapeInfo(const ShapeInfo& shapeInfo) { shape_ = shapeInfo; }
    ShapeInfo GetShapeInfo() const { return shape_; }
    void SetAddrWithOffset(const LocalTensor& src, uint32_t offset) { *this = src[offset]; }
    template <typename U> void SetAddrWithOffset(const LocalTensor<U>& src, uint32_t offset) {
        *this = src[offset].template ReinterpretCast<T>();
    }

    // For the headers.
    npuforge::Tile AsTile(uint16_t blockStride = 1, uint16_t repeatStride = 8) const {
        return {address_, static_cast<uint32_t>(BytesOf<T>(size_)), npuforge::dtype_v<T>,
                static_cast<uint8_t>(position_), blockStride, repeatStride};
    }
    T* Data() const { return address_; }
    TPosition Position() const { return position_; }

    // dst = a + b: an assignment from an expression runs it over the whole of dst (see vec_operators.h).
    template <typename Expression, typename = typename Expression::IsVectorExpression>
    void operator=(const Expression& expression) {
        expression.Into(*this);
    }

private:
    T* At(uint32_t offset) const {
        return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(address_) + BytesOf<T>(offset));
    }
    T* address_ = nullptr;
    uint32_t size_ = 0;
    TPosition position_ = TPosition::VECCALC;
    TensorTag tag_ = 0;
    ShapeInfo shape_;
};

}  // namespace AscendC
