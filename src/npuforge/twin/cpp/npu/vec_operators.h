// SPDX-License-Identifier: Apache-2.0
// Operators on whole tensors: `dst = a + b` runs over the length of dst, `bits = a < b` over that of a.
// The operator itself only remembers its operands; the assignment runs the instruction.
#pragma once
#include "vec_binary.h"
#include "vec_compare.h"

namespace AscendC {

namespace internal {

template <typename T> struct ArithmeticExpression {
    using IsVectorExpression = void;
    npuforge::VecOp op;
    LocalTensor<T> src0, src1;

    void Into(const LocalTensor<T>& dst) const {
        const uint32_t size = dst.GetSize();
        if (src0.GetSize() < size || src1.GetSize() < size)
            npuforge::report("VEC-08", "an operator over %u elements with sources of %u and %u", size, src0.GetSize(),
                             src1.GetSize());
        npuforge::Tile tiles[] = {dst.AsTile(), src0.AsTile(), src1.AsTile()};
        int64_t count = size;
        if constexpr (IsWord<T>) {  // And and Or work on 16 bit elements
            if (op == npuforge::VecOp::And || op == npuforge::VecOp::Or) {
                for (npuforge::Tile& tile : tiles) tile.type = npuforge::DType::U16;
                count *= 2;
            }
        }
        npuforge::vec_binary(op, Elements(count), tiles[0], tiles[1], tiles[2]);
    }
};

template <typename T> struct ComparisonExpression {
    using IsVectorExpression = void;
    CMPMODE mode;
    LocalTensor<T> src0, src1;

    template <typename U> void Into(const LocalTensor<U>& dst) const {
        if (src1.GetSize() < src0.GetSize())
            npuforge::report("VEC-08", "a comparison over %u elements with a source of %u", src0.GetSize(), src1.GetSize());
        Compare(dst, src0, src1, mode, src0.GetSize());
    }
};

}  // namespace internal

#define NPUFORGE_OPERATOR(SYMBOL, NAME, SUPPORTED, RULE)                                                          \
    template <typename T>                                                                                        \
    inline internal::ArithmeticExpression<T> operator SYMBOL(const LocalTensor<T>& src0, const LocalTensor<T>& src1) { \
        static_assert(SUPPORTED, "[" RULE "] operator " #SYMBOL " does not support this data type on 2201");      \
        return {npuforge::VecOp::NAME, src0, src1};                                                              \
    }
NPUFORGE_OPERATOR(+, Add, internal::IsArithmetic<T>, "DTY-01")
NPUFORGE_OPERATOR(-, Sub, internal::IsArithmetic<T>, "DTY-01")
NPUFORGE_OPERATOR(*, Mul, internal::IsArithmetic<T>, "DTY-01")
NPUFORGE_OPERATOR(/, Div, internal::IsFloating<T>, "DTY-02")
NPUFORGE_OPERATOR(&, And, internal::IsBitwise<T> || internal::IsWord<T>, "DTY-05")
NPUFORGE_OPERATOR(|, Or, internal::IsBitwise<T> || internal::IsWord<T>, "DTY-05")
#undef NPUFORGE_OPERATOR

#define NPUFORGE_COMPARISON(SYMBOL, MODE)                                                                         \
    template <typename T>                                                                                        \
    inline internal::ComparisonExpression<T> operator SYMBOL(const LocalTensor<T>& src0, const LocalTensor<T>& src1) { \
        return {CMPMODE::MODE, src0, src1};                                                                      \
    }
NPUFORGE_COMPARISON(<, LT)
NPUFORGE_COMPARISON(>, GT)
NPUFORGE_COMPARISON(==, EQ)
NPUFORGE_COMPARISON(<=, LE)
NPUFORGE_COMPARISON(>=, GE)
NPUFORGE_COMPARISON(!=, NE)
#undef NPUFORGE_COMPARISON

}  // namespace AscendC
