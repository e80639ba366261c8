// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions of one tensor.
#include "vec_call.h"
#include "vec_ops.h"

namespace npuforge {

namespace {

template <typename T, typename Op>
void row(uint8_t* dst, const uint8_t* a, const uint8_t*, uint32_t n, Scalar) {
    auto* d = reinterpret_cast<T*>(dst);
    const auto* x = reinterpret_cast<const T*>(a);
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) d[i] = Op::of(x[i]);
}

template <typename Op>
void half_row(uint8_t* dst, const uint8_t* a, const uint8_t*, uint32_t n, Scalar) {
    float x[kChunk];
    for (uint32_t start = 0; start < n; start += kChunk) {
        const uint32_t m = std::min(kChunk, n - start);
        widen_half(x, reinterpret_cast<const uint16_t*>(a) + start, m);
#pragma GCC ivdep
        for (uint32_t i = 0; i < m; ++i) x[i] = Op::of(x[i]);
        narrow_half(reinterpret_cast<uint16_t*>(dst) + start, x, m);
    }
}

template <typename Op> constexpr TypeRows floats() {
    TypeRows r{};
    r[size_t(DType::F32)] = row<float, Op>;
    r[size_t(DType::F16)] = half_row<Op>;
    return r;
}

constexpr TypeRows not_rows() {
    TypeRows r{};
    r[size_t(DType::I16)] = r[size_t(DType::U16)] = row<uint16_t, ops::Not>;
    return r;
}

constexpr TypeRows relu_rows() {
    TypeRows r = floats<ops::Relu>();
    r[size_t(DType::I32)] = row<int32_t, ops::Relu>;
    return r;
}

RowFn row_of(VecOp op, DType type) {
    static constexpr TypeRows rows[] = {
        floats<ops::Exp>(), floats<ops::Ln>(), floats<ops::Abs>(), floats<ops::Reciprocal>(),
        floats<ops::Sqrt>(), floats<ops::Rsqrt>(), not_rows(), relu_rows(),
    };
    return rows[size_t(op) - size_t(VecOp::Exp)][size_t(type)];
}

}  // namespace

void vec_unary(VecOp op, const Extent& extent, const Tile& dst_in, const Tile& src_in) {
    const char* name = op_name(op);
    const uint32_t widest = dtype_bytes(dst_in.type);
    const Lanes lanes = lanes_of(extent, widest, name);
    const Tile dst = packed(dst_in, extent, lanes), src = packed(src_in, extent, lanes);
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, name);
        if (op == VecOp::Reciprocal || op == VecOp::Rsqrt)
            report("VEC-19", "%s is approximate on hardware: relative error up to %s", name,
                   dst.type == DType::F16 ? "1e-3" : "1e-4");
        if (!commit_vector(instr, lanes, widest)) return;
    }
    const RowFn row = row_of(op, dst.type);
    const bool clip = clips(dst);
    for_rows(lanes, {&dst, &src}, [&](uint8_t* const* at, uint32_t n) {
        row(at[0], at[1], nullptr, n, Scalar{});
        if (clip) saturate_row(reinterpret_cast<uint16_t*>(at[0]), n, dst.type);
    });
}

}  // namespace npuforge
