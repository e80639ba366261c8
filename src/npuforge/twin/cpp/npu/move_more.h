// SPDX-License-Identifier: Apache-2.0
// Copies that change the layout (ND2NZ, NZ2ND) or pick slices. The library builds them from plain copies.
#pragma once
#include "data_copy.h"
#include "extent.h"

namespace AscendC {

struct Nz2NdParamsFull {
    Nz2NdParamsFull() = default;
    Nz2NdParamsFull(const uint16_t nd, const uint16_t n, const uint16_t d, const uint16_t srcMatrix, const uint16_t srcN,
                    const uint16_t dstD, const uint16_t dstMatrix)
        : ndNum(nd), nValue(n), dValue(d), srcNdMatrixStride(srcMatrix), srcNStride(srcN), dstDStride(dstD), dstNdMatrixStride(dstMatrix) {}
    uint16_t ndNum = 1, nValue = 0, dValue = 0;
    uint16_t srcNdMatrixStride = 1, srcNStride = 0, dstDStride = 0, dstNdMatrixStride = 1;
};

// GM to local memory: a row becomes blocks that lie dstNzC0Stride blocks apart.
template <typename T> inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& intriParams) {
    static_assert(sizeof(T) <= 4, "[DTY-17] ND2NZ takes types of up to 32 bits");
    const Nd2NzParams& p = intriParams;
    if (p.ndNum > 4095 || p.nValue > 16384 || p.srcDValue == 0 || p.dstNzC0Stride == 0 || p.dstNzC0Stride > 16384 ||
        p.dstNzNStride == 0 || p.dstNzNStride > 16384)
        npuforge::report("CPY-13", "ND2NZ with ndNum %u, nValue %u, srcDValue %u, dstNzC0Stride %u, dstNzNStride %u is out of range",
                         p.ndNum, p.nValue, p.srcDValue, p.dstNzC0Stride, p.dstNzNStride);
    npuforge::MatrixMove job{};
    job.dst = dst.Data();
    job.src = src.GetPhyAddr();
    job.dst_space = SpaceOf(dst.Position());
    job.src_space = npuforge::Space::GM;
    job.dst_room = dst.GetLength();
    job.matrices = p.ndNum;
    job.rows = p.nValue;
    job.row_bytes = static_cast<uint32_t>(p.dValue * sizeof(T));
    job.src_matrix = int64_t(p.srcNdMatrixStride) * sizeof(T);
    job.src_row = int64_t(p.srcDValue) * sizeof(T);
    job.src_column = internal::kBlock;
    job.dst_matrix = int64_t(p.dstNzMatrixStride) * sizeof(T);
    job.dst_row = int64_t(p.dstNzNStride) * internal::kBlock;
    job.dst_column = int64_t(p.dstNzC0Stride) * internal::kBlock;
    job.column_bytes = internal::kBlock;
    job.zero_fill = true;
    job.type = npuforge::dtype_v<T>;
    job.cache_mode = static_cast<uint8_t>(src.GetReadCacheMode());
    npuforge::move_matrix(job);
}

// Local memory to GM: columns of 16 elements become rows again.
template <typename T> inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const Nz2NdParamsFull& intriParams) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "[DTY-17] NZ2ND takes 16 and 32 bit types");
    const Nz2NdParamsFull& p = intriParams;
    if (p.nValue == 0 || p.nValue > 8192 || p.dValue == 0 || p.dValue > 8192 || p.dValue % 16 != 0 || p.srcNdMatrixStride == 0 ||
        p.srcNdMatrixStride > 512 || p.srcNStride > 4096 || p.dstDStride == 0 || p.dstNdMatrixStride == 0)
        npuforge::report("CPY-16", "NZ2ND with nValue %u, dValue %u, srcNdMatrixStride %u, srcNStride %u, dstDStride %u is out of range",
                         p.nValue, p.dValue, p.srcNdMatrixStride, p.srcNStride, p.dstDStride);
    npuforge::MatrixMove job{};
    job.dst = const_cast<T*>(dst.GetPhyAddr());
    job.src = src.Data();
    job.dst_space = npuforge::Space::GM;
    job.src_space = SpaceOf(src.Position());
    job.src_room = src.GetLength();
    job.matrices = p.ndNum;
    job.rows = p.nValue;
    job.row_bytes = static_cast<uint32_t>(p.dValue * sizeof(T));
    job.column_bytes = 16 * sizeof(T);
    job.src_matrix = int64_t(p.srcNdMatrixStride) * 256 * sizeof(T);
    job.src_row = 16 * sizeof(T);
    job.src_column = int64_t(p.srcNStride) * 16 * sizeof(T);
    job.dst_matrix = int64_t(p.dstNdMatrixStride) * sizeof(T);
    job.dst_row = int64_t(p.dstDStride) * sizeof(T);
    job.dst_column = job.column_bytes;
    job.type = npuforge::dtype_v<T>;
    job.cache_mode = static_cast<uint8_t>(dst.GetWriteCacheMode());
    npuforge::move_matrix(job);
}

