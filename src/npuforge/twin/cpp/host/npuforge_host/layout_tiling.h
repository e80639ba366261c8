// SPDX-License-Identifier: Apache-2.0
// Padding, transposition and change of format: temporary space and geometry, on architecture 2201.
#pragma once

#include "npuforge_host/reduce_tiling.h"

namespace AscendC {

// Widening a row goes through blocks of sixteen values, two buffers of them.
inline void GetPadMaxMinTmpSize(const TensorShape& shape, uint32_t, uint32_t& max_size,
                                uint32_t& min_size) {
    min_size = 16 * 2 * npuforge::host::kBlockBytes;
    max_size = (static_cast<uint32_t>(shape.GetShapeSize()) + 15) / 16 * min_size;
}
// Fills what the twin's Pad works from; splits over the temporary space describe one particular
// instruction sequence and stay zero.
inline void PadTilingFunc(const TensorShape shape, const TensorShape original, uint32_t,
                          uint32_t type_size, optiling::PadTiling& tiling) {
    const auto height = static_cast<uint32_t>(shape.GetDim(0));
    const auto width = static_cast<uint32_t>(shape.GetDim(1));
    tiling.set_srcHeight(height);
    tiling.set_srcWidth(width);
    tiling.set_srcOriWidth(static_cast<uint32_t>(original.GetDim(1)));
    tiling.set_widthWithoutLastBlock(width - npuforge::host::kBlockBytes / type_size);
    tiling.set_blocksPerRow(width * type_size / npuforge::host::kBlockBytes);
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const TensorShape&,
                                  uint32_t, uint32_t& max_size, uint32_t& min_size) {
    max_size = min_size = 0;
}
inline void UnPadTilingFunc(const TensorShape shape, uint32_t, uint32_t,
                            optiling::UnPadTiling& tiling) {
    tiling.set_srcHeight(static_cast<uint32_t>(shape.GetDim(0)));
    tiling.set_srcWidth(static_cast<uint32_t>(shape.GetDim(1)));
}
inline void PadTilingFunc(const TensorShape shape, const TensorShape original, uint32_t work_bytes,
                          uint32_t type_size, tiling::PadTiling& plain) {
    npuforge::host::FillPlain<optiling::PadTiling>(plain, [&](auto& filled) {
        PadTilingFunc(shape, original, work_bytes, type_size, filled);
    });
}
inline void UnPadTilingFunc(const TensorShape shape, uint32_t work_bytes, uint32_t type_size,
                            tiling::UnPadTiling& plain) {
    npuforge::host::FillPlain<optiling::UnPadTiling>(
        plain, [&](auto& filled) { UnPadTilingFunc(shape, work_bytes, type_size, filled); });
}

// Host code passes a transposition's type as its number.
inline void GetTransposeMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, uint32_t type,
                                      uint32_t& max_size, uint32_t& min_size) {
    constexpr uint32_t kFractal = 16 * 16;
    switch (static_cast<TransposeType>(type)) {
        case TransposeType::TRANSPOSE_NZ2ND_0213:
        case TransposeType::TRANSPOSE_NZ2NZ_0213:
            max_size = npuforge::host::RoundUp(static_cast<uint32_t>(shape.GetDim(2)), 16) * 16;
            max_size *= type_size;
            min_size = kFractal * type_size;
            return;
        case TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N:
        case TransposeType::TRANSPOSE_NZ2ND_012_WITH_N:
        case TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N:
        case TransposeType::TRANSPOSE_NZ2NZ_012_WITHOUT_N:
            max_size = min_size = 2 * kFractal * type_size;
            return;
        default: max_size = min_size = 0;
    }
}

