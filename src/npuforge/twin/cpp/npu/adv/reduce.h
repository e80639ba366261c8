// SPDX-License-Identifier: Apache-2.0
// High-level reductions along the last axis (Sum, Mean) or along a chosen one (Reduce*).
#pragma once
#include "softmax.h"

namespace AscendC {

struct SumParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};

// A is an axis that stays, R one that is reduced; two axes are what this architecture has.
namespace Pattern::Reduce {
#define NPUFORGE_PATTERN(name, value) \
    struct name {                     \
        static constexpr int id = value; \
    };
NPUFORGE_PATTERN(AR, 0)
NPUFORGE_PATTERN(RA, 1)
NPUFORGE_PATTERN(R, 2)
NPUFORGE_PATTERN(ARA, 3)
NPUFORGE_PATTERN(ARAR, 4)
NPUFORGE_PATTERN(ARARA, 5)
NPUFORGE_PATTERN(ARARAR, 6)
NPUFORGE_PATTERN(ARARARA, 7)
NPUFORGE_PATTERN(ARARARAR, 8)
NPUFORGE_PATTERN(ARARARARA, 9)
NPUFORGE_PATTERN(RAR, 10)
NPUFORGE_PATTERN(RARA, 11)
NPUFORGE_PATTERN(RARAR, 12)
NPUFORGE_PATTERN(RARARA, 13)
NPUFORGE_PATTERN(RARARAR, 14)
NPUFORGE_PATTERN(RARARARA, 15)
#undef NPUFORGE_PATTERN
}  // namespace Pattern::Reduce

namespace internal {

using npuforge::ReduceKind;

// Values that fill the partial results of `count` elements, one per repeat.
inline uint64_t PartialBytes(uint32_t count, uint32_t size) {
    const uint32_t perRepeat = 256 / size, perBlock = 32 / size;
    const uint32_t repeats = (count + perRepeat - 1) / perRepeat;
    return uint64_t(repeats + perBlock - 1) / perBlock * 32;
}

// The largest power of two below `count`: where a pairwise reduction starts.
inline uint32_t FirstFold(uint32_t count) {
    uint32_t fold = 1;
    while (fold * 2 < count) fold *= 2;
    return fold;
}

inline uint64_t LeastReduceSpace(ReduceKind kind, uint32_t first, uint32_t last, uint32_t size, bool alongFirst,
                                 bool reuse) {
    const uint64_t columns = uint64_t(FirstFold(first)) * ((uint64_t(last) * size + 31) / 32 * 32);
    uint32_t fold = FirstFold(last);
    if (first == 1 && fold * 2 == last) fold = last;
    if (kind == ReduceKind::Prod && !alongFirst) {
        const uint64_t products = (uint64_t(fold < 8 ? 8 : fold) + uint64_t(first) * 8) * sizeof(float);
        return 256 + (reuse ? 0 : products);
    }
    if (reuse) return 0;
    if (alongFirst) return columns;
    if (kind == ReduceKind::Sum || kind == ReduceKind::Mean) return last <= 64 ? 0 : uint64_t(first) * fold * sizeof(float);
    const uint64_t bytes = uint64_t(last) * size;
    return bytes <= 32 ? 0 : uint64_t(first) * (bytes < 256 ? 32 : 256);
}

template <typename T, class pattern, bool isReuseSource>
void ReduceAxis(const char* name, ReduceKind kind, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                npuforge::Scratch tmp, const uint32_t* srcShape, bool srcInnerPad) {
    constexpr bool alongFirst = pattern::id == Pattern::Reduce::RA::id;
    static_assert(alongFirst || pattern::id == Pattern::Reduce::AR::id,
                  "[ADV-02] patterns other than AR and RA do not exist on 2201");
    if (!srcInnerPad) npuforge::report("ADV-02", "%s: srcInnerPad must be true on this architecture", name);
    const uint32_t first = srcShape[0], last = srcShape[1];
    constexpr uint32_t perBlock = 32 / sizeof(T);
    npuforge::library_reduce({name, kind, dst.AsTile(), src.AsTile(), first, last, (last + perBlock - 1) / perBlock * perBlock,
                              alongFirst, isReuseSource,
                              LeastReduceSpace(kind, first, last, sizeof(T), alongFirst, isReuseSource), tmp});
}

}  // namespace internal