// From the unified buffer to L1: the hardware has no such path.
#define NPUFORGE_NO_PATH __attribute__((unavailable("[CPY-20] 2201 has no path from the unified buffer to L1: go through GM")))
template <typename T> NPUFORGE_NO_PATH void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Nd2NzParams& intriParams);
template <typename T>
NPUFORGE_NO_PATH void DataCopyPad(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams,
                                  const Nd2NzParams& nd2nzParams);
template <typename T>
NPUFORGE_NO_PATH void DataCopyPad(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                                  const Nd2NzParams& nd2nzParams);
#undef NPUFORGE_NO_PATH

namespace internal {

// Start and end (inclusive), the gap between pieces, and pieces of burstLen blocks along the first
// dimension; along the others pieces are single indices.
template <typename T> uint32_t PieceCount(const SliceInfo& s, uint32_t piece) {
    const uint32_t span = s.endIndex - s.startIndex + 1;
    return (span + s.stride) / (piece + s.stride);
}

template <typename T> void CheckSlices(const SliceInfo* dst, const SliceInfo* src, uint32_t dims) {
    if (dims == 0 || dims > 8) npuforge::report("CPY-18", "a slice copy of %u dimensions: 1 to 8 are possible", dims);
    for (uint32_t i = 0; i < dims; ++i) {
        if (dst[i].burstLen != src[i].burstLen)
            npuforge::report("CPY-18", "dimension %u has burstLen %u on one side and %u on the other", i, dst[i].burstLen, src[i].burstLen);
        if (i > 0 && src[i].burstLen != 1) npuforge::report("CPY-18", "burstLen of dimension %u is %u, only 1 is possible", i, src[i].burstLen);
    }
}

// Calls fn(dstElement, srcElement) at the start of every row of pieces along the first dimension.
template <typename T, typename Fn> void ForSlices(const SliceInfo* dst, const SliceInfo* src, uint32_t dims, Fn fn) {
    uint32_t at[8] = {};
    while (true) {
        uint64_t to = 0, from = 0, toUnit = 1, fromUnit = 1;
        for (uint32_t i = 0; i < dims; ++i) {
            to += (dst[i].startIndex + uint64_t(at[i]) * (1 + dst[i].stride)) * toUnit;
            from += (src[i].startIndex + uint64_t(at[i]) * (1 + src[i].stride)) * fromUnit;
            toUnit *= dst[i].shapeValue;
            fromUnit *= src[i].shapeValue;
        }
        fn(to, from);
        uint32_t i = 1;
        for (; i < dims; ++i) {
            if (++at[i] < PieceCount<T>(src[i], 1)) break;
            at[i] = 0;
        }
        if (i >= dims) return;
    }
}

template <typename T> DataCopyExtParams SliceRow(const SliceInfo& local, const SliceInfo& global, bool in) {
    const uint32_t piece = static_cast<uint32_t>(global.burstLen * kBlock / sizeof(T));
    const auto localGap = static_cast<uint32_t>(local.stride * sizeof(T) / kBlock);
    const auto globalGap = static_cast<uint32_t>(global.stride * sizeof(T));
    return DataCopyExtParams(static_cast<uint16_t>(PieceCount<T>(global, piece)), static_cast<uint32_t>(global.burstLen * kBlock),
                             in ? globalGap : localGap, in ? localGap : globalGap, 0);
}

}  // namespace internal

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
                     const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1) {
    internal::CheckSlices<T>(dstSliceInfo, srcSliceInfo, dimValue);
    internal::ForSlices<T>(dstSliceInfo, srcSliceInfo, dimValue, [&](uint64_t to, uint64_t from) {
        DataCopyPad(dst[static_cast<uint32_t>(to)], src[from], internal::SliceRow<T>(dstSliceInfo[0], srcSliceInfo[0], true),
                    DataCopyPadExtParams<T>());
    });
}
template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
                     const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1) {
    internal::CheckSlices<T>(dstSliceInfo, srcSliceInfo, dimValue);
    internal::ForSlices<T>(dstSliceInfo, srcSliceInfo, dimValue, [&](uint64_t to, uint64_t from) {
        DataCopyPad(dst[to], src[static_cast<uint32_t>(from)], internal::SliceRow<T>(srcSliceInfo[0], dstSliceInfo[0], false));
    });
}

}  // namespace AscendC
