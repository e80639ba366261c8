// SPDX-License-Identifier: Apache-2.0
// Temporary space of axis reductions, broadcasts, sorts and TopK, on architecture 2201.
#pragma once

#include <cstdio>

#include "../../npu/adv/shared_enums.h"
#include "npuforge_host/platform.h"
#include "npuforge_host/softmax_tiling.h"

namespace AscendC {

using TensorDataType = ge::DataType;

}  // namespace AscendC

namespace npuforge::host {

// The largest power of two below `count` (of one: one): the first fold of a pairwise reduction.
inline uint32_t FirstFold(uint32_t count) {
    uint32_t fold = 1;
    while (fold * 2 < count) fold *= 2;
    return fold;
}

struct ReduceSpace {
    uint32_t first;
    uint32_t last;
    uint32_t type_size;
    ReduceSpace(const ge::Shape& shape, ge::DataType type)
        : first(static_cast<uint32_t>(shape.GetDim(0))),
          last(static_cast<uint32_t>(shape.GetDim(1))),
          type_size(static_cast<uint32_t>(std::max(1, ge::GetSizeByDataType(type)))) {}
    uint32_t Columns() const { return FirstFold(first) * RoundUp(last * type_size, kBlockBytes); }
    uint32_t RowsByRepeat() const {
        const uint32_t bytes = last * type_size;
        if (bytes <= kBlockBytes) return 0;
        return first * (bytes < kRepeatBytes ? kBlockBytes : kRepeatBytes);
    }
    // All rows are halved together; with a single row a power of two is not halved again.
    uint32_t RowFold() const {
        const uint32_t fold = FirstFold(last);
        return first == 1 && fold * 2 == last ? last : fold;
    }
    uint32_t RowsBySum() const { return last <= 64 ? 0 : first * RowFold() * sizeof(float); }
};

}  // namespace npuforge::host

namespace AscendC {

#define NPUFORGE_REDUCE(name, along_rows)                                                       \
    inline void GetReduce##name##MaxMinTmpSize(const TensorShape& shape, TensorDataType type,   \
                                               ReducePattern pattern, bool, bool reuse_source,  \
                                               uint32_t& max_size, uint32_t& min_size) {        \
        const npuforge::host::ReduceSpace space(shape, type);                                   \
        max_size = reuse_source ? 0                                                             \
                   : pattern == ReducePattern::AR ? space.along_rows()                          \
                                                  : space.Columns();                            \
        min_size = max_size;                                                                    \
    }
NPUFORGE_REDUCE(Sum, RowsBySum)
NPUFORGE_REDUCE(Mean, RowsBySum)
NPUFORGE_REDUCE(Max, RowsByRepeat)
NPUFORGE_REDUCE(Min, RowsByRepeat)
NPUFORGE_REDUCE(Any, RowsByRepeat)
NPUFORGE_REDUCE(All, RowsByRepeat)
#undef NPUFORGE_REDUCE

inline void GetReduceProdMaxMinTmpSize(const TensorShape& shape, TensorDataType type,
                                       ReducePattern pattern, bool, bool reuse_source,
                                       uint32_t& max_size, uint32_t& min_size) {
    const npuforge::host::ReduceSpace space(shape, type);
    if (pattern == ReducePattern::RA) {
        max_size = min_size = reuse_source ? 0 : space.Columns();
        return;
    }
    const uint32_t fold = std::max(8u, space.RowFold());
    const uint32_t products = (fold + space.first * 8) * sizeof(float);
    max_size = min_size = npuforge::host::kRepeatBytes + (reuse_source ? 0 : products);
}

inline void GetReduceXorSumMaxMinTmpSize(const TensorShape& shape, uint32_t type_size,
                                         bool reuse_source, uint32_t& max_size,
                                         uint32_t& min_size) {
    const uint32_t bytes = static_cast<uint32_t>(shape.GetShapeSize()) * type_size;
    max_size = min_size = (reuse_source ? 2 : 3) * std::max(bytes, npuforge::host::kRepeatBytes);
}

inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&,
                                      const TensorShape& source, const TensorShape& target,
                                      uint32_t type_size, bool, uint32_t& max_size,
                                      uint32_t& min_size) {
    using npuforge::host::RoundUp;
    const uint32_t source_size = static_cast<uint32_t>(source.GetShapeSize());
    const uint32_t target_size = static_cast<uint32_t>(target.GetShapeSize());
    uint32_t widened = 0;  // bytes are broadcast as half words
    if (type_size == 1) {
        widened = (RoundUp(source_size, 16) + RoundUp(target_size, 16)) * 2;
        type_size = 2;
    }
    if (source_size == target_size || source_size == 1) {
        max_size = min_size = widened == 0 ? 0 : widened + 32;
        return;
    }
    if (source.GetDim(1) != 1) {
        max_size = min_size = widened + 32;
        return;
    }
    const uint32_t per_block = 32 / type_size;
    const uint32_t rows = static_cast<uint32_t>(target.GetDim(0));
    const uint32_t columns = static_cast<uint32_t>(target.GetDim(1));
    min_size = per_block * 32 + widened;
    max_size = RoundUp(rows, 8) * 32 + widened;
    if (columns % per_block == 0) return;
    const uint32_t padded_row = RoundUp(columns, per_block) * type_size;
    min_size += per_block * padded_row;
    max_size += rows * padded_row;
}


inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, int32_t inner,
                                 int32_t outer, bool, bool has_index, TopKMode mode, bool largest,
                                 uint32_t, uint32_t& max_size, uint32_t& min_size) {
    if (inner <= 0 || inner % 32 != 0) return false;
    if (mode == TopKMode::TOPK_NORMAL) {
        max_size = min_size = static_cast<uint32_t>(inner) * (has_index ? 16 : 20);
        return true;
    }
    const uint32_t per_element = 8 + (largest ? 0 : 4) + (has_index ? 0 : 4);
    max_size = min_size = static_cast<uint32_t>(inner * outer) * per_element + 64;
    return true;
}

// Fills the geometry of the sort. Offsets of individual merge steps stay zero: they describe one
// particular instruction sequence, and the twin's TopK works from the geometry alone.
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, int32_t inner, int32_t outer,
                           int32_t k, uint32_t type_size, bool has_index, TopKMode mode, bool largest,
                           optiling::TopkTiling& tiling) {
    if (type_size == 0 || inner <= 0 || inner % 32 != 0) return false;
    const int32_t width = static_cast<int32_t>(type_size);
    const bool normal = mode == TopKMode::TOPK_NORMAL;
    const int32_t aligned_k4 = (k + 7) / 8 * 8;
    const int32_t aligned_k2 = (k + 15) / 16 * 16;
    tiling.set_allDataSize(inner * outer);
    tiling.set_kAlignFourBytes(aligned_k4);
    tiling.set_kAlignTwoBytes(aligned_k2);
    tiling.set_sortRepeat(static_cast<uint32_t>(inner / 32));
    tiling.set_mrgSortRepeat(inner / 4);
    tiling.set_innerDataSize((normal ? inner : inner * outer) * 8 / width);
    tiling.set_maskOffset(!normal ? outer * k : outer * (type_size == 2 ? aligned_k2 : aligned_k4));
    if (normal) {
        tiling.set_srcIndexOffset(has_index ? 0 : inner * 16 / width);
        tiling.set_tmpLocalSize(inner * (has_index ? 16 : 20) / width);
        return true;
    }
    const int32_t mask_at = inner * outer * 8 / width + (largest ? 0 : inner * outer);
    tiling.set_topkMrgSrc1MaskSizeOffset(mask_at);
    tiling.set_topkNSmallSrcIndexOffset(has_index ? 0 : mask_at + 64 / width);
    tiling.set_tmpLocalSize(mask_at + 64 / width + (has_index ? 0 : inner * outer * 4 / width));
    return true;
}
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& platform, int32_t inner,
                           int32_t outer, int32_t k, uint32_t type_size, bool has_index, TopKMode mode,
                           bool largest, tiling::TopkTiling& plain) {
    return npuforge::host::FillPlain<optiling::TopkTiling>(plain, [&](auto& filled) {
        return TopKTilingFunc(platform, inner, outer, k, type_size, has_index, mode, largest, filled);
    });
}

struct SortConfig {
    SortType type = SortType::RADIX_SORT;
    bool isDescend = false;
    bool hasSrcIndex = false;
    bool hasDstIndex = false;
};
// The sort this helper is for does not exist on this architecture: it says so and gives no space.
inline void GetSortMaxMinTmpSize(const TensorShape&, TensorDataType, TensorDataType, bool,
                                 const SortConfig&, uint32_t& max_size, uint32_t& min_size) {
    std::fprintf(stderr, "GetSortMaxMinTmpSize is not for architecture 2201\n");
    max_size = min_size = 0;
}

inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC&, uint32_t, uint32_t) {
    return 0;
}
// Sorting keeps value and index pairs of eight bytes.
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC&, uint32_t count, uint32_t) {
    return count * 8;
}

}  // namespace AscendC
