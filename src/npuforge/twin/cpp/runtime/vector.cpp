// SPDX-License-Identifier: Apache-2.0
// Element-wise vector instructions: one row function per operation and type, walked by for_rows.
#include <array>
#include <cmath>

#include "report.h"
#include "rows.h"

namespace npuforge {

namespace {

using RowFn = void (*)(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar s);

constexpr size_t kTypes = static_cast<size_t>(DType::Count);
using TypeTable = std::array<RowFn, kTypes>;

template <typename T, typename Op> void binary_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar) {
    auto* d = reinterpret_cast<T*>(dst);
    const auto* x = reinterpret_cast<const T*>(a);
    const auto* y = reinterpret_cast<const T*>(b);
#pragma GCC ivdep
    for (uint32_t i = 0; i < n; ++i) d[i] = Op()(x[i], y[i]);
}

struct AddOp { template <typename T> T operator()(T a, T b) const { return static_cast<T>(a + b); } };

constexpr const char* kNames[] = {
#define X(name) #name,
    NPUFORGE_BINARY_OPS(X) NPUFORGE_UNARY_OPS(X) NPUFORGE_SCALAR_OPS(X)
#undef X
};

const TypeTable& table(VecOp op) {
    static const auto all = [] {
        std::array<TypeTable, static_cast<size_t>(VecOp::Count)> t{};
        auto& add = t[static_cast<size_t>(VecOp::Add)];
        add[static_cast<size_t>(DType::F32)] = binary_row<float, AddOp>;
        add[static_cast<size_t>(DType::I32)] = binary_row<int32_t, AddOp>;
        return t;
    }();
    return all[static_cast<size_t>(op)];
}

}  // namespace

void vec_binary(VecOp op, const Extent& extent, const Tile& dst, const Tile& src0, const Tile& src1) {
    const char* name = kNames[static_cast<size_t>(op)];
    const uint32_t widest = std::max({dtype_bytes(dst.type), dtype_bytes(src0.type), dtype_bytes(src1.type)});
    const Lanes lanes = resolve(extent, widest, name);
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src0, lanes, false, "src0");
        add_tile(instr, src1, lanes, false, "src1");
        add_tile(instr, dst, lanes, true, "dst");
        if (!commit_vector(instr, lanes, widest)) return;
    }
    const RowFn row = table(op)[static_cast<size_t>(dst.type)];
    for_rows(lanes, {&dst, &src0, &src1},
             [&](uint8_t* const* at, uint32_t n) { row(at[0], at[1], at[2], n, Scalar{}); });
}

}  // namespace npuforge
