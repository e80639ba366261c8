// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad between GM and the unified buffer.
#pragma once
#include "abi_more.h"
#include "params.h"
#include "sync.h"

namespace AscendC {

namespace internal {

inline constexpr int64_t kBlock = 32;

template <typename T>
npuforge::Dma MoveIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const char* name) {
    npuforge::Dma job{};
    job.dst = dst.Data();
    job.dst_space = SpaceOf(dst.Position());
    job.dst_room = dst.GetLength();
    job.src = src.GetPhyAddr();
    job.src_space = npuforge::Space::GM;
    job.element_bytes = sizeof(T);
    job.type = npuforge::dtype_v<T>;
    job.cache_mode = static_cast<uint8_t>(src.GetReadCacheMode());
    job.name = name;
    return job;
}

template <typename T>
npuforge::Dma MoveOut(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const char* name) {
    npuforge::Dma job{};
    job.dst = const_cast<T*>(dst.GetPhyAddr());
    job.dst_space = npuforge::Space::GM;
    job.src = src.Data();
    job.src_space = SpaceOf(src.Position());
    job.src_room = src.GetLength();
    job.element_bytes = sizeof(T);
    job.type = npuforge::dtype_v<T>;
    job.cache_mode = static_cast<uint8_t>(dst.GetWriteCacheMode());
    job.name = name;
    return job;
}

inline void Rows(npuforge::Dma& job, const DataCopyParams& p) {
    if (__builtin_expect(p.blockCount > 4095, 0))
        npuforge::report("CPY-02", "%s with blockCount %u: the field holds 0 to 4095", job.name, p.blockCount);
    job.rows = p.blockCount;
    job.row_bytes = static_cast<uint32_t>(p.blockLen * kBlock);
    job.src_step = (int64_t(p.blockLen) + p.srcStride) * kBlock;
    job.dst_step = (int64_t(p.blockLen) + p.dstStride) * kBlock;
}

// The contiguous form: what is no multiple of 32 B is rounded down, silently, on hardware.
template <typename T> void Contiguous(npuforge::Dma& job, uint32_t count) {
    const int64_t bytes = BytesOf<T>(count);
    if (__builtin_expect(bytes % kBlock != 0, 0))
        npuforge::report("CPY-01", "DataCopy of %u elements is %lld B, no multiple of 32 B: the last %lld B are not copied",
                         count, static_cast<long long>(bytes), static_cast<long long>(bytes % kBlock));
    job.rows = 1;
    job.row_bytes = static_cast<uint32_t>(bytes / kBlock * kBlock);
    job.src_step = job.dst_step = job.row_bytes;
}

}  // namespace internal

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count) {
    npuforge::Dma job = internal::MoveIn(dst, src, "DataCopy");
    internal::Contiguous<T>(job, count);
    npuforge::dma(job);
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    npuforge::Dma job = internal::MoveOut(dst, src, "DataCopy");
    internal::Contiguous<T>(job, count);
    npuforge::dma(job);
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams) {
    npuforge::Dma job = internal::MoveIn(dst, src, "DataCopy");
    internal::Rows(job, repeatParams);
    npuforge::dma(job);
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams) {
    npuforge::Dma job = internal::MoveOut(dst, src, "DataCopy");
    internal::Rows(job, repeatParams);
    npuforge::dma(job);
}

// Copies inside the unified buffer run on the vector pipe. Other local moves belong to the cube side.
namespace internal {

template <typename T> npuforge::Dma MoveLocal(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
    npuforge::Dma job{};
    job.dst = dst.Data();
    job.dst_space = SpaceOf(dst.Position());
    job.dst_room = dst.GetLength();
    job.src = src.Data();
    job.src_space = SpaceOf(src.Position());
    job.src_room = src.GetLength();
    job.element_bytes = sizeof(T);
    job.type = npuforge::dtype_v<T>;
    job.name = "DataCopy";
    if (job.dst_space != npuforge::Space::UB || job.src_space != npuforge::Space::UB) {
        npuforge::report("CPY-20", "DataCopy between local memories that are not both the unified buffer");
        npuforge::device_stop("DataCopy between the unified buffer and L1 or L0 does not exist on 2201");
    }
    return job;
}

}  // namespace internal

