// SPDX-License-Identifier: Apache-2.0
// TransData: NCDHW against the formats that keep C (and N) in groups of sixteen.
#pragma once
#include "../layout.h"
#include "transform.h"

namespace AscendC {

template <typename T, typename U> struct TransDataParams {
    T srcLayout;
    U dstLayout;
};

namespace internal {

struct Volume {
    uint64_t n, c, d, h, w;
    template <typename ShapeType> static Volume Of(const ShapeType& shape) {
        static_assert(std::tuple_size_v<ShapeType> == 5, "[ADV-02] TransData: the NCDHW side has five axes");
        const auto at = [](auto value) { return static_cast<uint64_t>(value); };
        return {at(std::get<0>(shape)), at(std::get<1>(shape)), at(std::get<2>(shape)), at(std::get<3>(shape)), at(std::get<4>(shape))};
    }
};

// Rows of H x W start at blocks on the NCDHW side. Groups that C or N do not fill hold zeros.
template <const TransDataConfig& config, typename T, typename U, typename S>
void ChangeFormat(const LocalTensor<T>& dst, const LocalTensor<T>& src, const TransDataParams<U, S>& params, npuforge::Scratch tmp) {
    constexpr bool forward = config.srcFormat == DataFormat::NCDHW;
    constexpr DataFormat packed = forward ? config.dstFormat : config.srcFormat;
    static_assert(forward || config.dstFormat == DataFormat::NCDHW, "[ADV-02] TransData: one side is NCDHW");
    static_assert(packed == DataFormat::NDC1HWC0 || packed == DataFormat::FRACTAL_Z_3D,
                  "[ADV-02] TransData: the other side is NDC1HWC0 or FRACTAL_Z_3D");
    static_assert(OneOf<T, int16_t, uint16_t, half, bfloat16_t>, "[ADV-01] TransData takes 16-bit types");
    const Volume v = [&] {
        if constexpr (forward) return Volume::Of(params.srcLayout.GetShape());
        else return Volume::Of(params.dstLayout.GetShape());
    }();
    const uint64_t area = v.h * v.w, row = Whole16(area), groups = (v.c + 15) / 16, images = Whole16(v.n);
    const uint64_t packedSize = packed == DataFormat::NDC1HWC0 ? v.n * v.d * groups * area * 16 : v.d * groups * area * images * 16;
    IndexPairs pairs;
    for (uint64_t n = 0; n < v.n; ++n)
        for (uint64_t c = 0; c < v.c; ++c)
            for (uint64_t d = 0; d < v.d; ++d)
                for (uint64_t p = 0; p < area; ++p) {
                    const uint64_t plain = ((n * v.c + c) * v.d + d) * row + p;
                    const uint64_t other = packed == DataFormat::NDC1HWC0
                                               ? (((n * v.d + d) * groups + c / 16) * area + p) * 16 + c % 16
                                               : (((d * groups + c / 16) * area + p) * images + n) * 16 + c % 16;
                    if (forward) pairs.Add(other, plain);
                    else pairs.Add(plain, other);
                }
    const bool filled = v.c % 16 == 0 && (packed == DataFormat::NDC1HWC0 || v.n % 16 == 0);
    if (forward && !filled) pairs.ZeroFirst(packedSize);
    pairs.Run("TransData", dst, src, tmp);
}

}  // namespace internal

template <const TransDataConfig& config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const TransDataParams<U, S>& params) {
    NPUFORGE_TMP_TILE;
    internal::ChangeFormat<config>(dstTensor, srcTensor, params, &space);
}
template <const TransDataConfig& config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const TransDataParams<U, S>& params) {
    internal::ChangeFormat<config>(dstTensor, srcTensor, params, nullptr);
}

}  // namespace AscendC
