// SPDX-License-Identifier: Apache-2.0
// The data cache of the scalar unit and the instruction cache. The twin's memory is coherent; the
// checker wants to know what the kernel cleans.
#pragma once
#include "abi_more.h"
#include "tensor.h"

namespace AscendC {

template <typename T, CacheLine entireType, DcciDst dcciDst> inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst) {
    npuforge::data_cache_clean(dst.GetPhyAddr(), entireType == CacheLine::ENTIRE_DATA_CACHE);
}
template <typename T, CacheLine entireType> inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst) {
    npuforge::data_cache_clean(dst.GetPhyAddr(), entireType == CacheLine::ENTIRE_DATA_CACHE);
}
template <typename T, CacheLine entireType, DcciDst dcciDst> inline void DataCacheCleanAndInvalid(const LocalTensor<T>&) {}

template <typename T> inline void DataCachePreload(const GlobalTensor<uint64_t>&, const T) {}
inline void ICachePreLoad(const int64_t) {}
inline int64_t GetICachePreloadStatus() { return 0; }

// Past the cache: what is written is out at once, what is read is no older than the call.
template <typename T> inline void WriteGmByPassDCache(__gm__ T* addr, T value) {
    ScalarWrite<T>(addr, addr, value, npuforge::Space::GM);
    npuforge::data_cache_clean(addr, false);
}
template <typename T> inline T ReadGmByPassDCache(__gm__ T* addr) {
    npuforge::data_cache_clean(addr, false);
    return ScalarRead<T>(addr, addr, npuforge::Space::GM);
}

}  // namespace AscendC

inline void dcci(const __gm__ void* at, int entire) {
    npuforge::data_cache_clean(at, entire == static_cast<int>(cache_line_t::ENTIRE_DATA_CACHE));
}
inline void dcci(const __gm__ void* at, int entire, int) { dcci(at, entire); }
inline void dc_preload(const __gm__ uint64_t*, int64_t) {}
inline void dsb(mem_dsb_t) {}
#define PRELOAD(...)
