// SPDX-License-Identifier: Apache-2.0
// Softmax family: temporary space and the split of rows over it, on architecture 2201.
#pragma once

#include "npuforge_host/library_structs.h"
#include "npuforge_host/tmp_size.h"

namespace npuforge::host {

// All variants work on whole rows; they differ in how many floats of scratch one row takes.
class SoftmaxPlan {
public:
    SoftmaxPlan(const ge::Shape& shape, uint32_t block_type_size)
        : columns(static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1))),
          rows(columns == 0 ? 0 : static_cast<uint32_t>(shape.GetShapeSize()) / columns),
          block(kBlockBytes / block_type_size) {}

    uint32_t Plain() const { return block + columns + kRow; }
    uint32_t Flash(bool update) const { return update ? 4 * block + 2 * columns : Plain(); }
    uint32_t Grad(uint32_t type_size, bool front) const {
        if (type_size == 2) return 2 * block + 3 * columns + kRow;
        return (front ? block : 2 * block) + columns + kRow;
    }
    bool Basic(bool basic_block) const { return basic_block && columns % kRow == 0; }
    uint32_t FlashV2(uint32_t type_size, bool basic) const {
        const uint32_t widened = type_size == 2 ? columns : 0;
        if (basic) return block + widened + kRow * (columns == 1024 ? 2 : 1);
        return type_size == 2 ? 2 * block + columns + kRow : block + kRow;
    }
    uint32_t FlashV3() const { return 5 * block + 2 * columns + kRow; }

    // How many rows fit; multiples of eight, and for well-formed shapes a divisor of all rows.
    uint32_t RowsAtOnce(uint32_t work_bytes, uint32_t floats_per_row, uint32_t step = 8) const {
        uint32_t at_once = std::min(work_bytes / sizeof(float) / floats_per_row, size_t{rows});
        if (at_once < rows && at_once > step) at_once = at_once / step * step;
        return at_once;
    }
    uint32_t ToBasicBlocks(uint32_t at_once) const {
        if (at_once <= 8 || rows % 8 != 0 || columns % kRow != 0) return at_once;
        at_once = at_once / 8 * 8;
        while (rows % at_once != 0) at_once -= 8;
        while (at_once * columns >= kRow * 256) at_once /= 2;  // repeats are limited to 255
        return at_once;
    }

    template <typename Tiling>
    void Write(Tiling& tiling, uint32_t at_once) const {
        const uint32_t tail = at_once == 0 ? 0 : rows % at_once;
        tiling.set_srcM(rows);
        tiling.set_srcK(columns);
        tiling.set_srcSize(rows * columns);
        tiling.set_outMaxM(rows);
        tiling.set_outMaxK(block);
        tiling.set_outMaxSize(rows * block);
        tiling.set_splitM(at_once);
        tiling.set_splitK(columns);
        tiling.set_splitSize(at_once * columns);
        tiling.set_reduceM(at_once);
        tiling.set_reduceK(block);
        tiling.set_reduceSize(at_once * block);
        if (at_once != 0) tiling.set_rangeM(rows / at_once);
        tiling.set_tailM(tail);
        tiling.set_tailSplitSize(tail * columns);
        tiling.set_tailReduceSize(tail * block);
    }

    uint32_t columns;
    uint32_t rows;
    uint32_t block;  // elements of one 32-byte block of the reduced values

private:
    static constexpr uint32_t kRow = 64;  // floats of one repeat
};

// Helpers that fill a plain structure go through the tiling class of the same layout.
template <typename Class, typename Plain, typename Fill>
auto FillPlain(Plain& plain, Fill fill) {
    Class tiling;
    const auto finish = [&] { tiling.SaveToBuffer(&plain, sizeof(plain)); };
    if constexpr (std::is_void_v<decltype(fill(tiling))>) {
        fill(tiling);
        finish();
    } else {
        const auto answer = fill(tiling);
        finish();
        return answer;
    }
}

}  // namespace npuforge::host

