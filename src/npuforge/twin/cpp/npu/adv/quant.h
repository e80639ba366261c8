// SPDX-License-Identifier: Apache-2.0
// High-level quantisation and its inverses.
#pragma once
#include "softmax.h"

namespace AscendC {

struct AscendQuantConfig {
    constexpr AscendQuantConfig(const uint32_t calcCountIn, const uint32_t offsetCountIn, const uint32_t scaleCountIn,
                                const uint32_t workLocalSizeIn)
        : calcCount(calcCountIn), offsetCount(offsetCountIn), scaleCount(scaleCountIn), workLocalSize(workLocalSizeIn) {}
    uint32_t calcCount = 0;
    uint32_t offsetCount = 0;
    uint32_t scaleCount = 0;
    uint32_t workLocalSize = 0;
};
inline constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

enum class DeQuantMode : uint8_t { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };
struct DequantParams {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
};
struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

namespace internal {

inline npuforge::Quantisation Quantise(const char* name, const npuforge::Tile& dst, const npuforge::Tile& src,
                                       const npuforge::Tile& scale, const npuforge::Tile& offset, uint32_t rows,
                                       uint32_t columns, npuforge::Scratch tmp) {
    npuforge::Quantisation call{name, dst, src, scale, offset};
    call.rows = rows;
    call.columns = call.computed = call.src_step = call.dst_step = columns;
    call.parameter_rows = 1;
    call.parameter_columns = columns;
    call.tmp = tmp;
    return call;
}

// Data of `count` elements in rows of `channels`; arithmetic is in half.
template <typename T>
void ToInt8(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src, const npuforge::Tile& scale,
            const npuforge::Tile& offset, float scaleValue, float offsetValue, uint32_t channels, uint32_t count,
            npuforge::Scratch tmp) {
    RequireFloating<T>();
    if (channels == 0 || count % channels != 0)
        npuforge::report("ADV-02", "AscendQuant: calCount %u is not a multiple of scaleCount %u", count, channels);
    if (count % 32 != 0) npuforge::report("ADV-02", "AscendQuant: calCount %u is not a multiple of 32", count);
    const uint32_t width = channels == 0 ? count : channels;
    npuforge::Quantisation call =
        Quantise("AscendQuant", dst.AsTile(), src.AsTile(), scale, offset, count / width, width, tmp);
    call.scale_value = scaleValue;
    call.offset_value = offsetValue;
    call.through_half = true;
    call.in_place = true;
    npuforge::library_quantise(call);
}

}  // namespace internal

#define NPUFORGE_QUANT_TEMPLATE \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
#define NPUFORGE_QUANT(TMP, TAKE, SPACE)                                                                           \
    NPUFORGE_QUANT_TEMPLATE                                                                                        \
    inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, TMP             \
                            const float scale, const float offset, const uint32_t calCount) {                      \
        TAKE;                                                                                                      \
        internal::ToInt8(dstTensor, srcTensor, internal::NoTile(), internal::NoTile(), scale, offset, calCount,    \
                         calCount, SPACE);                                                                         \
    }                                                                                                              \
    NPUFORGE_QUANT_TEMPLATE                                                                                        \
    inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, TMP             \
                            const float scale, const float offset) {                                               \
        TAKE;                                                                                                      \
        internal::ToInt8(dstTensor, srcTensor, internal::NoTile(), internal::NoTile(), scale, offset,              \
                         srcTensor.GetSize(), srcTensor.GetSize(), SPACE);                                         \
    }                                                                                                              \
    NPUFORGE_QUANT_TEMPLATE                                                                                        \
    inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, TMP             \
                            const LocalTensor<T>& scaleTensor, const T offset, const uint32_t scaleCount,          \
                            const uint32_t calCount) {                                                             \
        TAKE;                                                                                                      \
        internal::ToInt8(dstTensor, srcTensor, scaleTensor.AsTile(), internal::NoTile(), 1.0f,                     \
                         static_cast<float>(offset), scaleCount, calCount, SPACE);                                 \
    }                                                                                                              \
    NPUFORGE_QUANT_TEMPLATE                                                                                        \
    inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, TMP             \
                            const LocalTensor<T>& scaleTensor, const T offset) {                                   \
        TAKE;                                                                                                      \
        internal::ToInt8(dstTensor, srcTensor, scaleTensor.AsTile(), internal::NoTile(), 1.0f,                     \
                         static_cast<float>(offset), scaleTensor.GetSize(), srcTensor.GetSize(), SPACE);           \
    }                                                                                                              \
    NPUFORGE_QUANT_TEMPLATE                                                                                        \
    inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, TMP             \
                            const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor,                 \
                            const uint32_t scaleCount, const uint32_t offsetCount, const uint32_t calCount) {      \
        TAKE;                                                                                                      \
        if (scaleCount != offsetCount)                                                                             \
            npuforge::report("ADV-02", "AscendQuant: %u scales and %u offsets", scaleCount, offsetCount);          \
        internal::ToInt8(dstTensor, srcTensor, scaleTensor.AsTile(), offsetTensor.AsTile(), 1.0f, 0.0f,            \
                         scaleCount, calCount, SPACE);                                                             \
    }                                                                                                              \
    NPUFORGE_QUANT_TEMPLATE                                                                                        \
    inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, TMP             \
                            const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor) {               \
        TAKE;                                                                                                      \
        internal::ToInt8(dstTensor, srcTensor, scaleTensor.AsTile(), offsetTensor.AsTile(), 1.0f, 0.0f,            \
                         scaleTensor.GetSize(), srcTensor.GetSize(), SPACE);                                       \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_QUANT)
