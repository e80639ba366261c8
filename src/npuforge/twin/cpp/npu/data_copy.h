// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad between GM and the unified buffer.
#pragma once
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
    job.cache_mode = static_cast<uint8_t>(src.GetCacheMode());
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
    job.cache_mode = static_cast<uint8_t>(dst.GetCacheMode());
    job.name = name;
    return job;
}

inline void Rows(npuforge::Dma& job, const DataCopyParams& p) {
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

namespace internal {

// Rows in local memory start on 32 B blocks: a row takes its data and padding rounded up.
template <typename Params> void PadRowsIn(npuforge::Dma& job, const Params& p, uint32_t left, uint32_t right) {
    job.rows = p.blockCount;
    job.row_bytes = p.blockLen;
    job.left_pad = left;
    job.right_pad = right;
    job.src_step = int64_t(p.blockLen) + p.srcStride;
    const int64_t taken = (int64_t(left) + p.blockLen + right + kBlock - 1) / kBlock * kBlock;
    job.dst_step = taken + int64_t(p.dstStride) * kBlock;
    job.byte_granular = true;
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
    npuforge::Dma job = internal::MoveIn(dst, src, "DataCopyPad");
    const uint32_t unit = sizeof(T);
    internal::PadRowsIn(job, dataCopyParams, padParams.isPad ? padParams.leftPadding * unit : 0,
                        padParams.isPad ? padParams.rightPadding * unit : 0);
    job.filled = padParams.isPad;
    job.pad_value = internal::ElementBits(padParams.paddingValue);
    npuforge::dma(job);
}

template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
                        const DataCopyPadParams& padParams) {
    npuforge::Dma job = internal::MoveIn(dst, src, "DataCopyPad");
    const uint32_t unit = sizeof(T);
    internal::PadRowsIn(job, dataCopyParams, padParams.isPad ? padParams.leftPadding * unit : 0,
                        padParams.isPad ? padParams.rightPadding * unit : 0);
    job.filled = padParams.isPad;
    job.pad_value = padParams.paddingValue;
    npuforge::dma(job);
}

template <typename T, typename Params, typename = decltype(std::declval<Params>().blockLen)>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const Params& dataCopyParams) {
    npuforge::Dma job = internal::MoveOut(dst, src, "DataCopyPad");
    job.rows = dataCopyParams.blockCount;
    job.row_bytes = dataCopyParams.blockLen;
    const int64_t taken = (int64_t(dataCopyParams.blockLen) + internal::kBlock - 1) / internal::kBlock * internal::kBlock;
    job.src_step = taken + int64_t(dataCopyParams.srcStride) * internal::kBlock;
    job.dst_step = int64_t(dataCopyParams.blockLen) + dataCopyParams.dstStride;
    job.byte_granular = true;
    npuforge::dma(job);
}

}  // namespace AscendC
