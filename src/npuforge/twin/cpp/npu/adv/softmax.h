// SPDX-License-Identifier: Apache-2.0
// The softmax family and its tiling in kernels.
#pragma once
#include "common.h"

namespace AscendC {

enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
    constexpr SoftmaxConfig(const bool isCheckTilingIn) : isCheckTiling(isCheckTilingIn) {}
    constexpr SoftmaxConfig(const bool isCheckTilingIn, const uint32_t oriSrcMIn, const uint32_t oriSrcKIn)
        : isCheckTiling(isCheckTilingIn), oriSrcM(oriSrcMIn), oriSrcK(oriSrcKIn) {}
    constexpr SoftmaxConfig(const bool isCheckTilingIn, const uint32_t oriSrcMIn, const uint32_t oriSrcKIn,
                            const SoftmaxMode modeIn)
        : isCheckTiling(isCheckTilingIn), oriSrcM(oriSrcMIn), oriSrcK(oriSrcKIn), mode(modeIn) {}
    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
    SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
};
struct SoftMaxParams {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
    uint32_t loopCnt{1};
    uint32_t splitMeanCnt{8};
    float alpha{0.9375};
};

namespace internal {

using npuforge::SoftmaxKind;

// The shape comes from the call, else from the tensor, else (reported) from the tiling.
template <typename T, typename Tiling>
npuforge::SoftmaxRows SoftmaxShape(const SoftMaxShapeInfo& info, const LocalTensor<T>& src, const Tiling& tiling, bool nz,
                                   const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG) {
    npuforge::SoftmaxRows rows{info.srcM, info.srcK, info.oriSrcM, info.oriSrcK};
    if (info.srcM == 0 || info.srcK == 0) {
        const ShapeInfo shape = src.GetShapeInfo();
        const auto lastAxis = [](uint8_t dims, const uint32_t* sizes, uint32_t& m, uint32_t& k) {
            m = 1;
            for (int i = 0; i + 1 < dims; ++i) m *= sizes[i];
            k = sizes[dims - 1];
        };
        if (shape.shapeDim > 0 && shape.originalShapeDim > 0) {
            lastAxis(shape.shapeDim, shape.shape, rows.rows, rows.stride);
            lastAxis(shape.originalShapeDim, shape.originalShape, rows.real_rows, rows.columns);
        } else {
            rows = {tiling.srcM, tiling.srcK, tiling.srcM, tiling.srcK};
            rows.shape_given = false;
        }
    }
    if (config.oriSrcM != 0) rows.real_rows = config.oriSrcM;
    if (config.oriSrcK != 0) rows.columns = config.oriSrcK;
    rows.nz = nz;
    rows.row_values_packed = config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC;
    return rows;
}

inline npuforge::Softmax PlainSoftmax(SoftmaxKind kind, const npuforge::SoftmaxRows& shape, const npuforge::Tile& dst,
                                      const npuforge::Tile& src, const npuforge::Tile& sum, const npuforge::Tile& max,
                                      npuforge::Scratch tmp) {
    npuforge::Softmax call{kind, shape, dst, src, sum, max, NoTile(), NoTile(), NoTile(), NoTile()};
    call.tmp = tmp;
    return call;
}

}  // namespace internal

// Each API exists with temporary space from the caller (TMP) and from the framework.
#define NPUFORGE_TMP_PARAMETER const LocalTensor<uint8_t>&sharedTmpBuffer,
#define NPUFORGE_TMP_TILE const npuforge::Tile space = sharedTmpBuffer.AsTile()
#define NPUFORGE_BOTH_TMP(X)                                 \
    X(NPUFORGE_TMP_PARAMETER, NPUFORGE_TMP_TILE, &space)     \
    X(, static_assert(true), nullptr)