template <typename T> inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    npuforge::Dma job = internal::MoveLocal(dst, src);
    internal::Contiguous<T>(job, count);
    npuforge::dma(job);
}
template <typename T> inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams) {
    npuforge::Dma job = internal::MoveLocal(dst, src);
    internal::Rows(job, repeatParams);
    npuforge::dma(job);
}

// The enhanced parameters concern cube data; between GM and the unified buffer they change nothing.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& intriParams,
                     const DataCopyEnhancedParams&) {
    DataCopy(dst, src, intriParams);
}
template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& intriParams,
                     const DataCopyEnhancedParams&) {
    DataCopy(dst, src, intriParams);
}
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& intriParams,
                     const DataCopyEnhancedParams&) {
    DataCopy(dst, src, intriParams);
}

namespace internal {

template <typename T> void CheckPadRows(uint32_t blockCount, uint32_t blockLen) {
    if (__builtin_expect(blockCount > 4095 || blockLen > 2097151, 0))
        npuforge::report("CPY-04", "DataCopyPad with blockCount %u and blockLen %u: they go to 4095 and 2097151", blockCount, blockLen);
    if (__builtin_expect(blockLen % sizeof(T) != 0, 0))
        npuforge::report("CPY-06", "DataCopyPad with blockLen %u: no multiple of the element's %u B", blockLen,
                         static_cast<unsigned>(sizeof(T)));
}

// Rows in local memory start on 32 B blocks: a row takes its data and padding rounded up.
template <typename T, typename Params, typename Padding>
void PadIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Params& p, const Padding& padding, uint64_t value) {
    npuforge::Dma job = MoveIn(dst, src, "DataCopyPad");
    CheckPadRows<T>(p.blockCount, p.blockLen);
    job.left_pad = static_cast<uint32_t>(padding.leftPadding * sizeof(T));
    job.right_pad = static_cast<uint32_t>(padding.rightPadding * sizeof(T));
    if (__builtin_expect(job.left_pad > 32 || job.right_pad > 32, 0))
        npuforge::report("CPY-07", "DataCopyPad with %u B of padding on the left and %u B on the right: 32 B each at most",
                         job.left_pad, job.right_pad);
    if (sizeof(T) == 8 && padding.isPad && value != 0)
        npuforge::report("CPY-08", "DataCopyPad of a 64 bit type pads with 0 only");
    job.rows = p.blockCount;
    job.row_bytes = p.blockLen;
    job.src_step = int64_t(p.blockLen) + p.srcStride;
    const int64_t taken = (int64_t(job.left_pad) + p.blockLen + job.right_pad + kBlock - 1) / kBlock * kBlock;
    job.dst_step = taken + int64_t(p.dstStride) * kBlock;
    job.byte_granular = true;
    // SetPadValue speaks when the call itself does not.
    job.filled = padding.isPad || npuforge::pad_value(job.pad_value);
    if (padding.isPad) job.pad_value = value;
    npuforge::dma(job);
}

template <typename T, typename Params> void PadOut(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const Params& p) {
    npuforge::Dma job = MoveOut(dst, src, "DataCopyPad");
    CheckPadRows<T>(p.blockCount, p.blockLen);
    job.rows = p.blockCount;
    job.row_bytes = p.blockLen;
    const int64_t taken = (int64_t(p.blockLen) + kBlock - 1) / kBlock * kBlock;
    job.src_step = taken + int64_t(p.srcStride) * kBlock;
    job.dst_step = int64_t(p.blockLen) + p.dstStride;
    job.byte_granular = true;
    npuforge::dma(job);
}

template <typename T> uint64_t ElementBits(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

}  // namespace internal

template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                        const DataCopyPadExtParams<T>& padParams) {
    internal::PadIn(dst, src, dataCopyParams, padParams, internal::ElementBits(padParams.paddingValue));
}
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
                        const DataCopyPadParams& padParams) {
    internal::PadIn(dst, src, dataCopyParams, padParams, padParams.paddingValue);
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams) {
    internal::PadOut(dst, src, dataCopyParams);
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams) {
    internal::PadOut(dst, src, dataCopyParams);
}

template <typename T, TPosition pos = TPosition::MAX> inline void SetPadValue(T paddingValue) {
    npuforge::set_pad_value(internal::ElementBits(paddingValue));
}

}  // namespace AscendC
