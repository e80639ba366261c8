// SPDX-License-Identifier: Apache-2.0
// Normalisation family beyond LayerNorm and RmsNorm: temporary space and geometry, on 2201.
// Positions inside the temporary space are not filled: they describe one particular instruction
// sequence, and the twin's functions work from the geometry alone.
#pragma once

#include "npuforge_host/norm_tiling.h"

namespace npuforge::host {

inline uint32_t Dim(const ge::Shape& shape, size_t axis) {
    return static_cast<uint32_t>(shape.GetDim(axis));
}

}  // namespace npuforge::host

namespace AscendC {

// DeepNorm: the shape is B, S, padded H. A basic block is 8 rows of a multiple of 64 columns.
inline bool GetDeepNormMaxMinTmpSize(const TensorShape& shape, uint32_t type_size,
                                     bool reuse_source, bool basic_block, uint32_t& max_size,
                                     uint32_t& min_size) {
    if (basic_block && (shape.GetDim(2) == 0 || shape.GetDim(2) % 64 != 0 ||
                        shape.GetDim(0) * shape.GetDim(1) % 8 != 0)) {
        return false;
    }
    GetLayerNormMaxMinTmpSize(shape, type_size, reuse_source, max_size, min_size);
    return true;
}
inline bool GetDeepNormTilingInfo(const TensorShape& shape, const TensorShape& original,
                                  uint32_t work_bytes, uint32_t type_size, bool reuse_source,
                                  bool basic_block, optiling::DeepNormTiling& tiling) {
    using npuforge::host::Dim;
    uint32_t max_size = 0;
    uint32_t min_size = 0;
    const uint32_t columns = Dim(shape, 2);
    const uint32_t real_columns = Dim(original, 2);
    if (!GetDeepNormMaxMinTmpSize(shape, type_size, reuse_source, basic_block, max_size, min_size) ||
        work_bytes < min_size || shape.GetDim(0) != original.GetDim(0) ||
        shape.GetDim(1) != original.GetDim(1) || columns * type_size % 32 != 0 || columns > 2040 ||
        real_columns == 0 || real_columns > columns || (basic_block && real_columns != columns)) {
        return false;
    }
    // The split over the temporary space is LayerNorm's.
    optiling::LayerNormTiling rows;
    const TensorShape with_original({shape.GetDim(0), shape.GetDim(1), columns, real_columns});
    GetLayerNormNDTilingInfo(with_original, work_bytes, type_size, reuse_source, rows);
    if (rows.get_oneTmpSize() == 0) return false;
    tiling.set_bLength(rows.get_bLength());
    tiling.set_sLength(rows.get_sLength());
    tiling.set_hLength(columns);
    tiling.set_originalHLength(real_columns);
    tiling.set_inputXSize(rows.get_inputXSize());
    tiling.set_meanVarSize(rows.get_meanVarSize());
    tiling.set_numberOfTmpBuf(rows.get_numberOfTmpBuf());
    tiling.set_tmpBufSize(rows.get_tmpBufSize());
    tiling.set_oneTmpSize(rows.get_oneTmpSize());
    tiling.set_loopRound(rows.get_loopRound());
    tiling.set_inputRoundSize(rows.get_inputRoundSize());
    tiling.set_inputTailSize(rows.get_inputTailSize());
    tiling.set_inputTailPos(rows.get_inputTailPos());
    tiling.set_lastDimValueBack(1.0f / static_cast<float>(real_columns));
    return true;
}
inline bool GetDeepNormTilingInfo(const TensorShape& shape, const TensorShape& original,
                                  uint32_t work_bytes, uint32_t type_size, bool reuse_source,
                                  bool basic_block, tiling::DeepNormTiling& plain) {
    return npuforge::host::FillPlain<optiling::DeepNormTiling>(plain, [&](auto& filled) {
        return GetDeepNormTilingInfo(shape, original, work_bytes, type_size, reuse_source,
                                     basic_block, filled);
    });
}

// Normalize: the shape is A, R; gamma and beta of 16 bits need float copies.
inline void GetNormalizeMaxMinTmpSize(const TensorShape& shape, uint32_t gamma_size,
                                      uint32_t type_size, bool, bool, bool, uint32_t& max_size,
                                      uint32_t& min_size) {
    using namespace npuforge::host;
    const uint32_t per_block = type_size == 0 ? 1 : kBlockBytes / type_size;
    const uint32_t row = RoundUp(RoundUp(Dim(shape, 1), per_block) * sizeof(float), 32);
    const uint32_t values = RoundUp(Dim(shape, 0) * sizeof(float), 32);
    max_size = 2 * row + 2 * RoundUp(Dim(shape, 0), 8) * row;
    min_size = std::max(values, (gamma_size == sizeof(float) ? 2 : 4) * row);
}

// LayerNorm with mean and reciprocal deviation kept: the shape is A, R.
inline void GetLayerNormMaxMinTmpSize(const TensorShape& shape, uint32_t type_size,
                                      bool reuse_source, bool compute_rstd, bool only_output,
                                      uint32_t& max_size, uint32_t& min_size) {
    using namespace npuforge::host;
    const uint32_t variances = RoundUp(Dim(shape, 0) * sizeof(float), 32);
    const uint32_t row = RoundUp(RoundUp(Dim(shape, 1), 32 / type_size) * sizeof(float), 32);
    uint32_t most = 0;
    uint32_t least = 0;
    GetNormalizeMaxMinTmpSize(shape, type_size, type_size, reuse_source, compute_rstd, only_output,
                              most, least);
    max_size = variances + std::max(most, 2 * Dim(shape, 0) * row);
    min_size = variances + std::max(least, 2 * row);
}
inline void GetLayerNormNDTilingInfo(const TensorShape& shape, uint32_t work_bytes,
                                     uint32_t type_size, bool, bool,
                                     optiling::LayerNormSeparateTiling& tiling) {
    using namespace npuforge::host;
    const uint32_t rows = Dim(shape, 0);
    const uint32_t columns = Dim(shape, 1);
    const uint32_t padded = RoundUp(columns, 32 / type_size);
    const uint32_t floats = work_bytes / sizeof(float);
    const uint32_t variances = RoundUp(rows, 8);
    if (padded == 0 || floats < variances) return;
    const uint32_t elements = rows * padded;
    const uint32_t at_once = std::min((floats - variances) / 2 / padded * padded, elements);
    if (at_once == 0) return;
    tiling.set_aLength(rows);
    tiling.set_rLength(columns);
    tiling.set_inputXSize(elements);
    tiling.set_meanVarSize(rows);
    tiling.set_numberOfTmpBuf(2);
    tiling.set_varianceTmpTensorSize(variances);
    tiling.set_tmpBufSize(floats);
    tiling.set_oneTmpSize(at_once);
    tiling.set_loopRound(elements / at_once);
    tiling.set_inputRoundSize(at_once);
    tiling.set_inputTailSize(elements % at_once);
    tiling.set_inputTailPos(elements - elements % at_once);
    tiling.set_arCurLength(at_once);
    tiling.set_aCurLength(at_once / padded);
    tiling.set_rValueBack(1.0f / static_cast<float>(columns));
}
inline void GetLayerNormNDTilingInfo(const TensorShape& shape, uint32_t work_bytes,
                                     uint32_t type_size, bool reuse_source, bool compute_rstd,
                                     tiling::LayerNormSeparateTiling& plain) {
    npuforge::host::FillPlain<optiling::LayerNormSeparateTiling>(plain, [&](auto& filled) {
        GetLayerNormNDTilingInfo(shape, work_bytes, type_size, reuse_source, compute_rstd, filled);
    });
}

// Welford's update keeps up to three buffers of a repeat; the shape is Rn, Ab.
inline void GetWelfordUpdateMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, uint32_t,
                                          bool reuse_source, bool, uint32_t& max_size,
                                          uint32_t& min_size) {
    const uint32_t buffers = type_size == 2 ? 3 : reuse_source ? 1 : 2;
    min_size = buffers * npuforge::host::kRepeatBytes;
    max_size = (static_cast<uint32_t>(shape.GetShapeSize()) + 63) / 64 * min_size;
}
inline void GetWelfordFinalizeMaxMinTmpSize(const TensorShape& shape, uint32_t, bool,
                                            uint32_t& max_size, uint32_t& min_size) {
    const uint32_t lanes = std::max(npuforge::host::Dim(shape, 0), 64u);
    min_size = 4 * 64 * sizeof(float);
    max_size = (2 * 64 + 2 * lanes) * sizeof(float);
}

