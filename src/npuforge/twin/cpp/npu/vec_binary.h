// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions of two tensors, in the forms: count, continuous mask, bit mask.
#pragma once
#include "params.h"
#include "tensor.h"

namespace AscendC {

namespace internal {

template <typename T, typename... Allowed> inline constexpr bool OneOf = (std::is_same_v<T, Allowed> || ...);
template <typename T> inline constexpr bool IsArithmetic = OneOf<T, int16_t, half, int32_t, float>;
template <typename T> inline constexpr bool IsFloating = OneOf<T, half, float>;

inline npuforge::Extent Lanes(const uint64_t mask, uint8_t repeat, bool setMask) {
    const npuforge::Extent extent = npuforge::Extent::lanes(mask, repeat);
    return setMask ? extent : extent.in_register();
}
inline npuforge::Extent Lanes(const uint64_t* mask, uint8_t repeat, bool setMask) {
    const npuforge::Extent extent = npuforge::Extent::bits(mask, repeat);
    return setMask ? extent : extent.in_register();
}

template <typename T, typename U, typename V, typename Mask>
void Binary(npuforge::VecOp op, const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<V>& src1, Mask mask,
            const uint8_t repeatTime, const BinaryRepeatParams& p, bool setMask) {
    npuforge::vec_binary(op, Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                         src0.AsTile(p.src0BlkStride, p.src0RepStride), src1.AsTile(p.src1BlkStride, p.src1RepStride));
}

}  // namespace internal

#define NPUFORGE_BINARY(NAME, SUPPORTED, RULE)                                                                    \
    template <typename T>                                                                                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,           \
                     const int32_t& count) {                                                                     \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        npuforge::vec_binary(npuforge::VecOp::NAME, npuforge::Extent::elements(count), dst.AsTile(), src0.AsTile(), \
                             src1.AsTile());                                                                     \
    }                                                                                                            \
    template <typename T, bool isSetMask = true>                                                                 \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,           \
                     uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {           \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);      \
    }                                                                                                            \
    template <typename T, bool isSetMask = true>                                                                 \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,           \
                     uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {         \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);      \
    }

NPUFORGE_BINARY(Add, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Sub, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Mul, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Max, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Min, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Div, internal::IsFloating, "DTY-02")

}  // namespace AscendC
