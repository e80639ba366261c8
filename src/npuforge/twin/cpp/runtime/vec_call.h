// SPDX-License-Identifier: Apache-2.0
// What the element-wise instructions share: from the extent of a call to its lanes, and the rules on
// masks, repeats and strides.
#pragma once
#include <array>

#include "half_rows.h"
#include "report.h"
#include "rows.h"

namespace npuforge {

using RowFn = void (*)(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, Scalar s);
inline constexpr size_t kTypes = static_cast<size_t>(DType::Count);
using TypeRows = std::array<RowFn, kTypes>;

inline const char* op_name(VecOp op) {
    static constexpr const char* names[] = {
#define X(name) #name,
        NPUFORGE_BINARY_OPS(X) NPUFORGE_UNARY_OPS(X) NPUFORGE_SCALAR_OPS(X)
#undef X
    };
    return names[static_cast<size_t>(op)];
}

// Rules of a call's parameters; check mode only.
void check_extent(const Extent& extent, const Lanes& lanes, bool counter, uint32_t widest, bool mixed, const char* name);
void check_strides(const Extent& extent, const Lanes& lanes, const Tile& dst, const char* name);

// `mixed`: operands of different widths, which have a rule of their own for the mask.
inline Lanes lanes_of(const Extent& extent, uint32_t widest, const char* name, bool mixed = false) {
    const bool counter = g_core->vector.counter;
    const Lanes lanes = resolve(extent, widest, name);
    if (g_mode & kCheck) check_extent(extent, lanes, counter, widest, mixed, name);
    return lanes;
}

// A call with a count has no strides: its operands are contiguous whatever their widths.
inline Tile packed(const Tile& tile, const Extent& extent, const Lanes& lanes) {
    if (extent.form != Extent::Form::Count) return tile;
    Tile t = tile;
    t.block_stride = 1;
    t.repeat_stride = static_cast<uint16_t>(lanes.per_repeat * dtype_bytes(tile.type) / 32);
    return t;
}

inline bool clips(const Tile& dst) {
    return g_core->vector.saturate && (dst.type == DType::F16 || dst.type == DType::BF16);
}

}  // namespace npuforge