#undef NPUFORGE_QUANT
#undef NPUFORGE_QUANT_TEMPLATE

namespace internal {

template <typename dstT, DeQuantMode mode>
void FromInt32(const LocalTensor<dstT>& dst, const LocalTensor<int32_t>& src, const npuforge::Tile& scale, float scaleValue,
               DequantParams p, npuforge::Scratch tmp) {
    static_assert(OneOf<dstT, half, bfloat16_t, float>, "[ADV-01] AscendDequant gives half, bfloat16_t and float");
    constexpr uint32_t perBlock = 32 / sizeof(dstT);
    // One long row of several runs of scales counts as that many rows.
    if (mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && p.m == 1 && p.calCount != 0 && p.calCount % perBlock == 0 &&
        p.n % p.calCount == 0)
        p = {p.n / p.calCount, p.calCount, p.calCount};
    if (p.n * sizeof(int32_t) % 32 != 0)
        npuforge::report("ADV-02", "AscendDequant: a row of %u elements is not a multiple of 32 bytes", p.n);
    npuforge::Quantisation call =
        Quantise("AscendDequant", dst.AsTile(), src.AsTile(), scale, NoTile(), p.m, p.n, tmp);
    call.scale_value = scaleValue;
    call.computed = p.calCount;
    call.dst_step = (p.n + perBlock - 1) / perBlock * perBlock;
    npuforge::library_quantise(call);
}

template <typename T> inline constexpr bool IsScaleVector = OneOf<T, unsigned long, unsigned long long, float, bfloat16_t>;

}  // namespace internal

#define NPUFORGE_DEQUANT_TEMPLATE \
    template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
#define NPUFORGE_DEQUANT(TMP, TAKE, SPACE)                                                                         \
    NPUFORGE_DEQUANT_TEMPLATE                                                                                      \
    inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,           \
                              const LocalTensor<scaleT>& deqScale, TMP DequantParams params) {                     \
        static_assert(internal::IsScaleVector<scaleT>, "[ADV-01] scales are uint64_t, float or bfloat16_t");       \
        TAKE;                                                                                                      \
        internal::FromInt32<dstT, mode>(dstTensor, srcTensor, deqScale.AsTile(), 1.0f, params, SPACE);             \
    }                                                                                                              \
    NPUFORGE_DEQUANT_TEMPLATE                                                                                      \
    inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,           \
                              const LocalTensor<scaleT>& deqScale, TMP const uint32_t calCount) {                  \
        TAKE;                                                                                                      \
        internal::FromInt32<dstT, mode>(dstTensor, srcTensor, deqScale.AsTile(), 1.0f,                             \
                                        {1, srcTensor.GetSize(), calCount}, SPACE);                                \
    }                                                                                                              \
    NPUFORGE_DEQUANT_TEMPLATE                                                                                      \
    inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,           \
                              const scaleT deqScale, TMP DequantParams params) {                                   \
        static_assert(internal::OneOf<scaleT, bfloat16_t, float>, "[ADV-01] a scale is float or bfloat16_t");      \
        TAKE;                                                                                                      \
        internal::FromInt32<dstT, mode>(dstTensor, srcTensor, internal::NoTile(), static_cast<float>(deqScale),    \
                                        params, SPACE);                                                            \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_DEQUANT)
#undef NPUFORGE_DEQUANT
NPUFORGE_DEQUANT_TEMPLATE
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale, const LocalTensor<uint8_t>& sharedTmpBuffer) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, sharedTmpBuffer, deqScale.GetSize());
}
NPUFORGE_DEQUANT_TEMPLATE
inline void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<scaleT>& deqScale) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, deqScale.GetSize());
}
#undef NPUFORGE_DEQUANT_TEMPLATE

