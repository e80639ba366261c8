// SPDX-License-Identifier: Apache-2.0
// Gradients of LayerNorm: temporary space and geometry, on architecture 2201. The shape is B, S,
// padded H, H.
#pragma once

#include <bit>

#include "npuforge_host/norm_more_tiling.h"

namespace AscendC {

inline uint32_t LayerNormGradBuffers(uint32_t type_size, bool reuse_source) {
    return type_size == 2 ? 9 : reuse_source ? 4 : 6;
}
inline void GetLayerNormGradMaxMinTmpSize(const TensorShape& shape, uint32_t type_size,
                                          bool reuse_source, uint32_t& max_size,
                                          uint32_t& min_size) {
    using npuforge::host::Dim;
    const uint32_t elements = Dim(shape, 0) * Dim(shape, 1) * Dim(shape, 2);
    const uint32_t square = Dim(shape, 2) * Dim(shape, 2);
    const uint32_t bytes = LayerNormGradBuffers(type_size, reuse_source) * type_size;
    max_size = std::max(elements, square) * bytes;
    min_size = std::min(elements, square) * bytes;
}
inline void GetLayerNormGradNDTilingInfo(const TensorShape shape, uint32_t work_bytes,
                                         uint32_t type_size, bool reuse_source,
                                         optiling::LayerNormGradTiling& tiling) {
    using namespace npuforge::host;
    const uint32_t columns = Dim(shape, 2);
    const uint32_t original = Dim(shape, 3);
    const uint32_t elements = Dim(shape, 0) * Dim(shape, 1) * columns;
    const uint32_t share =
        work_bytes / sizeof(float) / LayerNormGradBuffers(type_size, reuse_source);
    if (columns == 0 || share < columns) return;
    const uint32_t rows = RoundUp(share / columns, kBlockBytes / type_size);
    const uint32_t at_once = rows * columns;
    tiling.set_stackBufferSize(work_bytes);
    tiling.set_bLength(Dim(shape, 0));
    tiling.set_sLength(Dim(shape, 1));
    tiling.set_hLength(columns);
    tiling.set_originalHLength(original);
    tiling.set_oneCalSize(at_once);
    tiling.set_nohCalSize(rows);
    tiling.set_loopNum(elements / at_once);
    tiling.set_tailSize(elements % at_once);
    tiling.set_nohTailSize(elements % at_once / columns);
    // The structure carries these two floats in integer fields.
    tiling.set_lastDimValueBack(std::bit_cast<uint32_t>(1.0f / static_cast<float>(original)));
    tiling.set_lastDimValueBackMulTwo(std::bit_cast<uint32_t>(2.0f / static_cast<float>(original)));
}
inline void GetLayerNormGradNDTilingInfo(const TensorShape shape, uint32_t work_bytes,
                                         uint32_t type_size, bool reuse_source,
                                         tiling::LayerNormGradTiling& plain) {
    npuforge::host::FillPlain<optiling::LayerNormGradTiling>(plain, [&](auto& filled) {
        GetLayerNormGradNDTilingInfo(shape, work_bytes, type_size, reuse_source, filled);
    });
}

inline void GetLayerNormGradBetaMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool,
                                              uint32_t& max_size, uint32_t& min_size) {
    using npuforge::host::Dim;
    const uint32_t row = (type_size == 2 ? 4 : 2) * Dim(shape, 2) * sizeof(float);
    max_size = Dim(shape, 0) * Dim(shape, 1) * row;
    min_size = row;
}
inline void GetLayerNormGradBetaNDTilingInfo(const TensorShape shape, uint32_t work_bytes,
                                             uint32_t type_size, bool,
                                             optiling::LayerNormGradBetaTiling& tiling) {
    using npuforge::host::Dim;
    const uint32_t columns = Dim(shape, 2);
    const uint32_t rows = Dim(shape, 0) * Dim(shape, 1);
    const uint32_t floats = work_bytes / sizeof(float);
    const uint32_t buffers = type_size == 2 ? 2 : 1;
    if (columns == 0 || floats < 2 * columns) return;
    const uint32_t share = type_size == 2 ? (floats - 2 * columns) / buffers : floats;
    const uint32_t at_once = std::min(share / columns * columns, rows * columns);
    if (at_once == 0) return;
    tiling.set_stackBufferSize(floats);
    tiling.set_bLength(Dim(shape, 0));
    tiling.set_sLength(Dim(shape, 1));
    tiling.set_hLength(columns);
    tiling.set_originalHLength(Dim(shape, 3));
    tiling.set_bshLength(rows * columns);
    tiling.set_bsLength(rows);
    tiling.set_oneCalSize(at_once);
    tiling.set_numberOfTmpBuf(buffers);
    tiling.set_loopRound(rows * columns / at_once);
    tiling.set_inputTailSize(rows * columns % at_once);
    tiling.set_inputTailPos(rows * columns - rows * columns % at_once);
    tiling.set_bsTailSize(rows * columns % at_once / columns);
    tiling.set_bshCurLength(at_once);
    tiling.set_bsCurLength(at_once / columns);
}
inline void GetLayerNormGradBetaNDTilingInfo(const TensorShape shape, uint32_t work_bytes,
                                             uint32_t type_size, bool reuse_source,
                                             tiling::LayerNormGradBetaTiling& plain) {
    npuforge::host::FillPlain<optiling::LayerNormGradBetaTiling>(plain, [&](auto& filled) {
        GetLayerNormGradBetaNDTilingInfo(shape, work_bytes, type_size, reuse_source, filled);
    });
}

}  // namespace AscendC
