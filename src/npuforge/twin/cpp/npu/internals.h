// SPDX-License-Identifier: Apache-2.0
// Functions of the framework's internals that published kernels call by pointer.
#pragma once
#include "intrinsics.h"
#include "params.h"

namespace AscendC {

template <typename T, typename V> inline void DuplicateImpl(__ubuf__ T* dst, const V& scalarValue, const int32_t& count) {
    npuforge::vec_duplicate(npuforge::Extent::elements(count), npuforge::raw_tile(dst, 1, 8),
                            npuforge::to_scalar(static_cast<T>(scalarValue)));
}
template <typename T> inline void DataCopyUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyParams& p) {
    copy_ubuf_to_gm(dst, src, 0, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
}
template <typename T> inline void DataCopyGM2UBImpl(__ubuf__ T* dst, __gm__ T* src, const DataCopyParams& p) {
    copy_gm_to_ubuf(dst, src, 0, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
}

}  // namespace AscendC
