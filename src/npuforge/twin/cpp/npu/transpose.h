// SPDX-License-Identifier: Apache-2.0
// Transposes of blocks and of tensor layouts.
#pragma once
#include "abi_more.h"
#include "extent.h"
#include "params.h"

namespace AscendC {

inline constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

struct TransDataTo5HDParams {
    constexpr TransDataTo5HDParams() = default;
    constexpr TransDataTo5HDParams(const bool dstHigh, const bool srcHigh, const uint8_t repeats, const uint16_t dstRep, const uint16_t srcRep)
        : dstHighHalf(dstHigh), srcHighHalf(srcHigh), repeatTimes(repeats), dstRepStride(dstRep), srcRepStride(srcRep) {}
    bool dstHighHalf = false, srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0, srcRepStride = 0;
};

struct TransposeParamsExt {
    constexpr TransposeParamsExt() = default;
    constexpr TransposeParamsExt(const uint16_t n, const uint16_t c, const uint16_t h, const uint16_t w, const TransposeType type)
        : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}
    uint16_t nSize = 0, cSize = 0, hSize = 0, wSize = 0;
    TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

template <typename T> inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
    static_assert(internal::AnyOf<T, int16_t, uint16_t, half>, "[DTY-14] Transpose takes 16 bit types");
    npuforge::transpose16(dst.AsTile(), src.AsTile());
}

template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const TransposeParamsExt& transposeParams) {
    const TransposeParamsExt& p = transposeParams;
    if (p.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
        if (p.hSize != 16 || p.wSize != 16)
            npuforge::report("VEC-16", "TRANSPOSE_ND2ND_B16 of %u x %u: 16 x 16 is possible", p.hSize, p.wSize);
        npuforge::transpose16(dst.AsTile(), src.AsTile());
        return;
    }
    const bool forward = p.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC;
    if (!forward && p.transposeType != TransposeType::TRANSPOSE_NHWC2NCHW) {
        npuforge::report("VEC-16", "Transpose of type %d does nothing on 2201", static_cast<int>(p.transposeType));
        return;
    }
    npuforge::transpose_layout({dst.AsTile(), src.AsTile(), sharedTmpBuffer.AsTile(), p.nSize, p.cSize, p.hSize, p.wSize, forward});
}

template <typename T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams) {
    static_assert(internal::AnyOf<T, int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float>,
                  "[DTY-14] TransDataTo5HD does not take this type on 2201");
    const TransDataTo5HDParams& p = nchwconvParams;
    npuforge::transpose_blocks({dstList, srcList, p.repeatTimes, p.dstRepStride, p.srcRepStride, p.dstHighHalf, p.srcHighHalf,
                                npuforge::dtype_v<T>});
}
// The address form by typed pointers, which kernels take from the framework's internals.
template <typename T>
inline void TransDataTo5HDImpl(__ubuf__ T* dstList[NCHW_CONV_ADDR_LIST_SIZE], __ubuf__ T* srcList[NCHW_CONV_ADDR_LIST_SIZE],
                               const TransDataTo5HDParams& nchwconvParams) {
    uint64_t to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
    for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        to[i] = reinterpret_cast<uint64_t>(dstList[i]);
        from[i] = reinterpret_cast<uint64_t>(srcList[i]);
    }
    TransDataTo5HD<T>(to, from, nchwconvParams);
}
template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams& nchwconvParams) {
    uint64_t to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
    for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        to[i] = reinterpret_cast<uint64_t>(dstList[i].Data());
        from[i] = reinterpret_cast<uint64_t>(srcList[i].Data());
    }
    TransDataTo5HD<T>(to, from, nchwconvParams);
}
template <typename T>
inline void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                           const TransDataTo5HDParams& nchwconvParams) {
    uint64_t to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
    for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        to[i] = dst.GetValue(i);
        from[i] = src.GetValue(i);
    }
    TransDataTo5HD<T>(to, from, nchwconvParams);
}

}  // namespace AscendC
