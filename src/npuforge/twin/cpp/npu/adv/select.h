// SPDX-License-Identifier: Apache-2.0
// High-level selection by a mask of bytes, drop-out, TopK, sequences.
#pragma once
#include "shared_enums.h"
#include "softmax.h"

namespace AscendC {

struct SelectWithBytesMaskShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};
struct DropOutShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

namespace internal {

template <typename U>
inline constexpr bool IsMaskType = OneOf<U, bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;

template <typename T, typename U>
void SelectBytes(const LocalTensor<T>& dst, const LocalTensor<T>& src, T other, const LocalTensor<U>& mask,
                 const LocalTensor<uint8_t>& tmp, const SelectWithBytesMaskShapeInfo& info, bool keepWhereZero) {
    RequireFloating<T>();
    static_assert(IsMaskType<U>, "[ADV-01] SelectWithBytesMask takes masks of bool and integers up to 32 bits");
    if (info.maskLastAxis * sizeof(U) % 32 != 0 || info.maskLastAxis % 16 != 0)
        npuforge::report("ADV-02", "SelectWithBytesMask: the mask's last axis of %u is not a multiple of 32 bytes and 16 elements",
                         info.maskLastAxis);
    const npuforge::Tile space = tmp.AsTile();
    npuforge::MaskedSelect call{"SelectWithBytesMask", dst.AsTile(), src.AsTile(), mask.AsTile(), static_cast<float>(other),
                                info.firstAxis, info.srcLastAxis, info.maskLastAxis, keepWhereZero};
    call.clobbers_mask = info.maskLastAxis != info.srcLastAxis;
    call.least_tmp = 512;  // a repeat of masks as half, and their bits
    call.tmp = &space;
    npuforge::library_masked_select(call);
}

}  // namespace internal

// A mask of zero takes the first operand.
#define NPUFORGE_BYTES_MASK(NAME)                                                                                  \
    template <typename T, typename U, bool isReuseMask = true>                                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1, const LocalTensor<U>& mask,    \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info) {      \
        internal::SelectBytes(dst, src0, src1, mask, sharedTmpBuffer, info, true);                                 \
    }                                                                                                              \
    template <typename T, typename U, bool isReuseMask = true>                                                     \
    inline void NAME(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1, const LocalTensor<U>& mask,    \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info) {      \
        internal::SelectBytes(dst, src1, src0, mask, sharedTmpBuffer, info, false);                                \
    }
NPUFORGE_BYTES_MASK(Select)
NPUFORGE_BYTES_MASK(SelectWithBytesMask)
#undef NPUFORGE_BYTES_MASK

// Mode 0 tells bytes from bits by the mask's width.
#define NPUFORGE_DROP_OUT(TMP, TAKE, SPACE)                                                                        \
    template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>                                    \
    inline void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                            \
                        const LocalTensor<uint8_t>& maskLocal, TMP const float keepProb,                           \
                        const DropOutShapeInfo& info) {                                                            \
        internal::RequireFloating<T>();                                                                            \
        static_assert(dropOutMode <= 4, "[ADV-02] dropOutMode is 0 to 4");                                         \
        TAKE;                                                                                                      \
        npuforge::MaskedSelect call{"DropOut", dstLocal.AsTile(), srcLocal.AsTile(), maskLocal.AsTile(), 0.0f,     \
                                    info.firstAxis, info.srcLastAxis, info.maskLastAxis, false};                   \
        call.bits = dropOutMode >= 3 || (dropOutMode == 0 && info.maskLastAxis < info.srcLastAxis);                \
        call.scale = 1.0f / keepProb;                                                                              \
        call.clobbers_mask = dropOutMode == 1 || dropOutMode == 4;                                                 \
        call.tmp = SPACE;                                                                                          \
        npuforge::library_masked_select(call);                                                                     \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_DROP_OUT)
#undef NPUFORGE_DROP_OUT

struct TopKInfo {
    int32_t outter = 1;
    int32_t inner;
    int32_t n;
};

#define NPUFORGE_COMMA ,
#define NPUFORGE_TOP_K(TMP, SPACE, TAKE)                                                                           \
    template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,             \
              enum TopKMode topkMode = TopKMode::TOPK_NORMAL>                                                      \
    inline void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,               \
                     const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,                    \
                     const LocalTensor<bool>& finishLocal, TMP const int32_t k, const TopkTiling& tilling,         \
                     const TopKInfo& topKInfo, const bool isLargest = true) {                                      \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_top_k({dstValueLocal.AsTile(), dstIndexLocal.AsTile(), srcLocal.AsTile(),                \
                                 srcIndexLocal.AsTile(), finishLocal.AsTile(), k, topKInfo.outter,                 \
                                 topKInfo.inner, topKInfo.n, isInitIndex, isHasfinish, isLargest,                  \
                                 topkMode == TopKMode::TOPK_NSMALL, SPACE});                                       \
    }
NPUFORGE_TOP_K(const LocalTensor<uint8_t>& tmpLocal NPUFORGE_COMMA, &space, const npuforge::Tile space = tmpLocal.AsTile())
NPUFORGE_TOP_K(, nullptr, static_assert(true))
#undef NPUFORGE_TOP_K
#undef NPUFORGE_COMMA

// first, first + step, ...; ArithProgression is the former name of Arange.
#define NPUFORGE_SEQUENCE(NAME)                                                                                    \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const int32_t count) {      \
        static_assert(internal::OneOf<T, int16_t, half, int32_t, float>,                                           \
                      "[ADV-01] " #NAME " takes int16_t, half, int32_t and float");                                \
        npuforge::library_arange(dst.AsTile(), npuforge::to_scalar(firstValue), npuforge::to_scalar(diffValue), count, #NAME); \
    }
NPUFORGE_SEQUENCE(Arange)
NPUFORGE_SEQUENCE(ArithProgression)
#undef NPUFORGE_SEQUENCE

// The present name of InitGlobalMemory.
template <typename T> inline void Fill(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value) {
    static_assert(internal::OneOf<T, uint16_t, int16_t, half, uint32_t, int32_t, float>,
                  "[ADV-01] Fill takes 16 and 32 bit types");
    InitGlobalMemory<T>(gmWorkspaceAddr, size, value);
}

}  // namespace AscendC
