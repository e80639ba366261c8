// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions of two tensors, and those that also read their destination.
#include "cast_rows.h"
#include "vec_call.h"
#include "vec_ops.h"

namespace npuforge {

namespace {

template <typename T, typename Op>
void row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar) {
    auto* d = reinterpret_cast<T*>(dst);
    const auto* x = reinterpret_cast<const T*>(a);
    const auto* y = reinterpret_cast<const T*>(b);
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) d[i] = Op::of(x[i], y[i], Op::reads_dst ? d[i] : T{});
}

template <typename Op>
void half_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar) {
    float x[kChunk], y[kChunk], d[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        widen_half(x, reinterpret_cast<const uint16_t*>(a) + start, m);
        widen_half(y, reinterpret_cast<const uint16_t*>(b) + start, m);
        auto* to = reinterpret_cast<uint16_t*>(dst) + start;
        if constexpr (Op::reads_dst) widen_half(d, to, m);
#pragma GCC ivdep
        for (uint32_t i = 0; i < m; ++i) x[i] = Op::of(x[i], y[i], Op::reads_dst ? d[i] : 0.0f);
        narrow_half(to, x, m);
    }
}

// half sources, float destination.
void mul_add_wide_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar) {
    float x[kChunk], y[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        widen_half(x, reinterpret_cast<const uint16_t*>(a) + start, m);
        widen_half(y, reinterpret_cast<const uint16_t*>(b) + start, m);
        float* to = reinterpret_cast<float*>(dst) + start;
#pragma GCC ivdep
        for (uint32_t i = 0; i < m; ++i) to[i] = ops::MulAddDst::of(x[i], y[i], to[i]);
    }
}

// An operation on half whose result, rounded to half, is cast to 8 bits to nearest.
template <typename Op, typename D>
void half_to_byte_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar s) {
    uint16_t sum[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        half_row<Op>(reinterpret_cast<uint8_t*>(sum), a + start * 2, b + start * 2, m, s);
        cast_half_to_int<D>(reinterpret_cast<D*>(dst) + start, sum, m, Rounding::Rint);
    }
}

template <typename Op>
void float_to_half_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar s) {
    float sum[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        row<float, Op>(reinterpret_cast<uint8_t*>(sum), a + start * 4, b + start * 4, m, s);
        narrow_half(reinterpret_cast<uint16_t*>(dst) + start, sum, m);
    }
}

// int16 to int8: the sum is exact, then clipped.
template <int sign>
void short_to_byte_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar) {
    const auto* x = reinterpret_cast<const int16_t*>(a);
    const auto* y = reinterpret_cast<const int16_t*>(b);
    auto* d = reinterpret_cast<int8_t*>(dst);
    for (uint32_t i = 0; i < n; ++i) {
        const int32_t sum = x[i] + sign * y[i];
        d[i] = static_cast<int8_t>(sum < 0 ? 0 : (sum > 127 ? 127 : sum));
    }
}

void add_deq_relu_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar s) {
    const auto* x = reinterpret_cast<const int32_t*>(a);
    const auto* y = reinterpret_cast<const int32_t*>(b);
    auto* d = reinterpret_cast<uint16_t*>(dst);
    float value[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        for (uint32_t i = 0; i < m; ++i)
            value[i] = relu_f32(static_cast<float>(ops::wrap_add(x[start + i], y[start + i])) * s.f);
        narrow_half(d + start, value, m);
    }
}

template <typename Op> constexpr TypeRows floats() {
    TypeRows r{};
    r[size_t(DType::F32)] = row<float, Op>;
    r[size_t(DType::F16)] = half_row<Op>;
    return r;
}
template <typename Op> constexpr TypeRows numbers() {
    TypeRows r = floats<Op>();
    r[size_t(DType::I16)] = row<int16_t, Op>;
    r[size_t(DType::I32)] = row<int32_t, Op>;
    return r;
}
template <typename Op> constexpr TypeRows bits() {
    TypeRows r{};
    r[size_t(DType::I16)] = r[size_t(DType::U16)] = row<uint16_t, Op>;
    return r;
}

RowFn same_type_row(VecOp op, DType type) {
    static constexpr TypeRows rows[] = {
        numbers<ops::Add>(), numbers<ops::Sub>(), numbers<ops::Mul>(), floats<ops::Div>(), numbers<ops::Max>(),
        numbers<ops::Min>(), bits<ops::And>(), bits<ops::Or>(), numbers<ops::AddRelu>(), numbers<ops::SubRelu>(),
        floats<ops::MulAddDst>(), floats<ops::FusedMulAdd>(), floats<ops::FusedMulAddRelu>(),
        floats<ops::FusedMulAddRelu>(),
    };
    return rows[size_t(op)][size_t(type)];
}

RowFn mixed_row(VecOp op, DType dst, DType src) {
    switch (op) {
        case VecOp::MulAddDst: return mul_add_wide_row;
        case VecOp::AddDeqRelu: return add_deq_relu_row;
        case VecOp::MulCast: return dst == DType::I8 ? half_to_byte_row<ops::Mul, int8_t> : half_to_byte_row<ops::Mul, uint8_t>;
        case VecOp::AddReluCast:
            if (src == DType::F32) return float_to_half_row<ops::AddRelu>;
            return src == DType::F16 ? half_to_byte_row<ops::AddRelu, int8_t> : short_to_byte_row<1>;
        default:
            if (src == DType::F32) return float_to_half_row<ops::SubRelu>;
            return src == DType::F16 ? half_to_byte_row<ops::SubRelu, int8_t> : short_to_byte_row<-1>;
    }
}

bool reads_destination(VecOp op) {
    return op == VecOp::MulAddDst || op == VecOp::FusedMulAdd || op == VecOp::FusedMulAddRelu || op == VecOp::MulAddRelu;
}

}  // namespace

void vec_binary(VecOp op, const Extent& extent, const Tile& dst_in, const Tile& src0_in, const Tile& src1_in) {
    const char* name = op_name(op);
    const bool mixed = dst_in.type != src0_in.type;
    const uint32_t widest = std::max(dtype_bytes(dst_in.type), dtype_bytes(src0_in.type));
    const Lanes lanes = lanes_of(extent, widest, name, mixed && op == VecOp::MulAddDst);
    const Tile dst = packed(dst_in, extent, lanes), src0 = packed(src0_in, extent, lanes),
               src1 = packed(src1_in, extent, lanes);
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src0, lanes, false, "src0");
        add_tile(instr, src1, lanes, false, "src1");
        if (reads_destination(op)) add_tile(instr, dst, lanes, false, "dst");
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, name);
        if (op == VecOp::AddDeqRelu && g_core->vector.deq.kind != Dequantization::Kind::Half)
            report("CVT-02", "%s without SetDeqScale(half) before", name);
        if (!commit_vector(instr, lanes, widest)) return;
    }
    Scalar scalar{};
    scalar.f = g_core->vector.deq.scale;
    const RowFn row = mixed ? mixed_row(op, dst.type, src0.type) : same_type_row(op, dst.type);
    const bool clip = clips(dst);
    for_rows(lanes, {&dst, &src0, &src1}, [&](uint8_t* const* at, uint32_t n) {
        row(at[0], at[1], at[2], n, scalar);
        if (clip) saturate_row(reinterpret_cast<uint16_t*>(at[0]), n, dst.type);
    });
}

}  // namespace npuforge