namespace internal {

// (x + offset) * scale; parameters of [groups, N], or [N, groups] for transposed data.
template <typename In, typename Out, bool isTranspose>
void Widen(const LocalTensor<Out>& dst, const LocalTensor<In>& src, const npuforge::Tile& offset, const npuforge::Tile& scale,
           float offsetValue, float scaleValue, uint32_t k, const ShapeInfo& scaleShape, const ShapeInfo& offsetShape,
           const AntiQuantShapeInfo& info, npuforge::Scratch tmp) {
    static_assert(OneOf<In, int8_t, int4b_t>, "[ADV-01] AscendAntiQuant takes int8_t and int4b_t");
    static_assert(OneOf<Out, half, bfloat16_t>, "[ADV-01] AscendAntiQuant gives half and bfloat16_t");
    const uint32_t n = k == 0 ? 0 : src.GetSize() / k;
    npuforge::Quantisation call = Quantise("AscendAntiQuant", dst.AsTile(), src.AsTile(), scale, offset,
                                           isTranspose ? n : k, isTranspose ? k : n, tmp);
    call.offset_first = true;
    call.through_half = std::is_same_v<Out, half>;
    call.offset_value = offsetValue;
    call.scale_value = scaleValue;
    if (scale.addr != nullptr) {
        // Scale and offset have one shape; whichever of them tells it is believed.
        uint32_t height = info.scaleHeight, width = info.scaleWidth;
        const auto otherwise = [&](uint32_t otherHeight, uint32_t otherWidth) {
            if (height != 0 && width != 0) return;
            height = otherHeight;
            width = otherWidth;
        };
        otherwise(scaleShape.shape[0], scaleShape.shape[1]);
        otherwise(info.offsetHeight, info.offsetWidth);
        otherwise(offsetShape.shape[0], offsetShape.shape[1]);
        if (height == 0 || width == 0) {
            npuforge::report("ADV-02", "AscendAntiQuant: neither shapeInfo nor a ShapeInfo says the shape of scale and offset");
            return;
        }
        call.parameter_rows = height;
        call.parameter_columns = width;
    }
    npuforge::library_quantise(call);
}

}  // namespace internal

#define NPUFORGE_ANTI_TEMPLATE template <typename InputDataType, typename OutputDataType, bool isTranspose>
#define NPUFORGE_ANTI(TMP, TAKE, SPACE)                                                                            \
    NPUFORGE_ANTI_TEMPLATE                                                                                         \
    inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,     \
                                const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale, TMP \
                                const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}) {                      \
        TAKE;                                                                                                      \
        internal::Widen<InputDataType, OutputDataType, isTranspose>(dst, src, offset.AsTile(), scale.AsTile(),     \
                                                                    0.0f, 1.0f, k, scale.GetShapeInfo(),           \
                                                                    offset.GetShapeInfo(), shapeInfo, SPACE);      \
    }                                                                                                              \
    NPUFORGE_ANTI_TEMPLATE                                                                                         \
    inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,     \
                                const OutputDataType offset, const OutputDataType scale, TMP const uint32_t k,     \
                                const AntiQuantShapeInfo& shapeInfo = {}) {                                        \
        TAKE;                                                                                                      \
        internal::Widen<InputDataType, OutputDataType, isTranspose>(                                               \
            dst, src, internal::NoTile(), internal::NoTile(), static_cast<float>(offset),                          \
            static_cast<float>(scale), k, ShapeInfo(), ShapeInfo(), shapeInfo, SPACE);                             \
    }
NPUFORGE_BOTH_TMP(NPUFORGE_ANTI)
#undef NPUFORGE_ANTI
// Without an offset.
NPUFORGE_ANTI_TEMPLATE
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const LocalTensor<OutputDataType>& scale, const LocalTensor<uint8_t>& sharedTmpBuffer,
                            const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}) {
    NPUFORGE_TMP_TILE;
    internal::Widen<InputDataType, OutputDataType, isTranspose>(dst, src, internal::NoTile(), scale.AsTile(), 0.0f, 1.0f, k,
                                                                scale.GetShapeInfo(), ShapeInfo(), shapeInfo, &space);
}
NPUFORGE_ANTI_TEMPLATE
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                            const OutputDataType scale, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,
                            const AntiQuantShapeInfo& shapeInfo = {}) {
    NPUFORGE_TMP_TILE;
    internal::Widen<InputDataType, OutputDataType, isTranspose>(dst, src, internal::NoTile(), internal::NoTile(), 0.0f,
                                                                static_cast<float>(scale), k, ShapeInfo(), ShapeInfo(), shapeInfo, &space);
}
#undef NPUFORGE_ANTI_TEMPLATE

}  // namespace AscendC
