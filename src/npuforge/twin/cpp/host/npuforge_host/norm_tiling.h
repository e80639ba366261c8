// SPDX-License-Identifier: Apache-2.0
// Normalisation family: temporary space and the split over it, on architecture 2201.
#pragma once

#include "npuforge_host/softmax_tiling.h"

namespace AscendC {

// The shape is B, S, padded H, H.
inline void GetLayerNormMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool reuse_source,
                                      uint32_t& max_size, uint32_t& min_size) {
    using npuforge::host::RoundUp;
    const uint32_t rows = static_cast<uint32_t>(shape.GetDim(0) * shape.GetDim(1));
    const uint32_t columns = static_cast<uint32_t>(shape.GetDim(2));
    const uint32_t buffers = reuse_source && type_size == sizeof(float) ? 2 : 3;
    const uint32_t mean_and_variance = 2 * RoundUp(rows * sizeof(float), 32);
    max_size = buffers * RoundUp(rows * columns * sizeof(float), 32) + mean_and_variance;
    min_size = buffers * RoundUp(columns * sizeof(float), 32) + mean_and_variance;
}

inline void GetLayerNormNDTilingInfo(const TensorShape& shape, uint32_t work_bytes, uint32_t type_size,
                                     bool reuse_source, optiling::LayerNormTiling& tiling) {
    const uint32_t batch = static_cast<uint32_t>(shape.GetDim(0));
    const uint32_t sequence = static_cast<uint32_t>(shape.GetDim(1));
    const uint32_t columns = static_cast<uint32_t>(shape.GetDim(2));
    const uint32_t original = static_cast<uint32_t>(shape.GetDim(3));
    const uint32_t rows = batch * sequence;
    const uint32_t elements = rows * columns;
    const bool single = type_size == sizeof(float);
    const uint32_t buffers = reuse_source && single ? 2 : 3;
    const uint32_t mean_size = npuforge::host::RoundUp(rows, 8);
    const uint32_t head = single ? 0 : 2 * mean_size;  // float callers own mean and variance
    const uint32_t floats = work_bytes / sizeof(float);
    if (columns == 0 || floats < head) return;
    const uint32_t at_once = std::min((floats - head) / buffers / columns * columns, elements);
    if (at_once == 0) return;
    const uint32_t tail = elements % at_once;
    tiling.set_bLength(batch);
    tiling.set_sLength(sequence);
    tiling.set_hLength(columns);
    tiling.set_originalHLength(original);
    tiling.set_inputXSize(elements);
    tiling.set_meanVarSize(rows);
    tiling.set_numberOfTmpBuf(buffers);
    tiling.set_meanTmpTensorPos(0);
    tiling.set_meanTmpTensorSize(mean_size);
    tiling.set_varianceTmpTensorPos(mean_size);
    tiling.set_varianceTmpTensorSize(mean_size);
    tiling.set_tmpBufSize(floats);
    tiling.set_oneTmpSize(at_once);
    tiling.set_firstTmpStartPos(head);
    tiling.set_secondTmpStartPos(head + at_once);
    tiling.set_thirdTmpStartPos(head + 2 * at_once);
    tiling.set_loopRound(elements / at_once);
    tiling.set_inputRoundSize(at_once);
    tiling.set_inputTailSize(tail);
    tiling.set_inputTailPos(elements - tail);
    tiling.set_meanVarRoundSize(at_once / columns);
    tiling.set_meanVarTailSize(tail / columns);
    tiling.set_meanVarTailPos(rows - tail / columns);
    tiling.set_bshCurLength(at_once);
    tiling.set_bsCurLength(at_once / columns);
    tiling.set_lastDimValueBack(1.0f / static_cast<float>(original));
}
inline void GetLayerNormNDTillingInfo(const TensorShape& shape, uint32_t work_bytes,
                                      uint32_t type_size, bool reuse_source,
                                      optiling::LayerNormTiling& tiling) {
    GetLayerNormNDTilingInfo(shape, work_bytes, type_size, reuse_source, tiling);
}
inline void GetLayerNormNDTilingInfo(const TensorShape& shape, uint32_t work_bytes, uint32_t type_size,
                                     bool reuse_source, tiling::LayerNormTiling& plain) {
    npuforge::host::FillPlain<optiling::LayerNormTiling>(plain, [&](auto& filled) {
        GetLayerNormNDTilingInfo(shape, work_bytes, type_size, reuse_source, filled);
    });
}

