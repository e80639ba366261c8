// SPDX-License-Identifier: Apache-2.0
// Temporary space of elementwise and reduction library APIs on architecture 2201.
#pragma once

#include <algorithm>

#include "npuforge_host/tensor_shape.h"
#include "npuforge_host/tmp_factors.h"

namespace npuforge::host {

constexpr uint32_t kRepeatBytes = 256;
constexpr uint32_t kBlockBytes = 32;

inline uint32_t RoundUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

// Factors are live buffers of the input's size; each is at least one repeat.
struct TmpFactor {
    uint32_t half;
    uint32_t single;
    uint32_t single_reusing_source;
    uint32_t Of(uint32_t type_size, bool reuse) const {
        return type_size != sizeof(float) ? half : reuse ? single_reusing_source : single;
    }
};

inline void TmpRange(const TmpFactor& factor, const ge::Shape& shape, uint32_t type_size, bool reuse,
                     uint32_t& max_size, uint32_t& min_size) {
    const uint32_t buffers = factor.Of(type_size, reuse);
    const uint32_t bytes = static_cast<uint32_t>(shape.GetShapeSize()) * type_size;
    min_size = buffers * kRepeatBytes;
    max_size = buffers * std::max(bytes, kRepeatBytes);
}

}  // namespace npuforge::host

namespace AscendC {

#define NPUFORGE_TMP_FUNCTIONS(name, half, single, reused)                                         \
    inline bool Get##name##MaxMinTmpSize(const TensorShape& shape, uint32_t type_size,             \
                                         bool reuse_source, uint32_t& max_size,                    \
                                         uint32_t& min_size) {                                     \
        npuforge::host::TmpRange({half, single, reused}, shape, type_size, reuse_source, max_size, \
                                 min_size);                                                        \
        return true;                                                                               \
    }                                                                                              \
    inline void Get##name##TmpBufferFactorSize(uint32_t type_size, uint32_t& live_buffers,         \
                                               uint32_t& extra_bytes) {                            \
        live_buffers = npuforge::host::TmpFactor{half, single, reused}.Of(type_size, false);       \
        extra_bytes = 0;                                                                           \
    }
NPUFORGE_TMP_FACTORS(NPUFORGE_TMP_FUNCTIONS)
#undef NPUFORGE_TMP_FUNCTIONS

// Exp keeps its buffers in float whatever the input is.
inline bool GetExpMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool reuse_source,
                                uint32_t& max_size, uint32_t& min_size) {
    const npuforge::host::TmpFactor factor{4, 3, 2};
    const uint32_t buffers = factor.Of(type_size, reuse_source);
    const uint32_t bytes = static_cast<uint32_t>(shape.GetShapeSize()) * sizeof(float);
    min_size = buffers * npuforge::host::kRepeatBytes;
    max_size = buffers * std::max(bytes, npuforge::host::kRepeatBytes);
    return true;
}
inline void GetAcoshMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool,
                                  uint32_t& max_size, uint32_t& min_size) {
    const uint32_t buffers = type_size == sizeof(float) ? 1 : 2;
    const uint32_t elements = static_cast<uint32_t>(shape.GetShapeSize());
    min_size = buffers * npuforge::host::kRepeatBytes;
    max_size = std::max(buffers * elements, npuforge::host::kRepeatBytes) * type_size;
}
inline void GetLog2MaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool,
                                 uint32_t& max_size, uint32_t& min_size) {
    const uint32_t bytes = static_cast<uint32_t>(shape.GetShapeSize()) * sizeof(float);
    min_size = type_size == sizeof(float) ? 0 : npuforge::host::kRepeatBytes;
    max_size = type_size == sizeof(float) ? 0 : std::max(bytes, npuforge::host::kRepeatBytes);
}
inline void GetClampMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool,
                                  uint32_t& max_size, uint32_t& min_size) {
    min_size = npuforge::host::kRepeatBytes / (type_size == sizeof(float) ? 4 : 2);
    max_size = std::max(static_cast<uint32_t>(shape.GetShapeSize()), min_size);
}
// Live buffers of the input's size, for functions whose ranges follow a rule of their own.
#define NPUFORGE_FACTOR(name, half, single)                                                     \
    inline void Get##name##TmpBufferFactorSize(uint32_t type_size, uint32_t& live_buffers,      \
                                               uint32_t& extra_bytes) {                         \
        live_buffers = type_size == sizeof(float) ? (single) : (half);                          \
        extra_bytes = 0;                                                                        \
    }
NPUFORGE_FACTOR(Exp, 8, 3)
NPUFORGE_FACTOR(Acosh, 2, 1)
NPUFORGE_FACTOR(Log2, 2, 0)
NPUFORGE_FACTOR(Clamp, 1, 1)
NPUFORGE_FACTOR(SwiGLU, 6, 0)
NPUFORGE_FACTOR(Mean, 1, 1)
#undef NPUFORGE_FACTOR

