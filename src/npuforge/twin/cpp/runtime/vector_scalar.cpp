// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions of a tensor and a scalar.
#include "vec_call.h"
#include "vec_ops.h"

namespace npuforge {

namespace {

template <typename T> T value_of(Scalar s) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(s.l);
    else return s.f;
}

template <typename T, typename Op>
void row(uint8_t* dst, const uint8_t* a, const uint8_t*, uint32_t n, Scalar s) {
    auto* d = reinterpret_cast<T*>(dst);
    const auto* x = reinterpret_cast<const T*>(a);
    const T value = value_of<T>(s);
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) d[i] = Op::of(x[i], value, Op::reads_dst ? d[i] : T{});
}

template <typename Op>
void half_row(uint8_t* dst, const uint8_t* a, const uint8_t*, uint32_t n, Scalar s) {
    float x[kChunk], d[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        widen_half(x, reinterpret_cast<const uint16_t*>(a) + start, m);
        auto* to = reinterpret_cast<uint16_t*>(dst) + start;
        if constexpr (Op::reads_dst) widen_half(d, to, m);
#pragma GCC ivdep
        for (uint32_t i = 0; i < m; ++i) x[i] = Op::of(x[i], s.f, Op::reads_dst ? d[i] : 0.0f);
        narrow_half(to, x, m);
    }
}

void axpy_wide_row(uint8_t* dst, const uint8_t* a, const uint8_t*, uint32_t n, Scalar s) {
    float x[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        widen_half(x, reinterpret_cast<const uint16_t*>(a) + start, m);
        float* to = reinterpret_cast<float*>(dst) + start;
#pragma GCC ivdep
        for (uint32_t i = 0; i < m; ++i) to[i] = ops::Axpy::of(x[i], s.f, to[i]);
    }
}

// Shifts by the whole width are defined: everything but the sign is shifted out. A left shift of a
// signed number keeps its sign bit.
template <typename T> void shift_left_row(uint8_t* dst, const uint8_t* a, const uint8_t*, uint32_t n, Scalar s) {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kBits = sizeof(T) * 8;
    constexpr U kSign = std::is_signed_v<T> ? static_cast<U>(U(1) << (kBits - 1)) : U(0);
    auto* d = reinterpret_cast<U*>(dst);
    const auto* x = reinterpret_cast<const U*>(a);
    const auto shift = static_cast<uint32_t>(s.l);
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) {
        const U moved = static_cast<U>(static_cast<uint64_t>(x[i]) << shift);
        d[i] = static_cast<U>((moved & static_cast<U>(~kSign)) | (x[i] & kSign));
    }
}

template <typename T, bool round>
void shift_right_row(uint8_t* dst, const uint8_t* a, const uint8_t*, uint32_t n, Scalar s) {
    auto* d = reinterpret_cast<T*>(dst);
    const auto* x = reinterpret_cast<const T*>(a);
    const auto shift = static_cast<uint32_t>(s.l);
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) {
        const int64_t value = x[i];
        int64_t moved = value >> shift;
        if constexpr (round) moved += shift == 0 ? 0 : (value >> (shift - 1)) & 1;
        d[i] = static_cast<T>(moved);
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
constexpr TypeRows left_rows() {
    TypeRows r{};
    r[size_t(DType::I16)] = shift_left_row<int16_t>;
    r[size_t(DType::U16)] = shift_left_row<uint16_t>;
    r[size_t(DType::I32)] = shift_left_row<int32_t>;
    r[size_t(DType::U32)] = shift_left_row<uint32_t>;
    return r;
}
template <bool round> constexpr TypeRows right_rows() {
    TypeRows r{};
    r[size_t(DType::I16)] = shift_right_row<int16_t, round>;
    r[size_t(DType::U16)] = shift_right_row<uint16_t, round>;
    r[size_t(DType::I32)] = shift_right_row<int32_t, round>;
    r[size_t(DType::U32)] = shift_right_row<uint32_t, round>;
    return r;
}

RowFn row_of(VecOp op, DType dst, DType src, bool round) {
    static constexpr TypeRows rows[] = {
        numbers<ops::Add>(), numbers<ops::Mul>(), numbers<ops::Max>(), numbers<ops::Min>(),
        left_rows(), right_rows<false>(), floats<ops::LeakyRelu>(), floats<ops::Axpy>(),
    };
    static constexpr TypeRows rounded = right_rows<true>();
    if (dst != src) return axpy_wide_row;
    if (op == VecOp::ShiftRight && round) return rounded[size_t(dst)];
    return rows[size_t(op) - size_t(VecOp::Adds)][size_t(dst)];
}

// A shift the hardware has no answer for shifts everything out.
int64_t shift_amount(const char* name, int64_t amount, int64_t bits) {
    if (amount >= 0 && amount <= bits) return amount;
    report("VEC-18", "%s by %lld of %lld bit elements", name, static_cast<long long>(amount), static_cast<long long>(bits));
    return bits;
}

}  // namespace

void vec_scalar(VecOp op, const Extent& extent, const Tile& dst_in, const Tile& src_in, Scalar scalar, bool round) {
    const char* name = op_name(op);
    const bool mixed = dst_in.type != src_in.type;
    const uint32_t widest = std::max(dtype_bytes(dst_in.type), dtype_bytes(src_in.type));
    const Lanes lanes = lanes_of(extent, widest, name, mixed);
    const Tile dst = packed(dst_in, extent, lanes), src = packed(src_in, extent, lanes);
    if (op == VecOp::ShiftLeft || op == VecOp::ShiftRight) scalar.l = shift_amount(name, scalar.l, widest * 8);
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        if (op == VecOp::Axpy) add_tile(instr, dst, lanes, false, "dst");
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, name);
        if (!commit_vector(instr, lanes, widest)) return;
    }
    const RowFn row = row_of(op, dst.type, src.type, round);
    const bool clip = clips(dst);
    for_rows(lanes, {&dst, &src}, [&](uint8_t* const* at, uint32_t n) {
        row(at[0], at[1], nullptr, n, scalar);
        if (clip) saturate_row(reinterpret_cast<uint16_t*>(at[0]), n, dst.type);
    });
}

}  // namespace npuforge
