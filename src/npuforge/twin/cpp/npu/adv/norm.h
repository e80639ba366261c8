// SPDX-License-Identifier: Apache-2.0
// High-level normalisation. Shapes come from the tiling structures, as on the device.
#pragma once
#include "shared_enums.h"
#include "softmax.h"

namespace AscendC {

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true;
};
inline constexpr LayerNormConfig LNCFG_NORM = {false, false, false, true};
struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};
struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};
struct WelfordUpdateConfig {
    constexpr WelfordUpdateConfig(const bool isInplaceIn) : isInplace(isInplaceIn) {}
    bool isInplace = false;
};
inline constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
struct WelfordUpdateParam {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t abComputeLength;
    float nRec;
};
struct WelfordFinalizePara {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t headCount;
    uint32_t headCountLength;
    uint32_t tailCount;
    uint32_t tailCountLength;
    float abRec;
    float rRec;
};
struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
inline constexpr NormalizeConfig NLCFG_NORM = {ReducePattern::AR, -1, false, false, false};
inline constexpr NormalizeConfig NLCFG_NOBETA = {ReducePattern::AR, -1, true, false, false};
inline constexpr NormalizeConfig NLCFG_NOGAMMA = {ReducePattern::AR, -1, false, true, false};
inline constexpr NormalizeConfig NLCFG_NOOPT = {ReducePattern::AR, -1, true, true, false};
struct NormalizePara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

namespace internal {

template <typename T, typename Mean, typename Weight>
npuforge::RowNorm Rows(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<Mean>& mean,
                       const LocalTensor<Mean>& spread, const LocalTensor<Weight>& gamma, const LocalTensor<Weight>& beta,
                       uint32_t rows, uint32_t columns, uint32_t stride, float epsilon, npuforge::Scratch tmp) {
    RequireFloating<T>();
    npuforge::RowNorm call{name,           dst.AsTile(),   src.AsTile(),  mean.AsTile(), spread.AsTile(),
                           gamma.AsTile(), beta.AsTile(),  NoTile(),      NoTile(),      NoTile(),
                           rows,           columns,        stride};
    call.epsilon = epsilon;
    call.tmp = tmp;
    return call;
}

template <typename T, typename Tiling>
void LayerNormRows(const LocalTensor<T>& output, const LocalTensor<T>& mean, const LocalTensor<T>& variance,
                   const LocalTensor<T>& x, const LocalTensor<T>& gamma, const LocalTensor<T>& beta, float epsilon,
                   const Tiling& tiling, npuforge::Scratch tmp, bool reuse) {
    npuforge::RowNorm call = Rows("LayerNorm", output, x, mean, variance, gamma, beta, tiling.bLength * tiling.sLength,
                                  tiling.originalHLength, tiling.hLength, epsilon, tmp);
    call.reuse_source = reuse && sizeof(T) == 4;
    npuforge::library_row_norm(call);
}

template <typename U, typename T, const LayerNormConfig& config>
void LayerNormSeparate(const LocalTensor<T>& output, const LocalTensor<float>& mean, const LocalTensor<float>& rstd,
                       const LocalTensor<T>& x, const LocalTensor<U>& gamma, const LocalTensor<U>& beta, float epsilon,
                       const LayerNormPara& para, npuforge::Scratch tmp, bool reuse) {
    static_assert(sizeof(U) >= sizeof(T), "[ADV-01] gamma and beta are not less precise than the data");
    static_assert(config.isOutputRstd, "[DTY-21] the form with variances does not exist on 2201");
    npuforge::RowNorm call = Rows("LayerNorm", output, x, mean, rstd, gamma, beta, para.aLength, para.rLength,
                                  para.rLengthWithPadding, epsilon, tmp);
    if (config.isNoGamma) call.gamma = NoTile();
    if (config.isNoBeta) call.beta = NoTile();
    call.spread_is_rstd = true;
    call.in_place = false;
    call.reuse_source = reuse && sizeof(T) == 4;
    npuforge::library_row_norm(call);
}

}  // namespace internal

