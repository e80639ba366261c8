// SPDX-License-Identifier: Apache-2.0
// Gather by byte offset, by block, and by pattern.
#pragma once
#include "abi_more.h"
#include "extent.h"
#include "params.h"

namespace AscendC {

struct GatherRepeatParams {
    GatherRepeatParams() = default;
    GatherRepeatParams(const uint8_t dstBlk, const uint8_t dstRep) : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE, src0BlkStride = DEFAULT_BLK_STRIDE, src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE, src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false, strideSizeMode = false;
};

enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
inline constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;
inline constexpr GatherMaskMode defaultGahterMaskMode = GatherMaskMode::VERSION_V2;  // the public spelling

struct GatherMaskParams {
    GatherMaskParams() = default;
    GatherMaskParams(const uint8_t src0Block, const uint16_t repeats, const uint16_t src0Repeat, const uint8_t src1Repeat)
        : src0BlockStride(src0Block), repeatTimes(repeats), src0RepeatStride(src0Repeat), src1RepeatStride(src1Repeat) {}
    uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

namespace internal {
template <typename T> constexpr void OnlyTwoAndFourBytes() {
    static_assert(AnyOf<T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>,
                  "[DTY-13] gathers take 16 and 32 bit types on 2201");
}
}  // namespace internal

template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint32_t count) {
    internal::OnlyTwoAndFourBytes<T>();
    npuforge::gather(npuforge::Extent::elements(count), dst.AsTile(), src.AsTile(), srcOffset.AsTile(), srcBaseOffset);
}
template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint64_t mask, const uint8_t repeatTime, const uint16_t dstRepStride) {
    internal::OnlyTwoAndFourBytes<T>();
    npuforge::gather(internal::ExtentOf(mask, repeatTime, true), dst.AsTile(1, dstRepStride), src.AsTile(), srcOffset.AsTile(),
                     srcBaseOffset);
}
template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint64_t mask[], const uint8_t repeatTime, const uint16_t dstRepStride) {
    internal::OnlyTwoAndFourBytes<T>();
    npuforge::gather(internal::ExtentOf(mask, repeatTime, true), dst.AsTile(1, dstRepStride), src.AsTile(), srcOffset.AsTile(),
                     srcBaseOffset);
}

template <typename T>
inline void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& offset,
                    const uint8_t repeatTime, const GatherRepeatParams& repeatParams) {
    internal::OnlyTwoAndFourBytes<T>();
    const uint16_t blockStride = repeatParams.dstBlkStride == 0 ? 1 : repeatParams.dstBlkStride;
    npuforge::gather_blocks(dst.AsTile(blockStride, repeatParams.dstRepStride), src.AsTile(), offset.AsTile(), repeatTime);
}

// Both forms leave normal mode behind, whatever mode was set.
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt) {
    internal::OnlyTwoAndFourBytes<T>();
    static_assert(sizeof(T) == sizeof(U) && std::is_unsigned_v<U>,
                  "[GTH-04] the pattern of GatherMask is uint16_t for 16 bit and uint32_t for 32 bit types");
    const GatherMaskParams& p = gatherMaskParams;
    rsvdCnt = npuforge::gather_mask({dst.AsTile(), src0.AsTile(p.src0BlockStride, p.src0RepeatStride),
                                     src1Pattern.AsTile(1, p.src1RepeatStride), 0, reduceMode, mask, p.repeatTimes});
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern, const bool reduceMode,
                       const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt) {
    internal::OnlyTwoAndFourBytes<T>();
    const GatherMaskParams& p = gatherMaskParams;
    rsvdCnt = npuforge::gather_mask({dst.AsTile(), src0.AsTile(p.src0BlockStride, p.src0RepeatStride), npuforge::Tile{},
                                     src1Pattern, reduceMode, mask, p.repeatTimes});
}

}  // namespace AscendC