namespace AscendC {

inline uint32_t GetSoftMaxMaxTmpSize(const TensorShape& shape, uint32_t type_size, bool) {
    const npuforge::host::SoftmaxPlan plan(shape, type_size);
    return plan.rows * plan.Plain() * sizeof(float);
}
inline uint32_t GetSoftMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool) {
    return npuforge::host::SoftmaxPlan(shape, type_size).Plain() * sizeof(float);
}
inline void SoftMaxTilingFunc(const TensorShape& shape, uint32_t type_size, uint32_t work_bytes,
                              optiling::SoftMaxTiling& tiling) {
    const npuforge::host::SoftmaxPlan plan(shape, type_size);
    plan.Write(tiling, plan.ToBasicBlocks(plan.RowsAtOnce(work_bytes, plan.Plain())));
}

inline uint32_t GetSoftMaxFlashMaxTmpSize(const TensorShape& shape, uint32_t type_size, bool update,
                                          bool) {
    const npuforge::host::SoftmaxPlan plan(shape, type_size);
    return plan.rows * plan.Flash(update) * sizeof(float);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const TensorShape& shape, uint32_t type_size, bool update,
                                          bool) {
    return npuforge::host::SoftmaxPlan(shape, type_size).Flash(update) * sizeof(float);
}
inline void SoftMaxFlashTilingFunc(const TensorShape& shape, uint32_t type_size, uint32_t work_bytes,
                                   optiling::SoftMaxTiling& tiling, bool update = false) {
    const npuforge::host::SoftmaxPlan plan(shape, type_size);
    plan.Write(tiling, plan.ToBasicBlocks(plan.RowsAtOnce(work_bytes, plan.Flash(update))));
}

inline uint32_t GetSoftMaxGradMaxTmpSize(const TensorShape& shape, uint32_t type_size, bool front,
                                         bool) {
    const npuforge::host::SoftmaxPlan plan(shape, type_size);
    return plan.rows * plan.Grad(type_size, front) * sizeof(float);
}
inline uint32_t GetSoftMaxGradMinTmpSize(const TensorShape& shape, uint32_t type_size, bool front,
                                         bool) {
    return npuforge::host::SoftmaxPlan(shape, type_size).Grad(type_size, front) * sizeof(float);
}
inline void SoftMaxGradTilingFunc(const TensorShape& shape, uint32_t type_size, uint32_t work_bytes,
                                  optiling::SoftMaxTiling& tiling, bool front = false) {
    const npuforge::host::SoftmaxPlan plan(shape, type_size);
    plan.Write(tiling, plan.ToBasicBlocks(plan.RowsAtOnce(work_bytes, plan.Grad(type_size, front))));
}

inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape& shape, uint32_t type_size,
                                            uint32_t sum_type_size, bool, bool basic_block = false,
                                            bool = false) {
    const npuforge::host::SoftmaxPlan plan(shape, sum_type_size);
    const bool basic = plan.Basic(basic_block) && plan.rows % 8 == 0;
    uint32_t rows = plan.rows;
    while (basic && rows * plan.columns >= 64 * 256) rows /= 2;
    return rows * plan.FlashV2(type_size, basic) * sizeof(float);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape& shape, uint32_t type_size,
                                            uint32_t sum_type_size, bool, bool basic_block = false,
                                            bool broadcast_output = false) {
    const npuforge::host::SoftmaxPlan plan(shape, sum_type_size);
    const bool basic = plan.Basic(basic_block);
    const uint32_t rows = broadcast_output ? std::min(32 / type_size, plan.rows) : basic ? 8 : 1;
    return rows * plan.FlashV2(type_size, basic) * sizeof(float);
}
inline void SoftMaxFlashV2TilingFunc(const TensorShape& shape, uint32_t type_size,
                                     uint32_t sum_type_size, uint32_t work_bytes,
                                     optiling::SoftMaxTiling& tiling, bool, bool basic_block = false,
                                     bool broadcast_output = false) {
    const npuforge::host::SoftmaxPlan plan(shape, sum_type_size);
    const bool basic = plan.Basic(basic_block) && plan.rows % 8 == 0;
    const uint32_t step = broadcast_output && type_size == 2 ? 16 : 8;
    uint32_t at_once = plan.RowsAtOnce(work_bytes, plan.FlashV2(type_size, basic), step);
    if (basic) at_once = plan.ToBasicBlocks(at_once);
    plan.Write(tiling, at_once);
}