// The shape is B, S, padded H. A basic block is a multiple of 8 rows of a multiple of 64 columns.
inline bool IsRmsNormBasicBlock(const TensorShape& shape) {
    return shape.GetDim(2) % 64 == 0 && shape.GetDim(2) < 2048 &&
           shape.GetDim(0) * shape.GetDim(1) % 8 == 0;
}
inline uint32_t GetRmsNormMinTmpSize(const TensorShape& shape, uint32_t type_size) {
    const uint32_t columns = static_cast<uint32_t>(shape.GetDim(2));
    return (columns * (type_size == 2 ? 2 : 1) + 8) * sizeof(float);
}
inline bool GetRmsNormMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, uint32_t& max_size,
                                    uint32_t& min_size, bool basic_block = false) {
    if (basic_block && !IsRmsNormBasicBlock(shape)) return false;
    const uint32_t rows = static_cast<uint32_t>(shape.GetDim(0) * shape.GetDim(1));
    const uint32_t elements = rows * static_cast<uint32_t>(shape.GetDim(2));
    const uint32_t sums = npuforge::host::RoundUp(rows, 32 / type_size);
    max_size = (elements * (type_size == 2 ? 2 : 1) + sums) * sizeof(float);
    min_size = GetRmsNormMinTmpSize(shape, type_size);
    return true;
}
inline bool GetRmsNormTilingInfo(const TensorShape& shape, const TensorShape& original,
                                 uint32_t work_bytes, uint32_t type_size,
                                 optiling::RmsNormTiling& tiling, bool basic_block = false) {
    if (shape.GetDimNum() != 3 || original.GetDimNum() != 3 || original.GetDim(2) <= 0 ||
        shape.GetDim(0) != original.GetDim(0) || shape.GetDim(1) != original.GetDim(1) ||
        shape.GetDim(2) < original.GetDim(2) || shape.GetDim(2) * type_size % 32 != 0 ||
        (basic_block && !IsRmsNormBasicBlock(shape)) ||
        work_bytes < GetRmsNormMinTmpSize(shape, type_size)) {
        return false;
    }
    const uint32_t rows = static_cast<uint32_t>(shape.GetDim(0) * shape.GetDim(1));
    const uint32_t columns = static_cast<uint32_t>(shape.GetDim(2));
    const uint32_t floats = work_bytes / sizeof(float);
    const uint32_t buffers = type_size == sizeof(float) ? 1 : 2;
    uint32_t at_once = 1;
    while (at_once < rows && floats >= (at_once + 1) * columns * buffers +
                                           npuforge::host::RoundUp(at_once + 1, 8)) {
        ++at_once;
    }
    if (basic_block) {
        if (at_once >= 8) at_once = at_once / 8 * 8;
    } else {
        at_once = std::min(at_once, 255u);
    }
    const uint32_t elements = rows * columns;
    const uint32_t tail = elements % (at_once * columns);
    tiling.set_bLength(static_cast<uint32_t>(shape.GetDim(0)));
    tiling.set_sLength(static_cast<uint32_t>(shape.GetDim(1)));
    tiling.set_hLength(columns);
    tiling.set_originalHLength(static_cast<uint32_t>(original.GetDim(2)));
    tiling.set_reciprocalOfHLength(1.0f / static_cast<float>(original.GetDim(2)));
    tiling.set_mainBshLength(at_once * columns);
    tiling.set_mainBsLength(at_once);
    tiling.set_mainBsLengthAlign(npuforge::host::RoundUp(at_once, 8));
    tiling.set_loopRound(elements / (at_once * columns));
    tiling.set_inputTailPos(elements - tail);
    tiling.set_tailBshLength(tail);
    tiling.set_tailBsLength(tail / columns);
    return true;
}
inline bool GetRmsNormTilingInfo(const TensorShape& shape, const TensorShape& original,
                                 uint32_t work_bytes, uint32_t type_size,
                                 tiling::RmsNormTiling& plain, bool basic_block = false) {
    return npuforge::host::FillPlain<optiling::RmsNormTiling>(plain, [&](auto& filled) {
        return GetRmsNormTilingInfo(shape, original, work_bytes, type_size, filled, basic_block);
    });
}

}  // namespace AscendC
