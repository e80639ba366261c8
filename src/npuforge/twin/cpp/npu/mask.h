// SPDX-License-Identifier: Apache-2.0
// The vector mask register and its two modes.
#pragma once
#include "tensor.h"

namespace AscendC {

inline void SetMaskCount() { npuforge::set_mask_mode(true); }
inline void SetMaskNorm() { npuforge::set_mask_mode(false); }
inline void ResetMask() { npuforge::set_vector_mask(~0ull, ~0ull); }

template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow) {
    npuforge::set_vector_mask(maskHigh, maskLow);
}
// Normal mode: the first `len` lanes. Counter mode: `len` elements in all.
template <typename T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(int32_t len) {
    if constexpr (mode == MaskMode::COUNTER) {
        npuforge::set_vector_mask(0, static_cast<uint64_t>(len));
    } else {
        const npuforge::Extent lanes = npuforge::Extent::lanes(static_cast<uint64_t>(len), 1);
        npuforge::set_vector_mask(lanes.mask[1], lanes.mask[0]);
    }
}

// Names that older kernels take from the framework's internals.
class AscendCUtils {
public:
    template <typename T> static void SetMask(const uint64_t& maskHigh, const uint64_t& maskLow) {
        npuforge::set_vector_mask(maskHigh, maskLow);
    }
    template <typename T, bool isSetMask = true> static void SetMask(int32_t len) {
        if constexpr (isSetMask) SetVectorMask<T>(len);
    }
    template <typename T> static void SetMaskCount() { npuforge::set_mask_mode(true); }
    template <typename T> static void SetMaskNorm() { npuforge::set_mask_mode(false); }
    static void ResetMask() { npuforge::set_vector_mask(~0ull, ~0ull); }
    // 1: results over the range become infinite, otherwise they saturate.
    static void SetOverflow(uint64_t ctrlValue) { npuforge::set_saturation(ctrlValue != 1); }
    static int32_t GetBitSize(int32_t byteSize) { return byteSize * 8; }
    static int32_t GetC0Size() { return 32; }
    static int32_t GetC0Count(const int32_t dtypeSize) { return 32 / dtypeSize; }
};

}  // namespace AscendC