// GroupNorm: the shape is N, C, H, W; every H x W starts at a block.
inline void GetGroupNormMaxMinTmpSize(const TensorShape& shape, uint32_t type_size,
                                      bool reuse_source, uint32_t groups, uint32_t& max_size,
                                      uint32_t& min_size) {
    using namespace npuforge::host;
    const uint32_t buffers = reuse_source && type_size == sizeof(float) ? 2 : 3;
    const uint32_t moments = 2 * RoundUp(Dim(shape, 0) * groups * sizeof(float), 32);
    const uint32_t area = RoundUp(Dim(shape, 2) * Dim(shape, 3) * type_size, 32) / type_size;
    const uint32_t channel = area * sizeof(float);
    max_size = buffers * Dim(shape, 0) * Dim(shape, 1) * channel + moments;
    min_size = buffers * (Dim(shape, 1) / groups) * channel + moments;
}
inline void GetGroupNormNDTilingInfo(const TensorShape& shape, uint32_t work_bytes,
                                     uint32_t type_size, bool reuse_source, uint32_t groups,
                                     optiling::GroupNormTiling& tiling) {
    using namespace npuforge::host;
    if (groups == 0) return;
    const uint32_t images = Dim(shape, 0);
    const uint32_t channels = Dim(shape, 1);
    const uint32_t area = Dim(shape, 2) * Dim(shape, 3);
    const uint32_t padded = RoundUp(area * type_size, 32) / type_size;
    const uint32_t per_group = channels / groups;
    const bool single = type_size == sizeof(float);
    const uint32_t buffers = reuse_source && single ? 2 : 3;
    const uint32_t moments = RoundUp(images * groups, 8);
    const uint32_t floats = work_bytes / 32 * 32 / sizeof(float);
    const uint32_t head = single ? 0 : 2 * moments;
    if (per_group * padded == 0 || floats < head) return;
    const uint32_t elements = images * channels * padded;
    const uint32_t unit = per_group * padded;
    const uint32_t at_once = std::min((floats - head) / buffers / unit * unit, elements);
    if (at_once == 0) return;
    tiling.set_n(images);
    tiling.set_c(channels);
    tiling.set_hw(area);
    tiling.set_g(groups);
    tiling.set_d(per_group);
    tiling.set_hwAlignSize(padded);
    tiling.set_dhwAlignSize(unit);
    tiling.set_inputXSize(elements);
    tiling.set_meanVarSize(images * groups);
    tiling.set_numberOfTmpBuf(buffers);
    tiling.set_tmpBufSize(floats);
    tiling.set_oneTmpSize(at_once);
    tiling.set_loopRound(elements / at_once);
    tiling.set_bshCurLength(at_once);
    tiling.set_bsCurLength(at_once / unit);
    tiling.set_factor(1.0f / static_cast<float>(per_group * area));
}
inline void GetGroupNormNDTilingInfo(const TensorShape& shape, uint32_t work_bytes,
                                     uint32_t type_size, bool reuse_source, uint32_t groups,
                                     tiling::GroupNormTiling& plain) {
    npuforge::host::FillPlain<optiling::GroupNormTiling>(plain, [&](auto& filled) {
        GetGroupNormNDTilingInfo(shape, work_bytes, type_size, reuse_source, groups, filled);
    });
}

