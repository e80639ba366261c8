// SPDX-License-Identifier: Apache-2.0
// Raw instructions: pointers, strides in blocks, the mask register. The counterpart of each API.
#pragma once
#include "cache.h"
#include "mask.h"
#include "scalar.h"
#include "sync.h"

namespace npuforge {

// An operand known by its address only: it may reach to the end of the unified buffer.
template <typename T> Tile raw_tile(T* at, uint16_t block_stride, uint16_t repeat_stride) {
    const auto offset = reinterpret_cast<uint8_t*>(at) - local_memory(Space::UB);
    const uint32_t capacity = local_capacity(Space::UB);
    const uint32_t room = offset >= 0 && offset < int64_t(capacity) ? capacity - static_cast<uint32_t>(offset) : 0;
    return {at, room, dtype_v<T>, static_cast<uint8_t>(AscendC::TPosition::VECCALC), block_stride, repeat_stride};
}
inline Extent raw_extent(uint8_t repeat) { return Extent::lanes(0, repeat).in_register(); }

inline Dma raw_move(void* dst, const void* src, Space dst_space, Space src_space, uint16_t rows, uint32_t bytes) {
    Dma job{};
    job.dst = dst;
    job.src = src;
    job.dst_space = dst_space;
    job.src_space = src_space;
    job.rows = rows;
    job.row_bytes = bytes;
    job.element_bytes = 1;
    job.type = DType::U8;
    job.cache_mode = static_cast<uint8_t>(AscendC::CacheMode::CACHE_MODE_NORMAL);
    job.name = "DataCopy";
    return job;
}

}  // namespace npuforge

#define NPUFORGE_RAW_BINARY(NAME, OP)                                                                                       \
    template <typename T>                                                                                                  \
    inline void NAME(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat, uint8_t dstBlk, uint8_t src0Blk,   \
                     uint8_t src1Blk, uint8_t dstRep, uint8_t src0Rep, uint8_t src1Rep) {                                  \
        npuforge::vec_binary(npuforge::VecOp::OP, npuforge::raw_extent(repeat), npuforge::raw_tile(dst, dstBlk, dstRep),    \
                             npuforge::raw_tile(src0, src0Blk, src0Rep), npuforge::raw_tile(src1, src1Blk, src1Rep));       \
    }
NPUFORGE_RAW_BINARY(vadd, Add)
NPUFORGE_RAW_BINARY(vsub, Sub)
NPUFORGE_RAW_BINARY(vmul, Mul)
NPUFORGE_RAW_BINARY(vdiv, Div)
NPUFORGE_RAW_BINARY(vmax, Max)
NPUFORGE_RAW_BINARY(vmin, Min)
NPUFORGE_RAW_BINARY(vand, And)
NPUFORGE_RAW_BINARY(vor, Or)
#undef NPUFORGE_RAW_BINARY

#define NPUFORGE_RAW_UNARY(NAME, OP)                                                                                   \
    template <typename T>                                                                                             \
    inline void NAME(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk, uint16_t dstRep, \
                     uint16_t srcRep) {                                                                                \
        npuforge::vec_unary(npuforge::VecOp::OP, npuforge::raw_extent(repeat), npuforge::raw_tile(dst, dstBlk, dstRep), \
                            npuforge::raw_tile(src, srcBlk, srcRep));                                                   \
    }
NPUFORGE_RAW_UNARY(vexp, Exp)
NPUFORGE_RAW_UNARY(vln, Ln)
NPUFORGE_RAW_UNARY(vabs, Abs)
NPUFORGE_RAW_UNARY(vrec, Reciprocal)
NPUFORGE_RAW_UNARY(vsqrt, Sqrt)
NPUFORGE_RAW_UNARY(vrsqrt, Rsqrt)
NPUFORGE_RAW_UNARY(vnot, Not)
NPUFORGE_RAW_UNARY(vrelu, Relu)
#undef NPUFORGE_RAW_UNARY