#define NPUFORGE_LAST_AXIS(TMP, TAKE, SPACE)                                                                       \
    template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>           \
    inline void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, TMP const SumParams& sumParams) { \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_reduce({"Sum", internal::ReduceKind::Sum, dstTensor.AsTile(), srcTensor.AsTile(),        \
                                  sumParams.outter, sumParams.n, sumParams.inner, false, false,                    \
                                  internal::PartialBytes(sumParams.n, sizeof(T)), SPACE});                         \
    }                                                                                                              \
    template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,             \
              int32_t reduceDim = -1>                                                                              \
    inline void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, TMP const MeanParams& meanParams) { \
        internal::RequireFloating<T>();                                                                            \
        static_assert(sizeof(accType) >= sizeof(T), "[ADV-01] Mean does not accumulate in a narrower type");       \
        TAKE;                                                                                                      \
        const uint64_t widened = sizeof(accType) > sizeof(T) ? uint64_t(meanParams.inner) * sizeof(accType) : 0;   \
        npuforge::library_reduce({"Mean", internal::ReduceKind::Mean, dstTensor.AsTile(), srcTensor.AsTile(),      \
                                  meanParams.outter, meanParams.n, meanParams.inner, false, false,                 \
                                  internal::PartialBytes(meanParams.n, sizeof(accType)) + widened, SPACE});        \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_LAST_AXIS)
#undef NPUFORGE_LAST_AXIS

#define NPUFORGE_REDUCE_AXIS(KIND, SUPPORTED)                                                                      \
    template <class T, class pattern, bool isReuseSource = false>                                                  \
    inline void Reduce##KIND(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                     \
                             const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t srcShape[],               \
                             bool srcInnerPad) {                                                                   \
        static_assert(SUPPORTED, "[ADV-01] Reduce" #KIND " does not support this data type on 2201");              \
        NPUFORGE_TMP_TILE;                                                                                         \
        internal::ReduceAxis<T, pattern, isReuseSource>("Reduce" #KIND, internal::ReduceKind::KIND, dstTensor,     \
                                                        srcTensor, &space, srcShape, srcInnerPad);                 \
    }                                                                                                              \
    template <class T, class pattern, bool isReuseSource = false>                                                  \
    inline void Reduce##KIND(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                     \
                             const uint32_t srcShape[], bool srcInnerPad) {                                        \
        static_assert(SUPPORTED, "[ADV-01] Reduce" #KIND " does not support this data type on 2201");              \
        internal::ReduceAxis<T, pattern, isReuseSource>("Reduce" #KIND, internal::ReduceKind::KIND, dstTensor,     \
                                                        srcTensor, nullptr, srcShape, srcInnerPad);                \
    }
NPUFORGE_REDUCE_AXIS(Sum, (std::is_same_v<T, float>))
NPUFORGE_REDUCE_AXIS(Mean, (std::is_same_v<T, float>))
NPUFORGE_REDUCE_AXIS(Prod, (std::is_same_v<T, float>))
NPUFORGE_REDUCE_AXIS(Max, (internal::OneOf<T, half, float>))
NPUFORGE_REDUCE_AXIS(Min, (internal::OneOf<T, half, float>))
NPUFORGE_REDUCE_AXIS(Any, (internal::OneOf<T, uint8_t, float>))
NPUFORGE_REDUCE_AXIS(All, (internal::OneOf<T, uint8_t, float>))
#undef NPUFORGE_REDUCE_AXIS

template <typename T, bool isReuseSource = false>
inline void ReduceXorSum(LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
                         LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    static_assert(std::is_same_v<T, int16_t>, "[ADV-01] ReduceXorSum takes int16_t");
    NPUFORGE_TMP_TILE;
    npuforge::library_reduce_xor_sum(dstTensor.AsTile(), src0Tensor.AsTile(), src1Tensor.AsTile(), calCount, &space,
                                     isReuseSource);
}
template <typename T, bool isReuseSource = false>
inline void ReduceXorSum(LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
                         const uint32_t calCount) {
    static_assert(std::is_same_v<T, int16_t>, "[ADV-01] ReduceXorSum takes int16_t");
    npuforge::library_reduce_xor_sum(dstTensor.AsTile(), src0Tensor.AsTile(), src1Tensor.AsTile(), calCount, nullptr,
                                     isReuseSource);
}

}  // namespace AscendC