// BatchNorm: the shape is B, S, H with S x H in whole blocks; only `original`'s B counts.
inline bool IsBatchNormBasicBlock(const TensorShape& shape, const TensorShape& original) {
    return shape.GetDim(1) * shape.GetDim(2) % 64 == 0 && original.GetDim(0) % 8 == 0;
}
inline bool GetBatchNormMaxMinTmpSize(const TensorShape& shape, const TensorShape& original,
                                      uint32_t type_size, bool, uint32_t& max_size,
                                      uint32_t& min_size, bool basic_block = false) {
    using namespace npuforge::host;
    if (basic_block && !IsBatchNormBasicBlock(shape, original)) return false;
    const uint32_t batch = Dim(original, 0);
    const uint32_t features = Dim(shape, 1) * Dim(shape, 2);
    const uint32_t moments = 2 * RoundUp(features * sizeof(float), 32);
    const uint32_t column = basic_block ? 64 * sizeof(float) : type_size == 2 ? 64 : 32;
    max_size = 3 * RoundUp(batch * features * sizeof(float), 32) + moments;
    min_size = 3 * batch * column + moments;
    return true;
}
inline bool GetBatchNormNDTilingInfo(const TensorShape& shape, const TensorShape& original,
                                     uint32_t work_bytes, uint32_t type_size, bool reuse_source,
                                     optiling::BatchNormTiling& tiling, bool basic_block = false) {
    using namespace npuforge::host;
    uint32_t max_size = 0;
    uint32_t min_size = 0;
    const uint32_t features = Dim(shape, 1) * Dim(shape, 2);
    if (shape.GetDimNum() != 3 || original.GetDimNum() != 3 || features * type_size % 32 != 0 ||
        !GetBatchNormMaxMinTmpSize(shape, original, type_size, reuse_source, max_size, min_size,
                                   basic_block) ||
        work_bytes < min_size) {
        return false;
    }
    const uint32_t batch = Dim(original, 0);
    const uint32_t floats = work_bytes / sizeof(float);
    const uint32_t head = type_size == sizeof(float) ? 0 : 2 * RoundUp(features, 8);
    const uint32_t unit = batch * (type_size == sizeof(float) ? 8 : 16);
    uint32_t at_once = std::min((floats - head) / 3 / unit * unit, batch * features);
    if (basic_block) at_once = at_once / batch / 64 * 64 * batch;
    if (at_once == 0) return false;
    tiling.set_originalBLength(batch);
    tiling.set_meanVarSize(features);
    tiling.set_tmpBufSize(floats);
    tiling.set_oneTmpSize(at_once);
    tiling.set_loopRound(batch * features / at_once);
    tiling.set_bshCurLength(at_once);
    tiling.set_shCurLength(at_once / batch);
    tiling.set_firstDimValueBack(1.0f / static_cast<float>(batch));
    return true;
}
inline bool GetBatchNormNDTilingInfo(const TensorShape& shape, const TensorShape& original,
                                     uint32_t work_bytes, uint32_t type_size, bool reuse_source,
                                     tiling::BatchNormTiling& plain, bool basic_block = false) {
    return npuforge::host::FillPlain<optiling::BatchNormTiling>(plain, [&](auto& filled) {
        return GetBatchNormNDTilingInfo(shape, original, work_bytes, type_size, reuse_source,
                                        filled, basic_block);
    });
}

}  // namespace AscendC
