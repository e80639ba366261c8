// SPDX-License-Identifier: Apache-2.0
// Softmax in blocks along the row, as attention kernels use it.
#pragma once
#include "softmax.h"

namespace AscendC {

namespace internal {

template <typename T, typename U>
void FlashSoftmax(SoftmaxKind kind, const npuforge::SoftmaxRows& shape, const LocalTensor<T>& dst,
                  const LocalTensor<U>& sum, const LocalTensor<U>& max, const LocalTensor<T>& src,
                  const LocalTensor<T>& expMax, const LocalTensor<U>& inSum, const LocalTensor<U>& inMax,
                  npuforge::Scratch tmp, bool update, bool basicBlock, const npuforge::Tile& reduceMax) {
    RequireFloating<T>();
    npuforge::Softmax call = PlainSoftmax(kind, shape, dst.AsTile(), src.AsTile(), sum.AsTile(), max.AsTile(), tmp);
    call.exp_max = expMax.AsTile();
    call.in_sum = inSum.AsTile();
    call.in_max = inMax.AsTile();
    call.reduce_max = reduceMax;
    call.update = update;
    call.basic_block = basicBlock;
    npuforge::library_softmax(call);
}

}  // namespace internal

#define NPUFORGE_FLASH(TMP, TAKE, SPACE)                                                                           \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                   \
    inline void SoftmaxFlash(const LocalTensor<T>& dstTensor, const LocalTensor<T>& sumTensor,                     \
                             const LocalTensor<T>& maxTensor, const LocalTensor<T>& srcTensor,                     \
                             const LocalTensor<T>& expMaxTensor, const LocalTensor<T>& inSumTensor,                \
                             const LocalTensor<T>& inMaxTensor, TMP const SoftMaxTiling& tiling,                   \
                             bool isUpdate = false, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {               \
        TAKE;                                                                                                      \
        internal::FlashSoftmax(internal::SoftmaxKind::SoftmaxFlash,                                                \
                               internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, false), dstTensor,      \
                               sumTensor, maxTensor, srcTensor, expMaxTensor, inSumTensor, inMaxTensor, SPACE,     \
                               isUpdate, isBasicBlock, internal::NoTile());                                        \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                   \
    inline void SoftmaxFlash(const LocalTensor<half>& dstTensor, const LocalTensor<float>& sumTensor,              \
                             const LocalTensor<float>& maxTensor, const LocalTensor<half>& srcTensor,              \
                             const LocalTensor<half>& expMaxTensor, const LocalTensor<float>& inSumTensor,         \
                             const LocalTensor<float>& inMaxTensor, TMP const SoftMaxTiling& tiling,               \
                             bool isUpdate = false, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {               \
        TAKE;                                                                                                      \
        internal::FlashSoftmax(internal::SoftmaxKind::SoftmaxFlash,                                                \
                               internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, false), dstTensor,      \
                               sumTensor, maxTensor, srcTensor, expMaxTensor, inSumTensor, inMaxTensor, SPACE,     \
                               isUpdate, isBasicBlock, internal::NoTile());                                        \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_FLASH)
#undef NPUFORGE_FLASH

#define NPUFORGE_FLASH_TEMPLATE                                                                                    \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,            \
              bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
#define NPUFORGE_FLASH_V2(TMP, TAKE, SPACE)                                                                        \
    NPUFORGE_FLASH_TEMPLATE                                                                                        \
    inline void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<T>& expSumTensor,                \
                               const LocalTensor<T>& maxTensor, const LocalTensor<T>& srcTensor,                   \
                               const LocalTensor<T>& expMaxTensor, const LocalTensor<T>& inExpSumTensor,           \
                               const LocalTensor<T>& inMaxTensor, TMP const SoftMaxTiling& tiling,                 \
                               const SoftMaxShapeInfo& softmaxShapeInfo = {}) {                                    \
        TAKE;                                                                                                      \
        internal::FlashSoftmax(internal::SoftmaxKind::SoftmaxFlashV2,                                              \
                               internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ, config), \
                               dstTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inExpSumTensor,        \
                               inMaxTensor, SPACE, isUpdate, isBasicBlock, internal::NoTile());                    \
    }                                                                                                              \
    NPUFORGE_FLASH_TEMPLATE                                                                                        \
    inline void SoftmaxFlashV2(const LocalTensor<half>& dstTensor, const LocalTensor<float>& expSumTensor,         \
                               const LocalTensor<float>& maxTensor, const LocalTensor<half>& srcTensor,            \
                               const LocalTensor<half>& expMaxTensor, const LocalTensor<float>& inExpSumTensor,    \
                               const LocalTensor<float>& inMaxTensor, TMP const SoftMaxTiling& tiling,             \
                               const SoftMaxShapeInfo& softmaxShapeInfo = {}) {                                    \
        TAKE;                                                                                                      \
        internal::FlashSoftmax(internal::SoftmaxKind::SoftmaxFlashV2,                                              \
                               internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ, config), \
                               dstTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inExpSumTensor,        \
                               inMaxTensor, SPACE, isUpdate, isBasicBlock, internal::NoTile());                    \
    }                                                                                                              \
    NPUFORGE_FLASH_TEMPLATE                                                                                        \
    inline void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<T>& outReduceMax,                \
                               const LocalTensor<T>& outExpSum, const LocalTensor<T>& outMax,                      \
                               const LocalTensor<T>& srcTensor, const LocalTensor<T>& outExpMax,                   \
                               const LocalTensor<T>& inExpSum, const LocalTensor<T>& inMax, TMP                    \
                               const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {       \
        TAKE;                                                                                                      \
        internal::FlashSoftmax(internal::SoftmaxKind::SoftmaxFlashV2,                                              \
                               internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ, config), \
                               dstTensor, outExpSum, outMax, srcTensor, outExpMax, inExpSum, inMax, SPACE,         \
                               isUpdate, isBasicBlock, outReduceMax.AsTile());                                     \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_FLASH_V2)