// The parameters that carry geometry, in the places the kernel's structure has them; the others
// describe one particular instruction sequence and stay zero.
inline void GetTransposeTilingInfo(const TensorShape& shape, uint32_t, uint32_t type_size,
                                   uint32_t type, optiling::ConfusionTransposeTiling& tiling) {
    const auto dim = [&](size_t axis) { return static_cast<uint32_t>(shape.GetDim(axis)); };
    const auto whole16 = [](uint32_t value) { return npuforge::host::RoundUp(value, 16); };
    const auto kind = static_cast<TransposeType>(type);
    tiling.set_param0(npuforge::host::kBlockBytes / type_size);
    if (kind == TransposeType::TRANSPOSE_ND2ND_ONLY) {
        tiling.set_param1(dim(0));
        tiling.set_param2(dim(1));
        return;
    }
    tiling.set_param1(dim(0));
    tiling.set_param2(dim(1));
    if (kind == TransposeType::TRANSPOSE_NZ2ND_0213 || kind == TransposeType::TRANSPOSE_NZ2NZ_0213) {
        tiling.set_param3(whole16(dim(3)));
        tiling.set_param4(whole16(dim(2)));
        tiling.set_param5(whole16(dim(3)) / 16);
        return;
    }
    tiling.set_param3(dim(3));
    if (kind == TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N) {
        tiling.set_param5(dim(1) * dim(3));
        tiling.set_param7(whole16(dim(2)) / 16);
        tiling.set_param9(whole16(dim(2)));
        return;
    }
    tiling.set_param4(dim(1) * dim(3));
    tiling.set_param6(whole16(dim(2)) / 16);
}
inline void GetTransposeTilingInfo(const TensorShape& shape, uint32_t work_bytes,
                                   uint32_t type_size, uint32_t type,
                                   tiling::ConfusionTransposeTiling& plain) {
    npuforge::host::FillPlain<optiling::ConfusionTransposeTiling>(plain, [&](auto& filled) {
        GetTransposeTilingInfo(shape, work_bytes, type_size, type, filled);
    });
}
// The earlier names.
inline void GetConfusionTransposeMaxMinTmpSize(const TensorShape& shape, uint32_t type_size,
                                               uint32_t type, uint32_t& max_size,
                                               uint32_t& min_size) {
    GetTransposeMaxMinTmpSize(shape, type_size, type, max_size, min_size);
}
template <typename Tiling>
void GetConfusionTransposeTilingInfo(const TensorShape& shape, uint32_t work_bytes,
                                     uint32_t type_size, uint32_t type, Tiling& tiling) {
    GetTransposeTilingInfo(shape, work_bytes, type_size, type, tiling);
}
template <typename Tiling>
void GetConfusionTransposeOnlyTilingInfo(const TensorShape& shape, uint32_t work_bytes,
                                         uint32_t type_size, Tiling& tiling) {
    const auto type = static_cast<uint32_t>(TransposeType::TRANSPOSE_ND2ND_ONLY);
    GetTransposeTilingInfo(shape, work_bytes, type_size, type, tiling);
}

// Half-word data; rows of H x W are kept as multiples of sixteen while C and N are split.
inline bool GetTransDataMaxMinTmpSize(const platform_ascendc::PlatformAscendC&,
                                      const TensorShape& source, const TensorShape& target,
                                      TensorDataType type, const TransDataConfig& config,
                                      uint32_t& max_size, uint32_t& min_size) {
    if (ge::GetSizeByDataType(type) != 2) return false;
    const bool forward = config.srcFormat == DataFormat::NCDHW;
    const DataFormat packed = forward ? config.dstFormat : config.srcFormat;
    if (!forward && config.dstFormat != DataFormat::NCDHW) return false;
    const TensorShape& plain = forward ? source : target;
    if (plain.GetDimNum() != 5) return false;
    const auto dim = [&](size_t axis) { return static_cast<uint32_t>(plain.GetDim(axis)); };
    const auto whole16 = [](uint32_t value) { return npuforge::host::RoundUp(value, 16); };
    const uint32_t depth = dim(2), area = dim(3) * dim(4), rows = whole16(area);
    const uint32_t channels = whole16(dim(1)), images = whole16(dim(0));
    if (packed == DataFormat::NDC1HWC0) {
        max_size = depth * channels * rows * 2 + (forward ? depth * rows * 2 : 512);
    } else if (packed == DataFormat::FRACTAL_Z_3D) {
        const uint32_t all = images * channels * depth * rows * 2;
        const bool exact = dim(0) == images && dim(1) == channels;
        max_size = forward ? all + std::max(dim(1) * depth * rows, depth * area * images) * 2
                           : all * (exact ? 1 : 2);
    } else {
        return false;
    }
    min_size = max_size;
    return true;
}

}  // namespace AscendC
