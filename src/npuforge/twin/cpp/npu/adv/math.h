// SPDX-License-Identifier: Apache-2.0
// High-level elementwise mathematics.
#pragma once
#include "common.h"

namespace AscendC {

namespace internal {

using npuforge::LibraryFunction;

template <typename T>
void Elementwise1(LibraryFunction function, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                  const LocalTensor<uint8_t>* tmp, uint32_t count, bool reuse, bool inPlace = false,
                  npuforge::Scalar scalar = {}) {
    const npuforge::Tile space = tmp != nullptr ? tmp->AsTile() : NoTile();
    npuforge::library_elementwise({function, dst.AsTile(), {src.AsTile(), NoTile()}, 1, scalar,
                                   tmp != nullptr ? &space : nullptr, count, reuse, inPlace});
}

template <typename T>
void Elementwise2(LibraryFunction function, const LocalTensor<T>& dst, const npuforge::Tile& src0,
                  const npuforge::Tile& src1, const LocalTensor<uint8_t>* tmp, uint32_t count, bool reuse,
                  npuforge::Scalar scalar = {}) {
    const npuforge::Tile space = tmp != nullptr ? tmp->AsTile() : NoTile();
    npuforge::library_elementwise({function, dst.AsTile(), {src0, src1}, 2, scalar,
                                   tmp != nullptr ? &space : nullptr, count, reuse, false});
}

template <typename T> inline constexpr bool IsPowerType = OneOf<T, half, float, int32_t>;
template <typename T> inline constexpr bool IsXorType = OneOf<T, int16_t, uint16_t>;

}  // namespace internal

// With a count, with and without temporary space.
#define NPUFORGE_COUNTED(NAME)                                                                               \
    template <typename T, bool isReuseSource = false>                                                        \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                       \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {                 \
        static_assert(internal::IsFloating<T>, "[ADV-01] " #NAME " takes half and float on 2201");           \
        internal::Elementwise1(npuforge::LibraryFunction::NAME, dstTensor, srcTensor, &sharedTmpBuffer,      \
                               calCount, isReuseSource);                                                     \
    }                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                        \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t calCount) { \
        static_assert(internal::IsFloating<T>, "[ADV-01] " #NAME " takes half and float on 2201");           \
        internal::Elementwise1(npuforge::LibraryFunction::NAME, dstTensor, srcTensor, nullptr, calCount,     \
                               isReuseSource);                                                               \
    }
// And over the whole source.
#define NPUFORGE_WHOLE(NAME)                                                                                 \
    NPUFORGE_COUNTED(NAME)                                                                                   \
    template <typename T, bool isReuseSource = false>                                                        \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                       \
                     const LocalTensor<uint8_t>& sharedTmpBuffer) {                                          \
        NAME<T, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcTensor.GetSize());                  \
    }                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                        \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor) {                     \
        NAME<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize());                                   \
    }

NPUFORGE_WHOLE(Tanh)
NPUFORGE_WHOLE(Sigmoid)
NPUFORGE_WHOLE(Log2)
NPUFORGE_WHOLE(Sin)
NPUFORGE_WHOLE(Cos)
NPUFORGE_WHOLE(Tan)
NPUFORGE_WHOLE(Asin)
NPUFORGE_WHOLE(Acos)
NPUFORGE_WHOLE(Atan)
NPUFORGE_WHOLE(Sinh)
NPUFORGE_WHOLE(Cosh)
NPUFORGE_WHOLE(Asinh)
NPUFORGE_WHOLE(Acosh)
NPUFORGE_WHOLE(Atanh)
NPUFORGE_WHOLE(Erf)
NPUFORGE_WHOLE(Erfc)
NPUFORGE_WHOLE(Trunc)
NPUFORGE_WHOLE(Frac)
NPUFORGE_WHOLE(Sign)
NPUFORGE_COUNTED(Floor)
NPUFORGE_COUNTED(Ceil)
NPUFORGE_COUNTED(Round)
NPUFORGE_COUNTED(Digamma)
NPUFORGE_COUNTED(Lgamma)
#undef NPUFORGE_WHOLE
#undef NPUFORGE_COUNTED