#define NPUFORGE_RAW_SCALAR(NAME, OP)                                                                                   \
    template <typename T>                                                                                              \
    inline void NAME(__ubuf__ T* dst, __ubuf__ T* src, T scalar, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk,       \
                     uint16_t dstRep, uint16_t srcRep) {                                                                \
        npuforge::vec_scalar(npuforge::VecOp::OP, npuforge::raw_extent(repeat), npuforge::raw_tile(dst, dstBlk, dstRep), \
                             npuforge::raw_tile(src, srcBlk, srcRep), npuforge::to_scalar(scalar));                      \
    }
NPUFORGE_RAW_SCALAR(vadds, Adds)
NPUFORGE_RAW_SCALAR(vmuls, Muls)
NPUFORGE_RAW_SCALAR(vmaxs, Maxs)
NPUFORGE_RAW_SCALAR(vmins, Mins)
#undef NPUFORGE_RAW_SCALAR

template <typename T>
inline void vector_dup(__ubuf__ T* dst, T value, uint8_t repeat, uint16_t dstBlk, uint16_t, uint8_t dstRep, uint8_t) {
    npuforge::vec_duplicate(npuforge::raw_extent(repeat), npuforge::raw_tile(dst, dstBlk, dstRep), npuforge::to_scalar(value));
}
template <typename T>
inline void vbrcb(__ubuf__ T* dst, __ubuf__ T* src, uint16_t dstBlk, uint16_t dstRep, uint8_t repeat) {
    npuforge::vec_brcb(npuforge::raw_tile(dst, dstBlk, dstRep), npuforge::raw_tile(src, 1, 8), repeat);
}

#define NPUFORGE_RAW_CONVERT(NAME, TO, FROM, MODE)                                                                    \
    inline void NAME(__ubuf__ TO* dst, __ubuf__ FROM* src, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk,           \
                     uint16_t dstRep, uint16_t srcRep) {                                                              \
        npuforge::vec_cast(npuforge::raw_extent(repeat), npuforge::raw_tile(dst, dstBlk, dstRep),                      \
                           npuforge::raw_tile(src, srcBlk, srcRep), static_cast<int>(AscendC::RoundMode::MODE));        \
    }
NPUFORGE_RAW_CONVERT(vconv_f322f16, half, float, CAST_NONE)
NPUFORGE_RAW_CONVERT(vconv_f162f32, float, half, CAST_NONE)
NPUFORGE_RAW_CONVERT(vconv_bf162f32, float, bfloat16_t, CAST_NONE)
NPUFORGE_RAW_CONVERT(vconv_f322bf16r, bfloat16_t, float, CAST_RINT)
NPUFORGE_RAW_CONVERT(vconv_f322s32r, int32_t, float, CAST_RINT)
NPUFORGE_RAW_CONVERT(vconv_f322s32z, int32_t, float, CAST_TRUNC)
NPUFORGE_RAW_CONVERT(vconv_s322f32, float, int32_t, CAST_NONE)
#undef NPUFORGE_RAW_CONVERT

enum class Order_t : uint8_t { VALUE_INDEX = 0, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };

// mode true: the repeats are added up, one after the other, into the accumulator register, and dst is
// left alone.
template <typename T>
inline void vcadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRep, uint16_t srcBlk, uint16_t srcRep, bool mode) {
    const npuforge::Tile from = npuforge::raw_tile(src, srcBlk, srcRep);
    if (mode) npuforge::accumulate_repeats(npuforge::raw_extent(repeat), from);
    else
        npuforge::reduce_repeats(npuforge::Reduction::Sum, npuforge::ReduceLayout::OnlyValue, npuforge::raw_extent(repeat),
                                 npuforge::raw_tile(dst, 1, 8), from, dstRep, "WholeReduceSum");
}
template <typename T>
inline void vcadd(std::nullptr_t, __ubuf__ T* src, uint8_t repeat, uint16_t, uint16_t srcBlk, uint16_t srcRep, bool) {
    npuforge::accumulate_repeats(npuforge::raw_extent(repeat), npuforge::raw_tile(src, srcBlk, srcRep));
}
#define NPUFORGE_RAW_BEST(NAME, KIND, LABEL)                                                                             \
    template <typename T>                                                                                               \
    inline void NAME(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRep, uint16_t srcBlk, uint16_t srcRep, \
                     Order_t order) {                                                                                    \
        npuforge::reduce_repeats(npuforge::Reduction::KIND, static_cast<npuforge::ReduceLayout>(order),                  \
                                 npuforge::raw_extent(repeat), npuforge::raw_tile(dst, 1, 8),                            \
                                 npuforge::raw_tile(src, srcBlk, srcRep), dstRep, LABEL);                                \
    }
