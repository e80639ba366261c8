// SPDX-License-Identifier: Apache-2.0
// Reductions of repeats, blocks, pairs and whole tensors, under their old and their new names.
#pragma once
#include "abi_more.h"
#include "extent.h"
#include "sync.h"

namespace AscendC {

enum class ReduceType : uint8_t { SUM = 0, MAX, MIN };

namespace internal {

template <typename T> constexpr void OnlyHalfAndFloat() {
    static_assert(AnyOf<T, half, float>, "[DTY-09] reductions take half and float on 2201");
}
constexpr npuforge::Reduction KindOf(ReduceType type) { return static_cast<npuforge::Reduction>(type); }
constexpr npuforge::ReduceLayout LayoutOf(ReduceOrder order) { return static_cast<npuforge::ReduceLayout>(order); }

template <typename T, typename Mask>
void Repeats(npuforge::Reduction kind, ReduceOrder order, const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask,
             int32_t repeat, int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, bool setMask, const char* name) {
    OnlyHalfAndFloat<T>();
    npuforge::reduce_repeats(kind, LayoutOf(order), ExtentOf(mask, repeat, setMask), dst.AsTile(),
                             src.AsTile(static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)), dstRepStride, name);
}
template <typename T, typename Mask>
void Blocks(npuforge::Reduction kind, const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, int32_t repeat,
            int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, bool setMask, const char* name) {
    OnlyHalfAndFloat<T>();
    npuforge::reduce_blocks(kind, ExtentOf(mask, repeat, setMask), dst.AsTile(),
                            src.AsTile(static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)), dstRepStride, name);
}
template <typename T, typename Mask>
void Pairs(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, int32_t repeat, int32_t dstRepStride,
           int32_t srcBlkStride, int32_t srcRepStride, bool setMask, const char* name) {
    OnlyHalfAndFloat<T>();
    npuforge::reduce_pairs(ExtentOf(mask, repeat, setMask), dst.AsTile(),
                           src.AsTile(static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)), dstRepStride, name);
}
template <typename T>
void All(npuforge::Reduction kind, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& shared,
         const npuforge::Extent& extent, int32_t srcRepStride, bool index, const char* name) {
    OnlyHalfAndFloat<T>();
    npuforge::reduce_all(kind, extent, dst.AsTile(), src.AsTile(1, static_cast<uint16_t>(srcRepStride)), shared.AsTile(), index, name);
}

template <typename T> T FromBits(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace internal

// Each repeat to one result.
#define NPUFORGE_WHOLE_REDUCE(MASK)                                                                                      \
    template <typename T, bool isSetMask = true>                                                                        \
    inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MASK, const int32_t repeatTime, \
                               const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {     \
        internal::Repeats(npuforge::Reduction::Sum, ReduceOrder::ORDER_ONLY_VALUE, dst, src, mask, repeatTime,           \
                          dstRepStride, srcBlkStride, srcRepStride, isSetMask, "WholeReduceSum");                        \
    }                                                                                                                   \
    template <typename T, bool isSetMask = true>                                                                        \
    inline void WholeReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MASK, const int32_t repeatTime, \
                               const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,       \
                               ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                     \
        internal::Repeats(npuforge::Reduction::Max, order, dst, src, mask, repeatTime, dstRepStride, srcBlkStride,       \
                          srcRepStride, isSetMask, "WholeReduceMax");                                                    \
    }                                                                                                                   \
    template <typename T, bool isSetMask = true>                                                                        \
    inline void WholeReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MASK, const int32_t repeatTime, \
                               const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,       \
                               ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                     \
        internal::Repeats(npuforge::Reduction::Min, order, dst, src, mask, repeatTime, dstRepStride, srcBlkStride,       \
                          srcRepStride, isSetMask, "WholeReduceMin");                                                    \
    }                                                                                                                   \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                      \
    inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, const MASK, const int32_t repeatTime,  \
                             const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,         \
                             ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                       \
        static_assert(std::is_same_v<T, U>, "[DTY-09] ReduceRepeat keeps its data type on 2201");                        \
        internal::Repeats(internal::KindOf(reduceType), order, dst, src, mask, repeatTime, dstRepStride, srcBlkStride,   \
                          srcRepStride, isSetMask, "ReduceRepeat");                                                      \
    }                                                                                                                   \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                      \
    inline void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, const MASK,                        \
                                const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,        \
                                const int32_t srcRepStride) {                                                           \
        static_assert(std::is_same_v<T, U>, "[DTY-09] ReduceDataBlock keeps its data type on 2201");                     \
        internal::Blocks(internal::KindOf(reduceType), dst, src, mask, repeatTime, dstRepStride, srcBlkStride,           \
                         srcRepStride, isSetMask, "ReduceDataBlock");                                                    \
    }                                                                                                                   \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                      \
    inline void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, const MASK,                         \
                               const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,         \
                               const int32_t srcRepStride) {                                                            \
        static_assert(reduceType == ReduceType::SUM && std::is_same_v<T, U>, "[DTY-09] ReducePairElem sums, in one type"); \
        internal::Pairs(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, isSetMask, "ReducePairElem"); \
    }
