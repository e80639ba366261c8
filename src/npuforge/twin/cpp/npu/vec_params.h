// SPDX-License-Identifier: Apache-2.0
// What the headers of the vector instructions share: type lists, the repeat argument, extents.
#pragma once
#include "params.h"
#include "tensor.h"

namespace AscendC {

// Parameters of Brcb, in 32 B blocks.
struct BrcbRepeatParams {
    BrcbRepeatParams() = default;
    BrcbRepeatParams(const uint16_t dstBlk, const uint16_t dstRep) : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

inline constexpr int32_t VDEQ_TENSOR_SIZE = 16;
struct VdeqInfo {
    VdeqInfo() = default;
    VdeqInfo(const float scales[VDEQ_TENSOR_SIZE], const int16_t offsets[VDEQ_TENSOR_SIZE],
             const bool signs[VDEQ_TENSOR_SIZE]) {
        for (int32_t i = 0; i < VDEQ_TENSOR_SIZE; ++i) {
            vdeqScale[i] = scales[i];
            vdeqOffset[i] = offsets[i];
            vdeqSignMode[i] = signs[i];
        }
    }
    float vdeqScale[VDEQ_TENSOR_SIZE] = {};
    int16_t vdeqOffset[VDEQ_TENSOR_SIZE] = {};
    bool vdeqSignMode[VDEQ_TENSOR_SIZE] = {};
};

// Stands for `uint8_t` where a repeat count is passed: the conversion that would wrap in silence
// (rule VEC-02) is seen here.
class RepeatTime {
public:
    template <typename V, typename = std::enable_if_t<std::is_convertible_v<V, int64_t>>>
    RepeatTime(V value) : value_(static_cast<uint8_t>(static_cast<int64_t>(value))) {
        const auto wide = static_cast<int64_t>(value);
        if (__builtin_expect(wide < 0 || wide > MAX_REPEAT_TIMES, 0))
            npuforge::report("VEC-02", "repeatTime %lld becomes %d: the field holds 0 to 255",
                             static_cast<long long>(wide), static_cast<int>(value_));
    }
    operator uint8_t() const { return value_; }

private:
    uint8_t value_;
};

namespace internal {

template <typename R>
using WideRepeat = std::enable_if_t<std::is_convertible_v<R, int64_t> && !std::is_same_v<R, uint8_t>, int>;

template <typename T, typename... Allowed> inline constexpr bool OneOf = (std::is_same_v<T, Allowed> || ...);
template <typename T> inline constexpr bool IsArithmetic = OneOf<T, int16_t, half, int32_t, float>;
template <typename T> inline constexpr bool IsFloating = OneOf<T, half, float>;
template <typename T> inline constexpr bool IsReluType = OneOf<T, half, int32_t, float>;
template <typename T> inline constexpr bool IsFusedReluType = OneOf<T, int16_t, half, float>;
template <typename T> inline constexpr bool IsBitwise = OneOf<T, int16_t, uint16_t>;
template <typename T> inline constexpr bool IsWord = OneOf<T, int32_t, uint32_t>;
template <typename T> inline constexpr bool IsShiftable = OneOf<T, int16_t, uint16_t, int32_t, uint32_t>;
template <typename T> inline constexpr bool IsMovable = OneOf<T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>;
// Wide accumulation: half operands, float result.
template <typename T, typename U> inline constexpr bool IsAccumulation =
    (IsFloating<T> && std::is_same_v<T, U>) || (std::is_same_v<T, float> && std::is_same_v<U, half>);

inline npuforge::Extent Lanes(const uint64_t mask, uint8_t repeat, bool setMask) {
    const npuforge::Extent extent = npuforge::Extent::lanes(mask, repeat);
    return setMask ? extent : extent.in_register();
}
inline npuforge::Extent Lanes(const uint64_t* mask, uint8_t repeat, bool setMask) {
    const npuforge::Extent extent = npuforge::Extent::bits(mask, repeat);
    return setMask ? extent : extent.in_register();
}
// A call with a count that leaves the mask alone runs one repeat, or what the register counts.
inline npuforge::Extent Elements(int64_t count, bool setMask = true) {
    const npuforge::Extent extent = npuforge::Extent::elements(count);
    return setMask ? extent : extent.in_register();
}

// The element type of `tensor(i)` used as a scalar argument; void for anything else.
template <typename S> struct ElementOf { using Type = void; };
template <typename T> struct ElementOf<ElementRef<T>> { using Type = T; };

}  // namespace internal
}  // namespace AscendC