#undef NPUFORGE_FLASH_V2
#undef NPUFORGE_FLASH_TEMPLATE

#define NPUFORGE_FLASH_V3(TMP, TAKE, SPACE)                                                                        \
    template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, \
              bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                      \
    inline void SoftmaxFlashV3(const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor,                  \
                               const LocalTensor<U>& expSumTensor, const LocalTensor<U>& maxTensor,                \
                               const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,                \
                               const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor,           \
                               const LocalTensor<U>& inMaxTensor, TMP const SoftMaxTiling& tiling,                 \
                               const SoftMaxParams& params) {                                                      \
        static_assert(std::is_same_v<T, half> && std::is_same_v<U, float>,                                         \
                      "[ADV-01] SoftmaxFlashV3 takes half data with float row values");                            \
        TAKE;                                                                                                      \
        npuforge::library_softmax_v3({{params.srcM, params.srcK, params.oriSrcM, params.oriSrcK},                  \
                                      dstTensor.AsTile(), srcTensor.AsTile(), expMaxTensor.AsTile(),               \
                                      meanTensor.AsTile(), expSumTensor.AsTile(), maxTensor.AsTile(),              \
                                      inMeanTensor.AsTile(), inExpSumTensor.AsTile(), inMaxTensor.AsTile(),        \
                                      params.loopCnt, params.splitMeanCnt, params.alpha, isUpdate, SPACE});        \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_FLASH_V3)
#undef NPUFORGE_FLASH_V3

// How many rows fit into `localWorkSpaceSize` bytes, for shapes known only in the kernel.
inline constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo& shapeInfo, const uint32_t dataTypeSize1,
                                                        const uint32_t dataTypeSize2, const uint32_t localWorkSpaceSize,
                                                        const bool isUpdate = false, const bool isBasicBlock = false,
                                                        const bool isDataFormatNZ = false,
                                                        const bool isFlashOutputBrc = false) {
    const uint32_t rows = shapeInfo.srcM, columns = shapeInfo.srcK;
    const uint32_t block = 32 / dataTypeSize2, repeat = 64;
    const uint32_t step = isFlashOutputBrc && dataTypeSize1 == 2 ? 16 : 8;
    const bool basic = isBasicBlock && rows % 8 == 0 && columns % repeat == 0;
    const uint32_t widened = dataTypeSize1 == 2 ? columns : 0;
    uint32_t perRow = dataTypeSize1 == 2 ? 2 * block + columns + repeat : block + repeat;
    if (isDataFormatNZ) perRow = 2 * block + 2 * columns;
    else if (basic) perRow = block + widened + repeat * (columns == 1024 ? 2 : 1);
    uint32_t atOnce = localWorkSpaceSize / static_cast<uint32_t>(sizeof(float)) / perRow;
    if (atOnce > rows) atOnce = rows;
    if (atOnce < rows && atOnce > step) atOnce = atOnce / step * step;
    if (basic && atOnce > 8) {
        atOnce = atOnce / 8 * 8;
        while (rows % atOnce != 0) atOnce -= 8;
        while (atOnce * columns >= repeat * 256) atOnce /= 2;
    }
    const uint32_t tail = atOnce == 0 ? 0 : rows % atOnce;
    SoftMaxTiling tiling;
    tiling.srcM = rows;
    tiling.srcK = columns;
    tiling.srcSize = rows * columns;
    tiling.outMaxM = rows;
    tiling.outMaxK = block;
    tiling.outMaxSize = rows * block;
    tiling.splitM = atOnce;
    tiling.splitK = columns;
    tiling.splitSize = atOnce * columns;
    tiling.reduceM = atOnce;
    tiling.reduceK = block;
    tiling.reduceSize = atOnce * block;
    tiling.rangeM = atOnce == 0 ? 0 : rows / atOnce;
    tiling.tailM = tail;
    tiling.tailSplitSize = tail * columns;
    tiling.tailReduceSize = tail * block;
    return tiling;
}

}  // namespace AscendC