NPUFORGE_RAW_BEST(vcmax, Max, "WholeReduceMax")
NPUFORGE_RAW_BEST(vcmin, Min, "WholeReduceMin")
#undef NPUFORGE_RAW_BEST
#define NPUFORGE_RAW_BLOCKS(NAME, KIND, LABEL)                                                                             \
    template <typename T>                                                                                                 \
    inline void NAME(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRep, uint16_t srcBlk, uint16_t srcRep) { \
        npuforge::reduce_blocks(npuforge::Reduction::KIND, npuforge::raw_extent(repeat), npuforge::raw_tile(dst, 1, 8),    \
                                npuforge::raw_tile(src, srcBlk, srcRep), dstRep, LABEL);                                   \
    }
NPUFORGE_RAW_BLOCKS(vcgadd, Sum, "BlockReduceSum")
NPUFORGE_RAW_BLOCKS(vcgmax, Max, "BlockReduceMax")
NPUFORGE_RAW_BLOCKS(vcgmin, Min, "BlockReduceMin")
#undef NPUFORGE_RAW_BLOCKS
template <typename T>
inline void vcpadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRep, uint16_t srcBlk, uint16_t srcRep) {
    npuforge::reduce_pairs(npuforge::raw_extent(repeat), npuforge::raw_tile(dst, 1, 8), npuforge::raw_tile(src, srcBlk, srcRep), dstRep,
                           "PairReduceSum");
}
inline int64_t get_acc_val() { return static_cast<int64_t>(npuforge::reduced_sum()); }
inline void vtranspose(__ubuf__ uint16_t* dst, __ubuf__ uint16_t* src) {
    npuforge::transpose16(npuforge::raw_tile(dst, 1, 8), npuforge::raw_tile(src, 1, 8));
}

// Address registers: eight addresses of blocks each; a transposing move takes two of them per side.
enum ub_addr8_t : uint8_t { VA0 = 0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
namespace npuforge {
template <typename T> void raw_scatter(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride) {
    transpose_blocks({address_register(dst), address_register(src), repeat, dstStride, srcStride, false, false, dtype_v<T>});
}
}  // namespace npuforge
inline void set_va_reg_sb(ub_addr8_t reg, uint64_t* addresses) {
    for (int i = 0; i < 8; ++i) npuforge::address_register(reg)[i] = addresses[i];
}
inline void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride) {
    npuforge::raw_scatter<uint16_t>(dst, src, repeat, dstStride, srcStride);
}
inline void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride) {
    npuforge::raw_scatter<uint32_t>(dst, src, repeat, dstStride, srcStride);
}

inline void set_vector_mask(uint64_t high, uint64_t low) { npuforge::set_vector_mask(high, low); }
inline void set_mask_norm() { npuforge::set_mask_mode(false); }
inline void set_mask_count() { npuforge::set_mask_mode(true); }
inline void set_atomic_none() { npuforge::set_atomic(npuforge::DType::F32, 0); }
inline void set_atomic_add() {
    npuforge::DType type;
    int operation;
    npuforge::get_atomic(type, operation);
    npuforge::set_atomic(type, 1);
}
inline void set_atomic_f32() { npuforge::set_atomic(npuforge::DType::F32, 1); }
inline void set_atomic_f16() { npuforge::set_atomic(npuforge::DType::F16, 1); }
inline void set_atomic_s32() { npuforge::set_atomic(npuforge::DType::I32, 1); }
template <typename T> inline void set_padding(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    npuforge::set_pad_value(bits);
}

