// SPDX-License-Identifier: Apache-2.0
// Temporary space of quantisation, masked selection and dropout, on architecture 2201.
#pragma once

#include "npuforge_host/reduce_tiling.h"

namespace AscendC {

// Quant works on half words: two live buffers, at least one repeat each.
inline void GetAscendQuantMaxMinTmpSize(const TensorShape& shape, uint32_t, uint32_t& max_size,
                                        uint32_t& min_size) {
    using namespace npuforge::host;
    min_size = 2 * kRepeatBytes;
    max_size = RoundUp(std::max(2 * static_cast<uint32_t>(shape.GetShapeSize()), min_size), 32);
}
inline void GetAscendQuantTmpBufferFactorSize(uint32_t& live_buffers, uint32_t& extra_bytes) {
    live_buffers = 2;
    extra_bytes = 0;
}

// Dequant keeps the scales and the rows it works on as float, plus one repeat that may be overrun.
inline void GetAscendDequantMaxMinTmpSize(const TensorShape& shape, uint32_t, uint32_t& max_size,
                                          uint32_t& min_size) {
    if (shape.GetDimNum() != 1 && shape.GetDimNum() != 2) return;
    const auto rows = static_cast<uint32_t>(shape.GetDimNum() == 2 ? shape.GetDim(0) : 1);
    const auto columns = static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
    const uint32_t scales = columns + 8;
    max_size = (64 + rows * columns + scales) * sizeof(float);
    min_size = (64 + columns + scales) * sizeof(float);
}
inline void GetAscendDequantTmpBufferFactorSize(const TensorShape& shape, uint32_t& live_buffers,
                                                uint32_t& extra_bytes) {
    const size_t dims = shape.GetDimNum();
    live_buffers = dims == 2 ? 1 : dims == 1 ? 2 : 0;
    extra_bytes = dims == 2 ? 72 + static_cast<uint32_t>(shape.GetDim(1)) : dims == 1 ? 72 : 0;
}

// AntiQuant to half needs nothing; to bfloat16_t it goes through float. The source's shape is K, N,
// or N, K when transposed.
inline uint32_t GetAscendAntiQuantMaxTmpSize(const TensorShape& source, const TensorShape& scale,
                                             bool transposed, TensorDataType, TensorDataType output) {
    if (output == ge::DT_FLOAT16) return 0;
    const auto scales = static_cast<uint32_t>(scale.GetShapeSize());
    if (scales == 1) return static_cast<uint32_t>(source.GetShapeSize()) * sizeof(float);
    if (transposed) return 80 * scales * sizeof(float);
    return (2 * scales + 64 * static_cast<uint32_t>(source.GetDim(0))) * sizeof(float);
}
inline uint32_t GetAscendAntiQuantMinTmpSize(const TensorShape& source, const TensorShape& scale,
                                             bool transposed, TensorDataType input,
                                             TensorDataType output) {
    if (output != ge::DT_FLOAT16 && scale.GetShapeSize() == 1) return 1024;
    return GetAscendAntiQuantMaxTmpSize(source, scale, transposed, input, output);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const TensorShape& source, const TensorShape& scale,
                                            bool transposed, TensorDataType input,
                                            TensorDataType output, uint32_t& max_size,
                                            uint32_t& min_size) {
    max_size = GetAscendAntiQuantMaxTmpSize(source, scale, transposed, input, output);
    min_size = GetAscendAntiQuantMinTmpSize(source, scale, transposed, input, output);
}
inline void GetAscendAntiQuantTmpBufferFactorSize(const TensorShape& source,
                                                  const TensorShape& scale, bool transposed,
                                                  TensorDataType input, TensorDataType output,
                                                  uint32_t& live_buffers, uint32_t& extra_bytes) {
    const bool whole_tensor = output != ge::DT_FLOAT16 && scale.GetShapeSize() == 1;
    live_buffers = whole_tensor ? 1 : 0;
    extra_bytes =
        whole_tensor ? 0 : GetAscendAntiQuantMaxTmpSize(source, scale, transposed, input, output);
}

// The mask becomes half words in pieces of at most 4096 elements; a mask with rows of another
// length is first cut to the source's, in place if the caller allows it.
inline uint32_t GetSelectTmpSize(const TensorShape& source0, const TensorShape& source1,
                                 const TensorShape& mask, uint32_t mask_size, bool reuse_mask,
                                 int64_t at_once) {
    using npuforge::host::RoundUp;
    const bool is_scalar = source0.GetDimNum() == 0 || source0.GetShapeSize() == 1;
    const TensorShape& tensor = is_scalar ? source1 : source0;
    const int64_t size = tensor.GetShapeSize();
    const auto piece = static_cast<uint32_t>(std::min(size, at_once));
    uint32_t bytes = std::max(1024u, RoundUp(piece, 32) * 2 + 512);
    const int64_t mask_row = mask.GetDim(mask.GetDimNum() - 1);
    if (mask_row != tensor.GetDim(tensor.GetDimNum() - 1) && mask_row > 1 && !reuse_mask)
        bytes += RoundUp(static_cast<uint32_t>(size) * mask_size, 32);
    return bytes;
}
#define NPUFORGE_SELECT(name)                                                                       \
    inline uint32_t Get##name##MaxTmpSize(const TensorShape& source0, const TensorShape& source1,   \
                                          uint32_t, const TensorShape& mask, uint32_t mask_size,    \
                                          bool reuse_mask) {                                        \
        return GetSelectTmpSize(source0, source1, mask, mask_size, reuse_mask, INT64_MAX);          \
    }                                                                                               \
    inline uint32_t Get##name##MinTmpSize(const TensorShape& source0, const TensorShape& source1,   \
                                          uint32_t, const TensorShape& mask, uint32_t mask_size,    \
                                          bool reuse_mask) {                                        \
        return GetSelectTmpSize(source0, source1, mask, mask_size, reuse_mask, 4096);               \
    }                                                                                               \
    inline void Get##name##MaxMinTmpSize(const TensorShape& source0, const TensorShape& source1,    \
                                         uint32_t type_size, const TensorShape& mask,               \
                                         uint32_t mask_size, bool reuse_mask, uint32_t& max_size,   \
                                         uint32_t& min_size) {                                      \
        max_size =                                                                                  \
            Get##name##MaxTmpSize(source0, source1, type_size, mask, mask_size, reuse_mask);        \
        min_size =                                                                                  \
            Get##name##MinTmpSize(source0, source1, type_size, mask, mask_size, reuse_mask);        \
    }
NPUFORGE_SELECT(Select)
NPUFORGE_SELECT(SelectWithBytesMask)
#undef NPUFORGE_SELECT

inline uint32_t GetDropOutMinTmpSize(const TensorShape&, uint32_t, bool) {
    return 2 * npuforge::host::kRepeatBytes;
}
inline uint32_t GetDropOutMaxTmpSize(const TensorShape& shape, uint32_t type_size, bool reuse) {
    const uint32_t two_buffers = 2 * static_cast<uint32_t>(shape.GetShapeSize()) * sizeof(float);
    return std::max(two_buffers, GetDropOutMinTmpSize(shape, type_size, reuse));
}
inline void GetDropOutMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool reuse,
                                    uint32_t& max_size, uint32_t& min_size) {
    max_size = GetDropOutMaxTmpSize(shape, type_size, reuse);
    min_size = GetDropOutMinTmpSize(shape, type_size, reuse);
}

}  // namespace AscendC
