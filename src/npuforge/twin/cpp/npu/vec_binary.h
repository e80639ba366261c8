// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions of two tensors, in the forms: count, continuous mask, bit mask.
#pragma once
#include "vec_params.h"

namespace AscendC {

namespace internal {

template <typename T, typename U, typename Mask>
void Binary(npuforge::VecOp op, const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, Mask mask,
            uint8_t repeatTime, const BinaryRepeatParams& p, bool setMask) {
    npuforge::vec_binary(op, Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                         src0.AsTile(p.src0BlkStride, p.src0RepStride), src1.AsTile(p.src1BlkStride, p.src1RepStride));
}

template <typename T, typename U>
void Binary(npuforge::VecOp op, const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
            int64_t count) {
    npuforge::vec_binary(op, Elements(count), dst.AsTile(), src0.AsTile(), src1.AsTile());
}

// And, Or and Not with a count compile for every type, but see its elements as 16 bit ones.
template <typename T> npuforge::Tile AsHalfWords(const LocalTensor<T>& tensor, const char* name) {
    npuforge::Tile tile = tensor.AsTile();
    if constexpr (!IsBitwise<T>) {
        npuforge::report("DTY-05", "%s on %d bit elements: its count is in 16 bit elements", name,
                         static_cast<int>(sizeof(T) * 8));
        tile.type = npuforge::DType::U16;
    }
    return tile;
}

}  // namespace internal

// The public form takes uint8_t, which code that passes these functions around relies on; a wider
// argument is looked at before it is cut down (VEC-02).
#define NPUFORGE_BINARY_MASKED(NAME, SUPPORTED, RULE)                                                               \
    template <typename T, bool isSetMask = true>                                                                    \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,             \
                     uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {           \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");                \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);        \
    }                                                                                                               \
    template <typename T, bool isSetMask = true>                                                                    \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,             \
                     uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {             \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");                \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, repeatTime, repeatParams, isSetMask);        \
    }                                                                                                               \
    template <typename T, bool isSetMask = true, typename R, internal::WideRepeat<R> = 0>                           \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,             \
                     uint64_t mask[], const R repeatTime, const BinaryRepeatParams& repeatParams) {                 \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");                \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, RepeatTime(repeatTime), repeatParams, isSetMask);\
    }                                                                                                               \
    template <typename T, bool isSetMask = true, typename R, internal::WideRepeat<R> = 0>                           \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,             \
                     uint64_t mask, const R repeatTime, const BinaryRepeatParams& repeatParams) {                   \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");                \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, mask, RepeatTime(repeatTime), repeatParams, isSetMask);\
    }

#define NPUFORGE_BINARY(NAME, SUPPORTED, RULE)                                                                    \
    template <typename T>                                                                                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,           \
                     const int32_t& count) {                                                                     \
        static_assert(SUPPORTED<T>, "[" RULE "] " #NAME " does not support this data type on 2201");              \
        internal::Binary(npuforge::VecOp::NAME, dst, src0, src1, count);                                          \
    }                                                                                                            \
    NPUFORGE_BINARY_MASKED(NAME, SUPPORTED, RULE)

NPUFORGE_BINARY(Add, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Sub, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Mul, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Max, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Min, internal::IsArithmetic, "DTY-01")
NPUFORGE_BINARY(Div, internal::IsFloating, "DTY-02")
NPUFORGE_BINARY(AddRelu, internal::IsFusedReluType, "DTY-10")
NPUFORGE_BINARY(SubRelu, internal::IsFusedReluType, "DTY-10")
NPUFORGE_BINARY(FusedMulAdd, internal::IsFloating, "DTY-10")
NPUFORGE_BINARY(FusedMulAddRelu, internal::IsFloating, "DTY-10")
NPUFORGE_BINARY(MulAddRelu, internal::IsFloating, "DTY-10")

#define NPUFORGE_BITWISE(NAME)                                                                                    \
    template <typename T>                                                                                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,           \
                     const int32_t& count) {                                                                     \
        npuforge::vec_binary(npuforge::VecOp::NAME, internal::Elements(count), internal::AsHalfWords(dst, #NAME), \
                             internal::AsHalfWords(src0, #NAME), internal::AsHalfWords(src1, #NAME));            \
    }                                                                                                            \
    NPUFORGE_BINARY_MASKED(NAME, internal::IsBitwise, "DTY-05")

NPUFORGE_BITWISE(And)
NPUFORGE_BITWISE(Or)

#undef NPUFORGE_BITWISE
#undef NPUFORGE_BINARY
#undef NPUFORGE_BINARY_MASKED

}  // namespace AscendC