#define NPUFORGE_NORMS(TMP, TAKE, SPACE)                                                                           \
    template <typename T, bool isReuseSource = false>                                                              \
    inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                          \
                          const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,                      \
                          const LocalTensor<T>& gamma, const LocalTensor<T>& beta, TMP const T epsilon,            \
                          LayerNormTiling& tiling) {                                                               \
        TAKE;                                                                                                      \
        internal::LayerNormRows(output, outputMean, outputVariance, inputX, gamma, beta,                           \
                                static_cast<float>(epsilon), tiling, SPACE, isReuseSource);                        \
    }                                                                                                              \
    template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>      \
    inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,                      \
                          const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX,                      \
                          const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon, TMP        \
                          const LayerNormPara& para, const LayerNormSeparateTiling& tiling) {                      \
        TAKE;                                                                                                      \
        internal::LayerNormSeparate<U, T, config>(output, outputMean, outputRstd, inputX, gamma, beta, epsilon,    \
                                                  para, SPACE, isReuseSource);                                     \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    inline void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                          \
                          const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,                      \
                          const LocalTensor<T>& gamma, const LocalTensor<T>& beta, TMP const T epsilon,            \
                          GroupNormTiling& tiling) {                                                               \
        TAKE;                                                                                                      \
        /* H x W starts at a block; a tiling without that length was made by hand. */                              \
        const uint32_t area = tiling.hwAlignSize != 0 ? tiling.hwAlignSize : tiling.hw;                            \
        npuforge::RowNorm call = internal::Rows("GroupNorm", output, inputX, outputMean, outputVariance, gamma,    \
                                                beta, tiling.n * tiling.g, tiling.d * tiling.hw,                   \
                                                tiling.d * area, static_cast<float>(epsilon), SPACE);              \
        call.columns_per_gamma = tiling.hw;                                                                        \
        call.gamma_stride = area;                                                                                  \
        call.gammas_per_row_step = tiling.d;                                                                       \
        call.groups = tiling.g;                                                                                    \
        npuforge::library_row_norm(call);                                                                          \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                   \
    inline void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                          \
                          const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,                      \
                          const LocalTensor<T>& gamm, const LocalTensor<T>& beta, TMP const T epsilon,             \
                          BatchNormTiling& tiling) {                                                               \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::library_batch_norm({output.AsTile(), outputMean.AsTile(), outputVariance.AsTile(),               \
                                      inputX.AsTile(), gamm.AsTile(), beta.AsTile(), tiling.originalBLength,       \
                                      tiling.meanVarSize, tiling.originalBLength, static_cast<float>(epsilon),     \
                                      isReuseSource && sizeof(T) == 4, SPACE});                                    \
    }                                                                                                              \
    /* rstdLocal receives the variance, whatever its name says. */                                                \
    template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>                                      \
    inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal,                          \
                         const LocalTensor<T>& rstdLocal, const LocalTensor<T>& srcLocal,                          \
                         const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,                           \
                         const LocalTensor<T>& gammaLocal, TMP const T alpha, const T epsilon,                     \
                         DeepNormTiling& tiling) {                                                                 \
        TAKE;                                                                                                      \
        npuforge::RowNorm call = internal::Rows("DeepNorm", dstLocal, srcLocal, meanLocal, rstdLocal, gammaLocal,  \
                                                betaLocal, tiling.bLength * tiling.sLength, tiling.originalHLength, \
                                                tiling.hLength, static_cast<float>(epsilon), SPACE);               \
        call.residual = gxLocal.AsTile();                                                                          \
        call.alpha = static_cast<float>(alpha);                                                                    \
        call.in_place = isReuseSrc;                                                                                \
        call.reuse_source = isReuseSrc && sizeof(T) == 4;                                                          \
        npuforge::library_row_norm(call);                                                                          \
    }                                                                                                              \
    template <typename T, bool isBasicBlock = false>                                                               \
    inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                            \
                        const LocalTensor<T>& gammaLocal, TMP const T epsilon, const RmsNormTiling& tiling) {      \
        TAKE;                                                                                                      \
        const LocalTensor<T> none;                                                                                 \
        npuforge::RowNorm call = internal::Rows("RmsNorm", dstLocal, srcLocal, none, none, gammaLocal, none,       \
                                                tiling.bLength * tiling.sLength, tiling.originalHLength,           \
                                                tiling.hLength, static_cast<float>(epsilon), SPACE);               \
        call.root_mean_square = true;                                                                              \
        npuforge::library_row_norm(call);                                                                          \
    }                                                                                                              \
    template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>      \
    inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,                      \
                          const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,            \
                          const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta, TMP \
                          const float epsilon, const NormalizePara& para) {                                        \
        static_assert(sizeof(U) >= sizeof(T), "[ADV-01] gamma and beta are not less precise than the data");       \
        static_assert(config.reducePattern == ReducePattern::AR, "[ADV-02] Normalize works along the last axis");  \
        TAKE;                                                                                                      \
        const LocalTensor<float> none;                                                                             \
        npuforge::RowNorm call = internal::Rows("Normalize", output, inputX, none, outputRstd, gamma, beta,        \
                                                para.aLength, para.rLength, para.rLengthWithPadding, epsilon,      \
                                                SPACE);                                                            \
        call.given_mean = inputMean.AsTile();                                                                      \
        call.given_variance = inputVariance.AsTile();                                                              \
        if (config.isNoGamma) call.gamma = internal::NoTile();                                                     \
        if (config.isNoBeta) call.beta = internal::NoTile();                                                       \
        if (config.isOnlyOutput) call.spread = internal::NoTile();                                                 \
        call.spread_is_rstd = true;                                                                                \
        call.in_place = false;                                                                                     \
        npuforge::library_row_norm(call);                                                                          \
    }                                                                                                              \
    template <typename T, typename U, bool isReuseSource = false,                                                  \
              const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>                                            \
    inline void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,              \
                              const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,                \
                              const LocalTensor<T>& inputX, TMP const WelfordUpdateParam& para) {                  \
        static_assert(std::is_same_v<U, float>, "[ADV-01] means and variances are float");                         \
        internal::RequireFloating<T>();                                                                            \
        TAKE;                                                                                                      \
        npuforge::Welford call{outputMean.AsTile(), outputVariance.AsTile(), inputMean.AsTile(),                   \
                               inputVariance.AsTile(), inputX.AsTile(), internal::NoTile(), para.abLength,         \
                               para.abComputeLength, para.nRec};                                                   \
        call.in_place = config.isInplace;                                                                          \
        call.reuse_source = isReuseSource && sizeof(T) == 4;                                                       \
        call.tmp = SPACE;                                                                                          \
        npuforge::library_welford_update(call);                                                                    \
    }                                                                                                              \
    template <bool isReuseSource = false>                                                                          \
    inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,    \
                                const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance, TMP  \
                                WelfordFinalizePara& para) {                                                       \
        TAKE;                                                                                                      \
        internal::FinishWelford(outputMean, outputVariance, inputMean, inputVariance, internal::NoTile(), para, SPACE); \
    }                                                                                                              \
    template <bool isReuseSource = false>                                                                          \
    inline void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,    \
                                const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,      \
                                const LocalTensor<int32_t>& counts, TMP WelfordFinalizePara& para) {               \
        TAKE;                                                                                                      \
        internal::FinishWelford(outputMean, outputVariance, inputMean, inputVariance, counts.AsTile(), para, SPACE); \
    }