inline uint32_t GetGeluMinTmpSize(const TensorShape&, uint32_t) {
    return 3 * npuforge::host::kRepeatBytes;
}
inline uint32_t GetGeluMaxTmpSize(const TensorShape& shape, uint32_t type_size) {
    const uint32_t bytes = static_cast<uint32_t>(shape.GetShapeSize()) * sizeof(float);
    return std::max(3 * bytes, GetGeluMinTmpSize(shape, type_size));
}
inline void GetGeluMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, uint32_t& max_size,
                                 uint32_t& min_size) {
    max_size = GetGeluMaxTmpSize(shape, type_size);
    min_size = GetGeluMinTmpSize(shape, type_size);
}
inline void GetSwiGLUMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, uint32_t& max_size,
                                   uint32_t& min_size, bool reuse_source) {
    npuforge::host::TmpRange({6, 0, 0}, shape, type_size, reuse_source, max_size, min_size);
}
inline void GetReGluMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool reuse_source,
                                  uint32_t& max_size, uint32_t& min_size) {
    npuforge::host::TmpRange({6, 1, 1}, shape, type_size, reuse_source, max_size, min_size);
    if (type_size == sizeof(float)) max_size = min_size;
}
inline void GetSiluTmpSize(const TensorShape&, uint32_t, bool, uint32_t& max_size,
                           uint32_t& min_size) {
    max_size = min_size = 0;
}
inline void GetSwishTmpSize(const TensorShape&, uint32_t, bool, uint32_t& max_size,
                            uint32_t& min_size) {
    max_size = min_size = 0;
}
inline void GetArangeMaxMinTmpSize(uint32_t& max_size, uint32_t& min_size) {
    max_size = min_size = 0;
}
inline void GetArithProgressionMaxMinTmpSize(uint32_t& max_size, uint32_t& min_size) {
    max_size = min_size = 0;
}

inline void GetPowerTmpBufferFactorSize(bool base_is_tensor, bool exponent_is_tensor,
                                        bool type_is_int, uint32_t type_size,
                                        uint32_t& live_buffers, uint32_t& extra_bytes) {
    const bool both = base_is_tensor && exponent_is_tensor;
    const bool single = type_size == sizeof(float);
    live_buffers = type_is_int ? (both ? 6 : 7) : single ? (both ? 4 : 5) : 14;
    extra_bytes = type_is_int ? 0 : npuforge::host::kRepeatBytes;
}

// A one-element vector counts as a scalar operand.
inline void GetPowerMaxMinTmpSize(const TensorShape& base, const TensorShape& exponent,
                                  bool type_is_int, uint32_t type_size, bool, uint32_t& max_size,
                                  uint32_t& min_size) {
    using npuforge::host::kRepeatBytes;
    const auto is_tensor = [](const TensorShape& shape) {
        return !(shape.GetDimNum() == 1 && shape.GetDim(0) == 1);
    };
    const bool single = type_size == sizeof(float);
    uint32_t buffers = 0;
    uint32_t extra = 0;
    GetPowerTmpBufferFactorSize(is_tensor(base), is_tensor(exponent), type_is_int, type_size,
                                buffers, extra);
    const auto& tensor = is_tensor(base) ? base : exponent;
    const uint32_t bytes = static_cast<uint32_t>(tensor.GetShapeSize()) * type_size;
    const uint32_t least = single ? kRepeatBytes : kRepeatBytes / 2;
    max_size = buffers * std::max(bytes, least) + extra;
    min_size = buffers * (type_is_int || single ? kRepeatBytes : kRepeatBytes / 2) + extra;
}

inline void GetCumSumMaxMinTmpSize(const TensorShape& shape, uint32_t type_size, bool last_axis, bool,
                                   uint32_t& max_size, uint32_t& min_size) {
    const uint32_t outer = static_cast<uint32_t>(shape.GetDim(0));
    const uint32_t inner = static_cast<uint32_t>(shape.GetDim(1));
    const bool half = type_size == 2;
    if (!last_axis) {
        max_size = min_size = half ? outer * inner * sizeof(float) : 0;
        return;
    }
    // Two transposed copies in groups of sixteen rows, and for half the widened sum.
    const uint32_t row_bytes = inner * (2 * type_size + (half ? 2 : 0));
    min_size = 16 * row_bytes;
    max_size = npuforge::host::RoundUp(outer, 16) * row_bytes;
}

inline void GetSumMaxMinTmpSize(uint32_t count, uint32_t type_size, bool, uint32_t& max_size,
                                uint32_t& min_size) {
    const uint32_t per_repeat = npuforge::host::kRepeatBytes / type_size;
    const uint32_t repeats = (count + per_repeat - 1) / per_repeat;
    max_size = min_size =
        npuforge::host::RoundUp(repeats, npuforge::host::kBlockBytes / type_size) * type_size;
}
inline void GetMeanMaxMinTmpSize(uint32_t count, uint32_t source_size, uint32_t sum_size, bool,
                                 uint32_t& max_size, uint32_t& min_size) {
    using npuforge::host::RoundUp;
    const bool widened = source_size == 2 && sum_size == 4;
    const uint32_t per_repeat = npuforge::host::kRepeatBytes / (widened ? 4 : source_size);
    const uint32_t repeats = (count + per_repeat - 1) / per_repeat;
    const uint32_t padded = RoundUp(count * source_size, 32) / source_size;
    max_size = min_size = RoundUp(repeats, 32) + (widened ? padded * 4 : 0);
}

}  // namespace AscendC
