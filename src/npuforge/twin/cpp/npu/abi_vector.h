// SPDX-License-Identifier: Apache-2.0
// The boundary for vector instructions: operands, which elements take part, and the entry points of
// the element-wise ones. Included by abi.h.
#pragma once
#include <cstdint>
#include <type_traits>

#include "types.h"

namespace npuforge {

// One operand of a vector instruction.
struct Tile {
    void* addr;
    uint32_t room;              // bytes from addr to the end of the tensor
    DType type;
    uint8_t position;           // AscendC::TPosition
    uint16_t block_stride = 1;  // in 32 B blocks, between the blocks of one repeat
    uint16_t repeat_stride = 8; // in 32 B blocks, between repeats
};

// Which elements a vector instruction works on.
struct Extent {
    enum class Form : uint8_t {
        Count,     // the first `count` elements, contiguous
        Bits,      // `mask` selects lanes of each of `repeat` repeats
        Register,  // isSetMask == false: the mask register decides
    };
    Form form;
    bool continuous = false;  // the mask was given as a number of lanes, `count`
    uint64_t mask[2] = {0, 0};
    int64_t count = 0;  // Count: elements. Bits/Register in counter mode: see Extent::lanes()
    int32_t repeat = 1;

    static Extent elements(int64_t n) {
        Extent e{Form::Count};
        e.count = n;
        return e;
    }
    // Continuous mask: the first n lanes; in counter mode n is the total number of elements.
    static Extent lanes(uint64_t n, int32_t repeat) {
        Extent e{Form::Bits};
        e.continuous = true;
        e.count = static_cast<int64_t>(n);
        e.repeat = repeat;
        e.mask[0] = n >= 64 ? ~0ull : (1ull << n) - 1;
        e.mask[1] = n >= 128 ? ~0ull : (n > 64 ? (1ull << (n - 64)) - 1 : 0);
        return e;
    }
    static Extent bits(const uint64_t* m, int32_t repeat) {
        Extent e{Form::Bits};
        e.mask[0] = m[0];
        e.mask[1] = m[1];
        e.count = static_cast<int64_t>(m[0]);
        e.repeat = repeat;
        return e;
    }
    Extent in_register() const {
        Extent e = *this;
        e.form = Form::Register;
        return e;
    }
};

// A scalar operand in the type of the tensor it works with.
union Scalar {
    float f;
    int32_t i;
    int64_t l;
    uint64_t u;
};

template <typename T> Scalar to_scalar(T value) {
    Scalar s{};
    if constexpr (std::is_integral_v<T>) {
        s.l = static_cast<int64_t>(value);
    } else {
        s.f = static_cast<float>(value);
    }
    return s;
}

// Element-wise vector instructions: X(name). The order is the index into the runtime's tables.
#define NPUFORGE_BINARY_OPS(X) \
    X(Add) X(Sub) X(Mul) X(Div) X(Max) X(Min) X(And) X(Or) X(AddRelu) X(SubRelu) \
    X(MulAddDst) X(FusedMulAdd) X(FusedMulAddRelu) X(MulAddRelu) \
    X(AddDeqRelu) X(AddReluCast) X(SubReluCast) X(MulCast)
#define NPUFORGE_UNARY_OPS(X) \
    X(Exp) X(Ln) X(Abs) X(Reciprocal) X(Sqrt) X(Rsqrt) X(Not) X(Relu)
#define NPUFORGE_SCALAR_OPS(X) \
    X(Adds) X(Muls) X(Maxs) X(Mins) X(ShiftLeft) X(ShiftRight) X(LeakyRelu) X(Axpy)

enum class VecOp : uint16_t {
#define X(name) name,
    NPUFORGE_BINARY_OPS(X) NPUFORGE_UNARY_OPS(X) NPUFORGE_SCALAR_OPS(X)
#undef X
    Count
};

void vec_binary(VecOp op, const Extent& extent, const Tile& dst, const Tile& src0, const Tile& src1);
void vec_unary(VecOp op, const Extent& extent, const Tile& dst, const Tile& src);
// `round`: ShiftRight adds the last bit it shifts out.
void vec_scalar(VecOp op, const Extent& extent, const Tile& dst, const Tile& src, Scalar scalar, bool round = false);
void vec_cast(const Extent& extent, const Tile& dst, const Tile& src, int round_mode);
// 16 bit results fill blocks; 8 bit ones fill the upper or lower half of each block.
void vec_cast_dequant(const Extent& extent, const Tile& dst, const Tile& src, bool vector_scales, bool upper_half);
void vec_duplicate(const Extent& extent, const Tile& dst, Scalar value);
void vec_index(const Extent& extent, const Tile& dst, Scalar first);
void vec_copy(const Extent& extent, const Tile& dst, const Tile& src);
void vec_brcb(const Tile& dst, const Tile& src, int32_t repeat);

// `mode` is AscendC::CMPMODE. The result is one bit per element, packed.
void vec_compare(int mode, const Extent& extent, const Tile& dst, const Tile& src0, const Tile& src1);
void vec_compare_scalar(const char* name, int mode, const Extent& extent, const Tile& dst, const Tile& src, Scalar scalar);
void vec_compare_register(int mode, const Extent& extent, const Tile& src0, const Tile& src1);
void get_compare_mask(const Tile& dst);
void set_compare_mask(const Tile& src);

// `mode` is AscendC::SELMODE. Operands that a form takes from the compare register are null.
struct Selection {
    int mode;
    const Tile* chooser;   // bits: 1 takes src0
    const Tile* otherwise; // src1 as a tensor
    const Scalar* value;   // src1 as a scalar
};
void vec_select(const Extent& extent, const Tile& dst, const Tile& src0, const Selection& selection);

// The register that conversions with a scale read.
void set_deq_half(uint16_t scale);
void set_deq_scalar(float scale, int16_t offset, bool is_signed);
void set_deq_table(const Tile& table, const float* scales, const int16_t* offsets, const bool* is_signed);
// Half and bf16 results: infinities become the largest number and NaN becomes 0.
void set_saturation(bool on);

}  // namespace npuforge
