// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions of a tensor and a scalar. The scalar has the tensor's element type; a call
// that would need a conversion is refused, as the device compiler refuses it (rule VEC-09).
#pragma once
#include "vec_params.h"

namespace AscendC {

namespace internal {

template <typename T, typename Mask>
void WithScalar(npuforge::VecOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, Mask mask,
                uint8_t repeatTime, const UnaryRepeatParams& p, bool setMask, bool round = false) {
    npuforge::vec_scalar(op, Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                         src.AsTile(p.srcBlkStride, p.srcRepStride), npuforge::to_scalar(scalar), round);
}

}  // namespace internal

// The form with a count, and the one that catches scalars of another type. ElementRef is what
// `tensor(i)` gives.
#define NPUFORGE_SCALAR_COUNT(NAME, SUPPORTED, RULE)                                                              \
    template <typename T, bool isSetMask = true>                                                                 \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,                  \
                     const int32_t& count) {                                                                     \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        npuforge::vec_scalar(npuforge::VecOp::NAME, internal::Elements(count, isSetMask), dst.AsTile(),           \
                             src.AsTile(), npuforge::to_scalar(scalarValue));                                    \
    }                                                                                                            \
    template <typename S, typename T, typename = std::enable_if_t<!std::is_same_v<S, T>>>                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const S& scalarValue,                  \
                     const int32_t& count) {                                                                     \
        static_assert(std::is_same_v<typename internal::ElementOf<S>::Type, T>,                                  \
                      "[VEC-09] " #NAME ": the scalar does not have the element type of the tensor");             \
        NAME(dst, src, static_cast<T>(scalarValue), count);                                                      \
    }

#define NPUFORGE_SCALAR_MASKED(NAME, MASK, SUPPORTED, RULE)                                                       \
    template <typename T, bool isSetMask = true>                                                                 \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, MASK,            \
                     const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {                        \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        internal::WithScalar(npuforge::VecOp::NAME, dst, src, scalarValue, mask, repeatTime, repeatParams,        \
                             isSetMask);                                                                         \
    }                                                                                                            \
    template <typename S, typename T, typename = std::enable_if_t<!std::is_same_v<S, T>>>                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const S& scalarValue, MASK,            \
                     const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {                        \
        static_assert(std::is_same_v<typename internal::ElementOf<S>::Type, T>,                                  \
                      "[VEC-09] " #NAME ": the scalar does not have the element type of the tensor");             \
        NAME(dst, src, static_cast<T>(scalarValue), mask, repeatTime, repeatParams);                             \
    }

#define NPUFORGE_SCALAR(NAME, SUPPORTED, RULE)                                                                    \
    NPUFORGE_SCALAR_MASKED(NAME, uint64_t mask[], SUPPORTED, RULE)                                               \
    NPUFORGE_SCALAR_MASKED(NAME, uint64_t mask, SUPPORTED, RULE)                                                 \
    NPUFORGE_SCALAR_COUNT(NAME, SUPPORTED, RULE)

NPUFORGE_SCALAR(Adds, internal::IsArithmetic, "DTY-01")
NPUFORGE_SCALAR(Muls, internal::IsArithmetic, "DTY-01")
NPUFORGE_SCALAR(Maxs, internal::IsArithmetic, "DTY-01")
NPUFORGE_SCALAR(Mins, internal::IsArithmetic, "DTY-01")
NPUFORGE_SCALAR(LeakyRelu, internal::IsFloating, "DTY-02")
NPUFORGE_SCALAR(ShiftLeft, internal::IsShiftable, "DTY-06")
NPUFORGE_SCALAR_COUNT(ShiftRight, internal::IsShiftable, "DTY-06")

// roundEn adds the last bit that is shifted out.
#define NPUFORGE_SHIFT_RIGHT(MASK)                                                                                \
    template <typename T, bool isSetMask = true>                                                                 \
    inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, MASK,      \
                           const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,                    \
                           bool roundEn = false) {                                                               \
        static_assert(internal::IsShiftable<T>, "[DTY-06] ShiftRight does not support this data type on 2201");  \
        internal::WithScalar(npuforge::VecOp::ShiftRight, dst, src, scalarValue, mask, repeatTime, repeatParams,  \
                             isSetMask, roundEn);                                                                \
    }                                                                                                            \
    template <typename S, typename T, typename = std::enable_if_t<!std::is_same_v<S, T>>>                        \
    inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const S& scalarValue, MASK,      \
                           const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,                    \
                           bool roundEn = false) {                                                               \
        static_assert(std::is_same_v<typename internal::ElementOf<S>::Type, T>,                                  \
                      "[VEC-09] ShiftRight: the scalar does not have the element type of the tensor");           \
        ShiftRight(dst, src, static_cast<T>(scalarValue), mask, repeatTime, repeatParams, roundEn);              \
    }
NPUFORGE_SHIFT_RIGHT(uint64_t mask[])
NPUFORGE_SHIFT_RIGHT(uint64_t mask)

#undef NPUFORGE_SHIFT_RIGHT
#undef NPUFORGE_SCALAR
#undef NPUFORGE_SCALAR_MASKED
#undef NPUFORGE_SCALAR_COUNT

}  // namespace AscendC
