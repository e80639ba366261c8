// SPDX-License-Identifier: Apache-2.0
// High-level activation functions without reductions.
#pragma once
#include "math.h"

namespace AscendC {

// Source and destination may be the same tensor.
#define NPUFORGE_GELU(NAME)                                                                                    \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                            \
    inline void NAME(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                           \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize) {                   \
        static_assert(internal::IsFloating<T>, "[ADV-01] " #NAME " takes half and float on 2201");             \
        internal::Elementwise1(npuforge::LibraryFunction::NAME, dstLocal, srcLocal, &sharedTmpBuffer, dataSize, \
                               false, true);                                                                   \
    }                                                                                                          \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                            \
    inline void NAME(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dataSize) { \
        static_assert(internal::IsFloating<T>, "[ADV-01] " #NAME " takes half and float on 2201");             \
        internal::Elementwise1(npuforge::LibraryFunction::NAME, dstLocal, srcLocal, nullptr, dataSize, false, true); \
    }
NPUFORGE_GELU(Gelu)
NPUFORGE_GELU(FasterGelu)
NPUFORGE_GELU(FasterGeluV2)
#undef NPUFORGE_GELU

template <typename T, bool isReuseSource = false>
inline void Silu(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize) {
    internal::RequireFloating<T>();
    internal::Elementwise1(npuforge::LibraryFunction::Silu, dstLocal, srcLocal, nullptr, dataSize, isReuseSource);
}

template <typename T, bool isReuseSource = false>
inline void Swish(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize, const T scalarValue) {
    internal::RequireFloating<T>();
    internal::Elementwise1(npuforge::LibraryFunction::Swish, dstLocal, srcLocal, nullptr, dataSize, isReuseSource, false,
                           npuforge::to_scalar(scalarValue));
}

namespace internal {
template <typename T> inline constexpr bool IsReGluType = OneOf<T, half, bfloat16_t, float>;
}

template <typename T, bool isReuseSource = false>
inline void ReGlu(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
                  const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    static_assert(internal::IsReGluType<T>, "[ADV-01] ReGlu takes half, bfloat16_t and float on 2201");
    internal::Elementwise2(npuforge::LibraryFunction::ReGlu, dstTensor, srcTensor0.AsTile(), srcTensor1.AsTile(),
                           &sharedTmpBuffer, calCount, isReuseSource);
}
template <typename T, bool isReuseSource = false>
inline void ReGlu(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
                  const uint32_t calCount) {
    static_assert(internal::IsReGluType<T>, "[ADV-01] ReGlu takes half, bfloat16_t and float on 2201");
    internal::Elementwise2(npuforge::LibraryFunction::ReGlu, dstTensor, srcTensor0.AsTile(), srcTensor1.AsTile(), nullptr,
                           calCount, isReuseSource);
}

template <typename T, bool isReuseSource = false>
inline void SwiGLU(LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
                   const float& scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    internal::RequireFloating<T>();
    internal::Elementwise2(npuforge::LibraryFunction::SwiGLU, dstTensor, srcTensor0.AsTile(), srcTensor1.AsTile(),
                           &sharedTmpBuffer, calCount, isReuseSource, npuforge::to_scalar(scalarValue));
}
template <typename T, bool isReuseSource = false>
inline void SwiGLU(LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
                   const float& scalarValue, const uint32_t calCount) {
    internal::RequireFloating<T>();
    internal::Elementwise2(npuforge::LibraryFunction::SwiGLU, dstTensor, srcTensor0.AsTile(), srcTensor1.AsTile(),
                           nullptr, calCount, isReuseSource, npuforge::to_scalar(scalarValue));
}
template <typename T, bool isReuseSource = false>
inline void SwiGLU(LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
                   const float& scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer) {
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, sharedTmpBuffer, srcTensor0.GetSize());
}
template <typename T, bool isReuseSource = false>
inline void SwiGLU(LocalTensor<T>& dstTensor, LocalTensor<T>& srcTensor0, LocalTensor<T>& srcTensor1,
                   const float& scalarValue) {
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, srcTensor0.GetSize());
}

}  // namespace AscendC