namespace internal {

inline void FinishWelford(const LocalTensor<float>& outMean, const LocalTensor<float>& outVariance,
                          const LocalTensor<float>& mean, const LocalTensor<float>& variance, const npuforge::Tile& counts,
                          const WelfordFinalizePara& para, npuforge::Scratch tmp) {
    npuforge::Welford call{outMean.AsTile(), outVariance.AsTile(), mean.AsTile(), variance.AsTile(), NoTile(), counts,
                           para.abLength, para.abLength, para.rRec, para.abRec, para.rnLength, para.headCount,
                           para.headCountLength, para.tailCount};
    call.tmp = tmp;
    npuforge::library_welford_finalize(call);
}

}  // namespace internal

NPUFORGE_BOTH_TMP(NPUFORGE_NORMS)
#undef NPUFORGE_NORMS

namespace internal {

template <typename T>
void LayerNormBackward(const LocalTensor<T>& dx, const LocalTensor<T>& forGamma, const LocalTensor<T>& dy,
                       const LocalTensor<T>& x, const LocalTensor<T>& variance, const LocalTensor<T>& mean,
                       const LocalTensor<T>& gamma, T epsilon, const LayerNormGradTiling& tiling, npuforge::Scratch tmp,
                       bool reuse) {
    RequireFloating<T>();
    npuforge::library_layer_norm_grad({dx.AsTile(), forGamma.AsTile(), dy.AsTile(), x.AsTile(), variance.AsTile(),
                                       mean.AsTile(), gamma.AsTile(), tiling.bLength * tiling.sLength,
                                       tiling.originalHLength, tiling.hLength, static_cast<float>(epsilon),
                                       reuse && sizeof(T) == 4, tmp});
}

}  // namespace internal

template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                          const LocalTensor<T>& inputX, const LocalTensor<T>& inputVariance,
                          const LocalTensor<T>& inputMean, const LocalTensor<T>& inputGamma,
                          LocalTensor<uint8_t>& sharedTmpBuffer, T epsilon, LayerNormGradTiling& tiling,
                          const LayerNormGradShapeInfo& shapeInfo = {}) {
    NPUFORGE_TMP_TILE;
    internal::LayerNormBackward(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma, epsilon, tiling,
                                &space, isReuseSource);
}
template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                          const LocalTensor<T>& inputX, const LocalTensor<T>& inputVariance,
                          const LocalTensor<T>& inputMean, const LocalTensor<T>& inputGamma, T epsilon,
                          LayerNormGradTiling& tiling, const LayerNormGradShapeInfo& shapeInfo = {}) {
    internal::LayerNormBackward(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma, epsilon, tiling,
                                nullptr, isReuseSource);
}

template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,
                              const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                              const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormGradBetaTiling& tiling) {
    internal::RequireFloating<T>();
    NPUFORGE_TMP_TILE;
    npuforge::library_layer_norm_grad_beta(outputPdGamma.AsTile(), outputPdBeta.AsTile(), resForGamma.AsTile(),
                                           inputDy.AsTile(), tiling.bLength * tiling.sLength, tiling.originalHLength,
                                           tiling.hLength, &space);
}
template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,
                              const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                              LayerNormGradBetaTiling& tiling) {
    internal::RequireFloating<T>();
    npuforge::library_layer_norm_grad_beta(outputPdGamma.AsTile(), outputPdBeta.AsTile(), resForGamma.AsTile(),
                                           inputDy.AsTile(), tiling.bLength * tiling.sLength, tiling.originalHLength,
                                           tiling.hLength, nullptr);
}

}  // namespace AscendC