inline void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape& shape, uint32_t, uint32_t sum_type_size,
                                           uint32_t& max_size, uint32_t& min_size, bool, bool = false) {
    const npuforge::host::SoftmaxPlan plan(shape, sum_type_size);
    min_size = plan.FlashV3() * sizeof(float);
    max_size = plan.rows * min_size;
}
inline void SoftMaxFlashV3TilingFunc(const TensorShape& shape, uint32_t, uint32_t sum_type_size,
                                     uint32_t work_bytes, optiling::SoftMaxTiling& tiling, bool,
                                     bool = false) {
    const npuforge::host::SoftmaxPlan plan(shape, sum_type_size);
    plan.Write(tiling, plan.RowsAtOnce(work_bytes, plan.FlashV3()));
}

inline uint32_t GetLogSoftMaxMaxTmpSize(const TensorShape& shape, uint32_t type_size, bool reuse) {
    return GetSoftMaxMaxTmpSize(shape, type_size, reuse);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool reuse) {
    return GetSoftMaxMinTmpSize(shape, type_size, reuse);
}
inline void LogSoftMaxTilingFunc(const TensorShape& shape, uint32_t type_size, uint32_t work_bytes,
                                 optiling::LogSoftMaxTiling& tiling) {
    const npuforge::host::SoftmaxPlan plan(shape, type_size);
    plan.Write(tiling, plan.ToBasicBlocks(plan.RowsAtOnce(work_bytes, plan.Plain())));
}

inline bool IsBasicBlockInSoftMax(uint32_t columns, uint32_t tail, uint32_t type_size) {
    return type_size != 0 && tail == 0 && columns >= 256 / type_size && columns < 2048 &&
           columns % 64 == 0;
}
inline bool IsBasicBlockInSoftMax(optiling::SoftMaxTiling& tiling, uint32_t type_size = 2) {
    return IsBasicBlockInSoftMax(tiling.get_srcK(), tiling.get_tailM(), type_size);
}
inline bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling& tiling, uint32_t type_size = 2) {
    return IsBasicBlockInSoftMax(tiling.srcK, tiling.tailM, type_size);
}

#define NPUFORGE_PLAIN_SOFTMAX(function)                                                         \
    template <typename... Options>                                                               \
    void function(const TensorShape& shape, uint32_t type_size, uint32_t work_bytes,             \
                  tiling::SoftMaxTiling& plain, Options... options) {                            \
        npuforge::host::FillPlain<optiling::SoftMaxTiling>(plain, [&](auto& filled) {            \
            function(shape, type_size, work_bytes, filled, options...);                          \
        });                                                                                      \
    }
NPUFORGE_PLAIN_SOFTMAX(SoftMaxTilingFunc)
NPUFORGE_PLAIN_SOFTMAX(SoftMaxFlashTilingFunc)
NPUFORGE_PLAIN_SOFTMAX(SoftMaxGradTilingFunc)
#undef NPUFORGE_PLAIN_SOFTMAX
template <typename... Options>
void SoftMaxFlashV2TilingFunc(const TensorShape& shape, uint32_t type_size, uint32_t sum_type_size,
                              uint32_t work_bytes, tiling::SoftMaxTiling& plain, Options... options) {
    npuforge::host::FillPlain<optiling::SoftMaxTiling>(plain, [&](auto& filled) {
        SoftMaxFlashV2TilingFunc(shape, type_size, sum_type_size, work_bytes, filled, options...);
    });
}

}  // namespace AscendC