#define NPUFORGE_LOGARITHM(NAME)                                                                              \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, uint32_t calCount) {   \
        static_assert(internal::IsFloating<T>, "[ADV-01] " #NAME " takes half and float on 2201");            \
        internal::Elementwise1(npuforge::LibraryFunction::NAME, dstTensor, srcTensor, nullptr, calCount, false); \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor) {                      \
        NAME<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize());                                    \
    }
NPUFORGE_LOGARITHM(Log)
NPUFORGE_LOGARITHM(Log10)
#undef NPUFORGE_LOGARITHM

// Exp with a chosen number of Taylor terms; its template arguments tell it from the instruction.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
inline void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t calCount) {
    internal::RequireFloating<T>();
    internal::Elementwise1(npuforge::LibraryFunction::Exp, dstLocal, srcLocal, nullptr, calCount, isReuseSource);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
inline void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    internal::RequireFloating<T>();
    internal::Elementwise1(npuforge::LibraryFunction::Exp, dstLocal, srcLocal, &sharedTmpBuffer, calCount, isReuseSource);
}

#define NPUFORGE_CLAMP(NAME)                                                                                  \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                        \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const T scalar, const uint32_t calCount) {  \
        internal::RequireFloating<T>();                                                                       \
        internal::Elementwise1(npuforge::LibraryFunction::NAME, dstTensor, srcTensor, &sharedTmpBuffer,       \
                               calCount, isReuseSource, false, npuforge::to_scalar(scalar));                  \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const T scalar,        \
                     const uint32_t calCount) {                                                               \
        internal::RequireFloating<T>();                                                                       \
        internal::Elementwise1(npuforge::LibraryFunction::NAME, dstTensor, srcTensor, nullptr, calCount,      \
                               isReuseSource, false, npuforge::to_scalar(scalar));                            \
    }
NPUFORGE_CLAMP(ClampMax)
NPUFORGE_CLAMP(ClampMin)
#undef NPUFORGE_CLAMP

// dst += src * scalar, rounded twice; the fused form is the instruction of the same name.
template <typename T, typename U, bool isReuseSource = false>
inline void Axpy(const LocalTensor<T>& dstTensor, const LocalTensor<U>& srcTensor, const U scalarValue,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    static_assert(internal::IsFloating<T> && internal::IsFloating<U> && sizeof(T) >= sizeof(U),
                  "[ADV-01] Axpy takes half and float, and half into float");
    internal::Elementwise2(npuforge::LibraryFunction::Axpy, dstTensor, srcTensor.AsTile(), dstTensor.AsTile(),
                           &sharedTmpBuffer, calCount, isReuseSource, npuforge::to_scalar(scalarValue));
}

