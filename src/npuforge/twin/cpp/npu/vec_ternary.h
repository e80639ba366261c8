// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions whose source and destination types differ, or that add to the destination.
#pragma once
#include "vec_binary.h"

namespace AscendC {

namespace internal {

template <typename T, typename U> inline constexpr bool IsReluCast =
    (std::is_same_v<T, int8_t> && OneOf<U, half, int16_t>) || (std::is_same_v<T, half> && std::is_same_v<U, float>);
template <typename T, typename U> inline constexpr bool IsMulCast = OneOf<T, int8_t, uint8_t> && std::is_same_v<U, half>;
template <typename T, typename U> inline constexpr bool IsDeqPair = std::is_same_v<T, half> && std::is_same_v<U, int32_t>;

}  // namespace internal

// CONST_MASK and COUNT: the reference differs between these instructions in constness and in the type of the count.
#define NPUFORGE_TWO_TYPES(NAME, SUPPORTED, RULE, CONST_MASK, COUNT)                                              \
    template <typename T, typename U, bool isSetMask = true>                                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,           \
                     CONST_MASK uint64_t mask[], const RepeatTime repeatTime,                                    \
                     const BinaryRepeatParams& repeatParams) {                                                   \
        static_assert(SUPPORTED<T, U>, "[" RULE "] " #NAME " does not support these data types on 2201");         \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);      \
    }                                                                                                            \
    template <typename T, typename U, bool isSetMask = true>                                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,           \
                     uint64_t mask, const RepeatTime repeatTime, const BinaryRepeatParams& repeatParams) {        \
        static_assert(SUPPORTED<T, U>, "[" RULE "] " #NAME " does not support these data types on 2201");         \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);      \
    }                                                                                                            \
    template <typename T, typename U>                                                                            \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, COUNT count) { \
        static_assert(SUPPORTED<T, U>, "[" RULE "] " #NAME " does not support these data types on 2201");         \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, count);                                          \
    }

NPUFORGE_TWO_TYPES(MulAddDst, internal::IsAccumulation, "DTY-10", const, const int32_t&)
NPUFORGE_TWO_TYPES(AddReluCast, internal::IsReluCast, "DTY-10", , const uint32_t)
NPUFORGE_TWO_TYPES(SubReluCast, internal::IsReluCast, "DTY-10", , const uint32_t)
NPUFORGE_TWO_TYPES(MulCast, internal::IsMulCast, "DTY-10", , uint32_t)
NPUFORGE_TWO_TYPES(AddDeqRelu, internal::IsDeqPair, "DTY-10", , const int32_t&)
#undef NPUFORGE_TWO_TYPES

// AddDeqRelu is also written with the mask switch as its only template argument.
template <bool isSetMask>
inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0, const LocalTensor<int32_t>& src1,
                       uint64_t mask[], const RepeatTime repeatTime, const BinaryRepeatParams& repeatParams) {
    internal::Binary(npuforge::VecOp::AddDeqRelu, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);
}
template <bool isSetMask>
inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0, const LocalTensor<int32_t>& src1,
                       uint64_t mask, const RepeatTime repeatTime, const BinaryRepeatParams& repeatParams) {
    internal::Binary(npuforge::VecOp::AddDeqRelu, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);
}

// dst += src * scalar.
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask,
                 const RepeatTime repeatTime, const UnaryRepeatParams& p) {
    static_assert(internal::IsAccumulation<T, U>, "[DTY-10] Axpy does not support these data types on 2201");
    npuforge::vec_scalar(npuforge::VecOp::Axpy, internal::Lanes(mask, repeatTime, isSetMask),
                         dst.AsTile(p.dstBlkStride, p.dstRepStride), src.AsTile(p.srcBlkStride, p.srcRepStride),
                         npuforge::to_scalar(scalarValue));
}
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask[],
                 const RepeatTime repeatTime, const UnaryRepeatParams& p) {
    static_assert(internal::IsAccumulation<T, U>, "[DTY-10] Axpy does not support these data types on 2201");
    npuforge::vec_scalar(npuforge::VecOp::Axpy, internal::Lanes(mask, repeatTime, isSetMask),
                         dst.AsTile(p.dstBlkStride, p.dstRepStride), src.AsTile(p.srcBlkStride, p.srcRepStride),
                         npuforge::to_scalar(scalarValue));
}
template <typename T, typename U>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count) {
    static_assert(internal::IsAccumulation<T, U>, "[DTY-10] Axpy does not support these data types on 2201");
    npuforge::vec_scalar(npuforge::VecOp::Axpy, internal::Elements(count), dst.AsTile(), src.AsTile(),
                         npuforge::to_scalar(scalarValue));
}
template <typename S, typename T, typename U, typename = std::enable_if_t<!std::is_same_v<S, U>>>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const S& scalarValue, const int32_t& count) {
    static_assert(std::is_same_v<typename internal::ElementOf<S>::Type, U>,
                  "[VEC-09] Axpy: the scalar does not have the element type of the source tensor");
    Axpy(dst, src, static_cast<U>(scalarValue), count);
}

}  // namespace AscendC