#define NPUFORGE_SOFTMAX(TMP, TAKE, SPACE)                                                                         \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,      \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& sumTensor,                          \
                        const LocalTensor<T>& maxTensor, const LocalTensor<T>& srcTensor, TMP                      \
                        const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {              \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_softmax(internal::PlainSoftmax(                                                          \
            internal::SoftmaxKind::SoftMax,                                                                        \
            internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ, config),                   \
            dstTensor.AsTile(), srcTensor.AsTile(), sumTensor.AsTile(), maxTensor.AsTile(), SPACE));               \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,      \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    inline void SoftMax(const LocalTensor<half>& dstTensor, const LocalTensor<float>& sumTensor,                   \
                        const LocalTensor<float>& maxTensor, const LocalTensor<half>& srcTensor, TMP               \
                        const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {              \
        TAKE;                                                                                                      \
        npuforge::library_softmax(internal::PlainSoftmax(                                                          \
            internal::SoftmaxKind::SoftMax,                                                                        \
            internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ, config),                   \
            dstTensor.AsTile(), srcTensor.AsTile(), sumTensor.AsTile(), maxTensor.AsTile(), SPACE));               \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false,                                   \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, TMP                      \
                        const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {              \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_softmax(internal::PlainSoftmax(                                                          \
            internal::SoftmaxKind::SoftMax,                                                                        \
            internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, false, config), dstTensor.AsTile(),        \
            srcTensor.AsTile(), internal::NoTile(), internal::NoTile(), SPACE));                                   \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_SOFTMAX)
#undef NPUFORGE_SOFTMAX

#define NPUFORGE_SIMPLE(TMP, TAKE, SPACE)                                                                          \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,      \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    inline void SimpleSoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& inSumTensor,                  \
                              const LocalTensor<T>& inMaxTensor, const LocalTensor<T>& srcTensor, TMP              \
                              const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {        \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_softmax(internal::PlainSoftmax(                                                          \
            internal::SoftmaxKind::SimpleSoftMax,                                                                  \
            internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ, config),                   \
            dstTensor.AsTile(), srcTensor.AsTile(), inSumTensor.AsTile(), inMaxTensor.AsTile(), SPACE));           \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,      \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    inline void SimpleSoftMax(const LocalTensor<half>& dstTensor, const LocalTensor<float>& inSumTensor,           \
                              const LocalTensor<float>& inMaxTensor, const LocalTensor<half>& srcTensor, TMP       \
                              const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {        \
        TAKE;                                                                                                      \
        npuforge::library_softmax(internal::PlainSoftmax(                                                          \
            internal::SoftmaxKind::SimpleSoftMax,                                                                  \
            internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ, config),                   \
            dstTensor.AsTile(), srcTensor.AsTile(), inSumTensor.AsTile(), inMaxTensor.AsTile(), SPACE));           \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_SIMPLE)
#undef NPUFORGE_SIMPLE

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                       const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                       const LogSoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
    internal::RequireFloating<T>();
    NPUFORGE_TMP_TILE;
    npuforge::library_softmax(internal::PlainSoftmax(
        internal::SoftmaxKind::LogSoftMax, internal::SoftmaxShape(softmaxShapeInfo, src, tiling, isDataFormatNZ),
        dst.AsTile(), src.AsTile(), sum.AsTile(), max.AsTile(), &space));
}

#define NPUFORGE_GRAD(TMP, TAKE, SPACE)                                                                            \
    template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>                                 \
    inline void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,                     \
                            const LocalTensor<T>& srcTensor, TMP const SoftMaxTiling& tiling, bool isFront = false, \
                            const SoftMaxShapeInfo& softmaxShapeInfo = {}) {                                       \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_softmax_grad({internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ), \
                                        dstTensor.AsTile(), gradTensor.AsTile(), srcTensor.AsTile(), isFront,      \
                                        "SoftmaxGrad", SPACE});                                                    \
    }                                                                                                              \
    template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>                                  \
    inline void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,                \
                                 const LocalTensor<T>& srcTensor, TMP const SoftMaxTiling& tiling,                 \
                                 const SoftMaxShapeInfo& softmaxShapeInfo = {}) {                                  \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_softmax_grad({internal::SoftmaxShape(softmaxShapeInfo, srcTensor, tiling, isDataFormatNZ), \
                                        dstTensor.AsTile(), gradTensor.AsTile(), srcTensor.AsTile(), true,         \
                                        "SoftmaxGradFront", SPACE});                                               \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_GRAD)
#undef NPUFORGE_GRAD

template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
inline bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor, const uint32_t from,
                             const T1 to, const SoftMaxShapeInfo& softmaxShapeInfo) {
    internal::RequireFloating<T1>();
    internal::RequireFloating<T2>();
    npuforge::SoftmaxRows rows = internal::SoftmaxShape(softmaxShapeInfo, softMaxRes, SoftMaxTiling(), isDataFormatNZ);
    rows.row_values_packed = stepSizeMode != 0;
    return npuforge::library_adjust_softmax(rows, softMaxRes.AsTile(), maxTensor.AsTile(), from, static_cast<float>(to));
}

}  // namespace AscendC