#define NPUFORGE_PAIRED(NAME, SUPPORTED)                                                                      \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                       \
                     const LocalTensor<T>& src1Tensor, const LocalTensor<uint8_t>& sharedTmpBuffer,           \
                     const uint32_t calCount) {                                                               \
        static_assert(SUPPORTED<T>, "[ADV-01] " #NAME " does not support this data type on 2201");            \
        internal::Elementwise2(npuforge::LibraryFunction::NAME, dstTensor, src0Tensor.AsTile(),               \
                               src1Tensor.AsTile(), &sharedTmpBuffer, calCount, isReuseSource);               \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                       \
                     const LocalTensor<T>& src1Tensor, const uint32_t calCount) {                             \
        static_assert(SUPPORTED<T>, "[ADV-01] " #NAME " does not support this data type on 2201");            \
        internal::Elementwise2(npuforge::LibraryFunction::NAME, dstTensor, src0Tensor.AsTile(),               \
                               src1Tensor.AsTile(), nullptr, calCount, isReuseSource);                        \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                       \
                     const LocalTensor<T>& src1Tensor, const LocalTensor<uint8_t>& sharedTmpBuffer) {         \
        NAME<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, src0Tensor.GetSize());     \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void NAME(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                       \
                     const LocalTensor<T>& src1Tensor) {                                                      \
        NAME<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, src0Tensor.GetSize());                      \
    }
NPUFORGE_PAIRED(Fmod, internal::IsFloating)
NPUFORGE_PAIRED(Xor, internal::IsXorType)
NPUFORGE_PAIRED(Power, internal::IsPowerType)
NPUFORGE_PAIRED(GeGLU, internal::IsFloating)
#undef NPUFORGE_PAIRED

// Power with a number on one side.
#define NPUFORGE_POWER(FIRST, SECOND, TENSOR, NUMBER, TILE0, TILE1)                                           \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void Power(const LocalTensor<T>& dstTensor, FIRST, SECOND,                                         \
                      const LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount) {                       \
        static_assert(internal::IsPowerType<T>, "[ADV-01] Power takes half, float and int32_t on 2201");      \
        internal::Elementwise2(npuforge::LibraryFunction::Power, dstTensor, TILE0, TILE1, &sharedTmpBuffer,   \
                               calCount, isReuseSource, npuforge::to_scalar(NUMBER));                         \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void Power(const LocalTensor<T>& dstTensor, FIRST, SECOND, uint32_t calCount) {                    \
        static_assert(internal::IsPowerType<T>, "[ADV-01] Power takes half, float and int32_t on 2201");      \
        internal::Elementwise2(npuforge::LibraryFunction::Power, dstTensor, TILE0, TILE1, nullptr, calCount,  \
                               isReuseSource, npuforge::to_scalar(NUMBER));                                   \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void Power(const LocalTensor<T>& dstTensor, FIRST, SECOND,                                         \
                      const LocalTensor<uint8_t>& sharedTmpBuffer) {                                          \
        internal::Elementwise2(npuforge::LibraryFunction::Power, dstTensor, TILE0, TILE1, &sharedTmpBuffer,   \
                               TENSOR.GetSize(), isReuseSource, npuforge::to_scalar(NUMBER));                 \
    }                                                                                                         \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void Power(const LocalTensor<T>& dstTensor, FIRST, SECOND) {                                       \
        internal::Elementwise2(npuforge::LibraryFunction::Power, dstTensor, TILE0, TILE1, nullptr,            \
                               TENSOR.GetSize(), isReuseSource, npuforge::to_scalar(NUMBER));                 \
    }
NPUFORGE_POWER(const LocalTensor<T>& src0Tensor, const T& src1Scalar, src0Tensor, src1Scalar, src0Tensor.AsTile(),
               internal::NoTile())
NPUFORGE_POWER(const T& src0Scalar, const LocalTensor<T>& src1Tensor, src1Tensor, src0Scalar, internal::NoTile(),
               src1Tensor.AsTile())
#undef NPUFORGE_POWER

// Running sums.
enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0};
};
inline constexpr CumSumConfig defaultCumSumConfig = {true, false, true};

namespace internal {
template <typename T, const CumSumConfig& config>
void RunningSum(const LocalTensor<T>& dst, const LocalTensor<T>& lastRow, const LocalTensor<T>& src,
                npuforge::Scratch tmp, const CumSumInfo& info) {
    RequireFloating<T>();
    static_assert(config.algorithm == CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE,
                  "[DTY-21] CumSum has the line by line algorithm only on 2201");
    const uint64_t perRow = uint64_t(info.inner) * (sizeof(T) == 2 ? 6 : 8);
    const uint64_t least = config.isLastAxis  ? 16 * perRow
                           : sizeof(T) == 2   ? uint64_t(info.outter) * info.inner * sizeof(float)
                                              : 0;
    npuforge::library_cum_sum(dst.AsTile(), config.outputLastRow ? lastRow.AsTile() : NoTile(), src.AsTile(),
                              info.outter, info.inner, config.isLastAxis, config.isReuseSource, least, tmp);
}
}  // namespace internal

template <typename T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
                   LocalTensor<uint8_t>& sharedTmpBuffer, const CumSumInfo& cumSumInfo) {
    const npuforge::Tile space = sharedTmpBuffer.AsTile();
    internal::RunningSum<T, config>(dstTensor, lastRowTensor, srcTensor, &space, cumSumInfo);
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
                   const CumSumInfo& cumSumInfo) {
    internal::RunningSum<T, config>(dstTensor, lastRowTensor, srcTensor, nullptr, cumSumInfo);
}

}  // namespace AscendC
