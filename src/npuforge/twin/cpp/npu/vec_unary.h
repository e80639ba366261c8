// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions of one tensor, in the forms: count, continuous mask, bit mask.
#pragma once
#include "vec_binary.h"

namespace AscendC {

namespace internal {

template <typename T, typename Mask>
void Unary(npuforge::VecOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, uint8_t repeatTime,
           const UnaryRepeatParams& p, bool setMask) {
    npuforge::vec_unary(op, Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                        src.AsTile(p.srcBlkStride, p.srcRepStride));
}

}  // namespace internal

#define NPUFORGE_UNARY_MASKED(NAME, SUPPORTED, RULE)                                                              \
    template <typename T, bool isSetMask = true>                                                                 \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[],                       \
                     const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {                        \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        internal::Unary(npuforge::VecOp::NAME, dst, src, mask, repeatTime, repeatParams, isSetMask);              \
    }                                                                                                            \
    template <typename T, bool isSetMask = true>                                                                 \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask,                         \
                     const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {                        \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        internal::Unary(npuforge::VecOp::NAME, dst, src, mask, repeatTime, repeatParams, isSetMask);              \
    }

#define NPUFORGE_UNARY(NAME, SUPPORTED, RULE)                                                                     \
    NPUFORGE_UNARY_MASKED(NAME, SUPPORTED, RULE)                                                                 \
    template <typename T>                                                                                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {                \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        npuforge::vec_unary(npuforge::VecOp::NAME, internal::Elements(count), dst.AsTile(), src.AsTile());        \
    }

NPUFORGE_UNARY(Relu, internal::IsReluType, "DTY-03")
NPUFORGE_UNARY(Exp, internal::IsFloating, "DTY-02")
NPUFORGE_UNARY(Ln, internal::IsFloating, "DTY-02")
NPUFORGE_UNARY(Abs, internal::IsFloating, "DTY-02")
NPUFORGE_UNARY(Reciprocal, internal::IsFloating, "DTY-02")
NPUFORGE_UNARY(Rsqrt, internal::IsFloating, "DTY-02")
NPUFORGE_UNARY(Sqrt, internal::IsFloating, "DTY-02")
NPUFORGE_UNARY_MASKED(Not, internal::IsBitwise, "DTY-05")

template <typename T> inline void Not(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {
    npuforge::vec_unary(npuforge::VecOp::Not, internal::Elements(count), internal::AsHalfWords(dst, "Not"),
                        internal::AsHalfWords(src, "Not"));
}

#undef NPUFORGE_UNARY
#undef NPUFORGE_UNARY_MASKED

}  // namespace AscendC