NPUFORGE_WHOLE_REDUCE(int32_t mask)
NPUFORGE_WHOLE_REDUCE(uint64_t mask[])
#undef NPUFORGE_WHOLE_REDUCE

// The older names put repeatTime before mask.
#define NPUFORGE_BLOCK_REDUCE(NAME, KIND, MASK)                                                                           \
    template <typename T, bool isSetMask = true>                                                                         \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const MASK,          \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {                \
        internal::Blocks(npuforge::Reduction::KIND, dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, \
                         isSetMask, #NAME);                                                                              \
    }
#define NPUFORGE_BLOCK_REDUCES(MASK)                \
    NPUFORGE_BLOCK_REDUCE(BlockReduceSum, Sum, MASK) \
    NPUFORGE_BLOCK_REDUCE(BlockReduceMax, Max, MASK) \
    NPUFORGE_BLOCK_REDUCE(BlockReduceMin, Min, MASK) \
    template <typename T, bool isSetMask = true>                                                                         \
    inline void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const MASK, \
                              const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {       \
        internal::Pairs(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, isSetMask, "PairReduceSum"); \
    }
NPUFORGE_BLOCK_REDUCES(int32_t mask)
NPUFORGE_BLOCK_REDUCES(uint64_t mask[])
#undef NPUFORGE_BLOCK_REDUCES
#undef NPUFORGE_BLOCK_REDUCE

template <typename T, bool isSetMask = true>
inline void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const int32_t mask,
                            const int32_t dstBlkStride, const int32_t srcBlkStride, const int32_t dstRepStride,
                            const int32_t srcRepStride) {
    (void)dstBlkStride;  // one result per repeat has no blocks to stride over
    internal::Repeats(npuforge::Reduction::Sum, ReduceOrder::ORDER_ONLY_VALUE, dst, src, mask, repeatTime, dstRepStride,
                      srcBlkStride, srcRepStride, isSetMask, "RepeatReduceSum");
}

// Everything to one result.
#define NPUFORGE_REDUCE_BEST(NAME, KIND)                                                                                  \
    template <typename T>                                                                                                \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,         \
                     const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0) {       \
        internal::All(npuforge::Reduction::KIND, dst, src, sharedTmpBuffer, internal::ExtentOf(mask, repeatTime, true),   \
                      srcRepStride, calIndex, #NAME);                                                                    \
    }                                                                                                                    \
    template <typename T>                                                                                                \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,         \
                     const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0) {    \
        internal::All(npuforge::Reduction::KIND, dst, src, sharedTmpBuffer, internal::ExtentOf(mask, repeatTime, true),   \
                      srcRepStride, calIndex, #NAME);                                                                    \
    }                                                                                                                    \
    template <typename T>                                                                                                \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,         \
                     const int32_t count, bool calIndex = 0) {                                                           \
        internal::All(npuforge::Reduction::KIND, dst, src, sharedTmpBuffer, npuforge::Extent::elements(count), 8,         \
                      calIndex, #NAME);                                                                                  \
    }
NPUFORGE_REDUCE_BEST(ReduceMax, Max)
NPUFORGE_REDUCE_BEST(ReduceMin, Min)
#undef NPUFORGE_REDUCE_BEST

template <typename T>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride) {
    internal::All(npuforge::Reduction::Sum, dst, src, sharedTmpBuffer, internal::ExtentOf(mask, repeatTime, true), srcRepStride,
                  false, "ReduceSum");
}
template <typename T>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride) {
    internal::All(npuforge::Reduction::Sum, dst, src, sharedTmpBuffer, internal::ExtentOf(mask, repeatTime, true), srcRepStride,
                  false, "ReduceSum");
}
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count) {
    const npuforge::Extent extent = npuforge::Extent::elements(count);
    internal::All(npuforge::Reduction::Sum, dst, src, sharedTmpBuffer, isSetMask ? extent : extent.in_register(), 8, false,
                  "ReduceSum");
}

// Registers of the last reduction.
template <typename T> inline void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex) {
    uint64_t value = 0, index = 0;
    npuforge::reduced_best(value, index);
    maxMinValue = internal::FromBits<T>(value);
    maxMinIndex = internal::FromBits<T>(index);
}
template <typename T> inline void GetReduceRepeatMaxMinSpr(T& maxMinValue) {
    T index;
    GetReduceRepeatMaxMinSpr(maxMinValue, index);
}
template <typename T> inline void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex) {
    GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex);
}
template <typename T> inline void GetReduceMaxMinCount(T& maxMinValue) { GetReduceRepeatMaxMinSpr(maxMinValue); }
template <typename T> inline T GetReduceRepeatSumSpr() { return internal::FromBits<T>(npuforge::reduced_sum()); }
template <typename T> inline T GetAccVal() { return GetReduceRepeatSumSpr<T>(); }
inline int64_t GetAccVal() { return static_cast<int64_t>(npuforge::reduced_sum()); }

}  // namespace AscendC