// Lengths and gaps in blocks of 32 B.
inline void copy_gm_to_ubuf(__ubuf__ void* dst, __gm__ void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap,
                            uint16_t dstGap) {
    npuforge::Dma job = npuforge::raw_move(dst, src, npuforge::Space::UB, npuforge::Space::GM, nBurst, lenBurst * 32u);
    job.src_step = (int64_t(lenBurst) + srcGap) * 32;
    job.dst_step = (int64_t(lenBurst) + dstGap) * 32;
    npuforge::dma(job);
}
inline void copy_ubuf_to_gm(__gm__ void* dst, __ubuf__ void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap,
                            uint16_t dstGap) {
    npuforge::Dma job = npuforge::raw_move(dst, src, npuforge::Space::GM, npuforge::Space::UB, nBurst, lenBurst * 32u);
    job.src_step = (int64_t(lenBurst) + srcGap) * 32;
    job.dst_step = (int64_t(lenBurst) + dstGap) * 32;
    npuforge::dma(job);
}
inline void copy_ubuf_to_ubuf(__ubuf__ void* dst, __ubuf__ void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap,
                              uint16_t dstGap) {
    npuforge::Dma job = npuforge::raw_move(dst, src, npuforge::Space::UB, npuforge::Space::UB, nBurst, lenBurst * 32u);
    job.src_step = (int64_t(lenBurst) + srcGap) * 32;
    job.dst_step = (int64_t(lenBurst) + dstGap) * 32;
    npuforge::dma(job);
}

// Lengths in bytes; gaps in bytes in GM and in blocks in the unified buffer.
#define NPUFORGE_RAW_ALIGN(BITS, BYTES)                                                                                    \
    inline void copy_ubuf_to_gm_align_b##BITS(__gm__ void* dst, __ubuf__ void* src, uint8_t, uint16_t nBurst,              \
                                              uint32_t lenBurst, uint8_t, uint8_t, uint32_t srcGap, uint32_t dstGap) {     \
        npuforge::Dma job = npuforge::raw_move(dst, src, npuforge::Space::GM, npuforge::Space::UB, nBurst, lenBurst);      \
        job.src_step = (int64_t(lenBurst) + 31) / 32 * 32 + int64_t(srcGap) * 32;                                          \
        job.dst_step = int64_t(lenBurst) + dstGap;                                                                         \
        job.byte_granular = true;                                                                                          \
        job.name = "DataCopyPad";                                                                                          \
        npuforge::dma(job);                                                                                                \
    }                                                                                                                      \
    inline void copy_gm_to_ubuf_align_b##BITS(__ubuf__ void* dst, __gm__ void* src, uint8_t, uint16_t nBurst,              \
                                              uint32_t lenBurst, uint8_t left, uint8_t right, uint32_t srcGap,             \
                                              uint32_t dstGap) {                                                           \
        npuforge::Dma job = npuforge::raw_move(dst, src, npuforge::Space::UB, npuforge::Space::GM, nBurst, lenBurst);      \
        job.left_pad = left * BYTES;                                                                                       \
        job.right_pad = right * BYTES;                                                                                     \
        job.element_bytes = BYTES;                                                                                         \
        job.filled = npuforge::pad_value(job.pad_value);                                                                   \
        job.src_step = int64_t(lenBurst) + srcGap;                                                                         \
        job.dst_step = (int64_t(job.left_pad) + lenBurst + job.right_pad + 31) / 32 * 32 + int64_t(dstGap) * 32;           \
        job.byte_granular = true;                                                                                          \
        job.name = "DataCopyPad";                                                                                          \
        npuforge::dma(job);                                                                                                \
    }
NPUFORGE_RAW_ALIGN(8, 1)
NPUFORGE_RAW_ALIGN(16, 2)
NPUFORGE_RAW_ALIGN(32, 4)
#undef NPUFORGE_RAW_ALIGN
