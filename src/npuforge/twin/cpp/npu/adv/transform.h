// SPDX-License-Identifier: Apache-2.0
// High-level movement inside UB: broadcast, padding, transposes between layouts.
#pragma once
#include <vector>

#include "softmax.h"

namespace AscendC {

struct PadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};
struct UnPadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

namespace internal {

// Bytes are widened to half words first; values are repeated by blocks of 32 bytes, and where rows
// are no whole blocks a block's worth of them is put together before it is packed.
template <typename T> uint64_t LeastBroadcastSpace(uint32_t rows, uint32_t columns, bool lastAxis) {
    constexpr uint64_t size = sizeof(T) == 1 ? 2 : sizeof(T), perBlock = 32 / size;
    const auto roundUp = [](uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; };
    const uint64_t source = lastAxis ? rows : columns, target = uint64_t(rows) * columns;
    const uint64_t widened = sizeof(T) == 1 ? 2 * (roundUp(source, 16) + roundUp(target, 16)) : 0;
    if (!lastAxis || rows == 1) return widened;
    const uint64_t packing = columns % perBlock == 0 ? 0 : perBlock * roundUp(columns, perBlock) * size;
    return widened + perBlock * 32 + packing;
}

template <typename T, int32_t dim, int32_t axis>
void Spread(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t* dstShape, const uint32_t* srcShape,
            npuforge::Scratch tmp) {
    // The reference names fewer types, but kernels broadcast any of these widths.
    static_assert(sizeof(T) <= 4, "[ADV-01] Broadcast takes types of up to 32 bits on 2201");
    static_assert(dim == 1 || dim == 2, "[ADV-02] Broadcast has one or two dimensions on 2201");
    static_assert(axis == 0 || axis == 1, "[ADV-02] Broadcast works along axis 0 or 1");
    constexpr int last = dim - 1;
    if (srcShape[axis < dim ? axis : 0] != 1 && srcShape[axis < dim ? axis : 0] != dstShape[axis < dim ? axis : 0])
        npuforge::report("ADV-02", "Broadcast: axis %d has length %u, not 1", axis, srcShape[axis < dim ? axis : 0]);
    const uint32_t rows = dim == 1 ? 1 : dstShape[0], columns = dstShape[last];
    const bool firstAxis = dim == 2 && srcShape[0] == 1 && rows != 1;
    const bool lastAxis = srcShape[last] == 1 && columns != 1;
    npuforge::library_broadcast(dst.AsTile(), src.AsTile(), rows, columns, firstAxis, lastAxis,
                                LeastBroadcastSpace<T>(rows, columns, lastAxis), tmp);
}

template <typename T> inline constexpr bool IsPadType = OneOf<T, int16_t, uint16_t, half, int32_t, uint32_t, float>;

// Pairs of indices, collected by loops over a shape.
class IndexPairs {
public:
    void Add(uint64_t to, uint64_t from) {
        to_.push_back(static_cast<uint32_t>(to));
        from_.push_back(static_cast<uint32_t>(from));
    }
    template <typename T>
    void Run(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, npuforge::Scratch tmp) const {
        npuforge::library_permute({name, dst.AsTile(), src.AsTile(), to_.data(), from_.data(),
                                   static_cast<uint32_t>(to_.size()), zeroed_ != 0 ? zeroed_ : Reach(to_), Reach(from_), 0,
                                   tmp, zeroed_ != 0});
    }
    // The destination's first `elements` are zero where no pair names them.
    void ZeroFirst(uint64_t elements) { zeroed_ = static_cast<uint32_t>(elements); }

private:
    static uint32_t Reach(const std::vector<uint32_t>& indices) {
        uint32_t reach = 0;
        for (const uint32_t i : indices) reach = i + 1 > reach ? i + 1 : reach;
        return reach;
    }
    std::vector<uint32_t> to_, from_;
    uint32_t zeroed_ = 0;
};

// Where element (row, column) of a matrix of `rows` rows lies when it is stored in 16 x 16 blocks.
inline uint64_t NzOffset(uint64_t row, uint64_t column, uint64_t rows) {
    return column / 16 * rows * 16 + row * 16 + column % 16;
}
inline uint64_t Whole16(uint64_t n) { return (n + 15) / 16 * 16; }

// The tiling carries the shape in its first parameters.
template <typename T>
void Reorder(const LocalTensor<T>& dst, const LocalTensor<T>& src, TransposeType type, const ConfusionTransposeTiling& tiling,
             npuforge::Scratch tmp) {
    static_assert(IsPadType<T>, "[ADV-01] Transpose takes 16 and 32 bit types");
    IndexPairs pairs;
    if (type == TransposeType::TRANSPOSE_ND2ND_ONLY) {
        const uint32_t height = tiling.param1, width = tiling.param2;
        for (uint32_t h = 0; h < height; ++h)
            for (uint32_t w = 0; w < width; ++w) pairs.Add(uint64_t(w) * height + h, uint64_t(h) * width + w);
        pairs.Run("ConfusionTranspose", dst, src, tmp);
        return;
    }
    const bool swapsHeads = type == TransposeType::TRANSPOSE_NZ2ND_0213 || type == TransposeType::TRANSPOSE_NZ2NZ_0213;
    const bool splits = type == TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N || type == TransposeType::TRANSPOSE_NZ2ND_012_WITH_N;
    const bool merges =
        type == TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N || type == TransposeType::TRANSPOSE_NZ2NZ_012_WITHOUT_N;
    if (!swapsHeads && !splits && !merges) {
        npuforge::report("ADV-02", "Transpose: type %d does not exist on this architecture", static_cast<int>(type));
        return;
    }
    const uint64_t batches = tiling.param1, heads = tiling.param2, width = tiling.param3;
    uint64_t length = uint64_t(tiling.param6) * 16;
    if (swapsHeads) length = tiling.param4;
    if (type == TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N) length = tiling.param9;
    const uint64_t headWidth = Whole16(width), allWidth = Whole16(heads * width);
    const uint64_t perHead = headWidth * length, perBatch = splits ? heads * perHead : allWidth * length;
    for (uint64_t b = 0; b < batches; ++b)
        for (uint64_t n = 0; n < heads; ++n)
            for (uint64_t s = 0; s < length; ++s)
                for (uint64_t x = 0; x < width; ++x) {
                    const uint64_t h = n * width + x;
                    const uint64_t split = (b * heads + n) * perHead + NzOffset(s, x, length);
                    const uint64_t merged = b * allWidth * length + NzOffset(s, h, length);
                    switch (type) {
                        case TransposeType::TRANSPOSE_NZ2ND_0213:
                            pairs.Add(((b * length + s) * heads + n) * headWidth + x, split);
                            break;
                        case TransposeType::TRANSPOSE_NZ2NZ_0213:
                            pairs.Add((b * length + s) * heads * headWidth + NzOffset(n, x, heads), split);
                            break;
                        case TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N: pairs.Add(split, merged); break;
                        case TransposeType::TRANSPOSE_NZ2ND_012_WITH_N:
                            pairs.Add(b * perBatch + n * perHead + s * headWidth + x, merged);
                            break;
                        case TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N: pairs.Add((b * length + s) * allWidth + h, split); break;
                        default: pairs.Add(merged, split);
                    }
                }
    pairs.Run("ConfusionTranspose", dst, src, tmp);
}

}  // namespace internal

// Broadcast is the present name, BroadCast the one most sources use.
#define NPUFORGE_BROADCAST(NAME)                                                                                   \
    template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                   \
    inline void NAME(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],  \
                     const uint32_t srcShape[dim], LocalTensor<uint8_t>& sharedTmpBuffer) {                        \
        NPUFORGE_TMP_TILE;                                                                                         \
        internal::Spread<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape, &space);                            \
    }                                                                                                              \
    template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                   \
    inline void NAME(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],  \
                     const uint32_t srcShape[dim]) {                                                               \
        internal::Spread<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape, nullptr);                           \
    }
NPUFORGE_BROADCAST(Broadcast)
NPUFORGE_BROADCAST(BroadCast)
#undef NPUFORGE_BROADCAST

// Transpose of the high-level API; ConfusionTranspose is its former name.
#define NPUFORGE_TRANSPOSE(NAME)                                                                                   \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer, \
                     TransposeType transposeType, ConfusionTransposeTiling& tiling) {                              \
        NPUFORGE_TMP_TILE;                                                                                         \
        internal::Reorder(dst, src, transposeType, tiling, &space);                                                \
    }                                                                                                              \
    template <typename T>                                                                                          \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, TransposeType transposeType,            \
                     ConfusionTransposeTiling& tiling) {                                                           \
        internal::Reorder(dst, src, transposeType, tiling, nullptr);                                               \
    }
NPUFORGE_TRANSPOSE(Transpose)
NPUFORGE_TRANSPOSE(ConfusionTranspose)
#undef NPUFORGE_TRANSPOSE

namespace internal {

// A width that is already whole blocks is filled in place at its right end; another one is widened.
template <typename T>
void PadRows(const LocalTensor<T>& dst, const LocalTensor<T>& src, const PadParams& p, const PadTiling& tiling,
             npuforge::Scratch tmp) {
    static_assert(IsPadType<T>, "[ADV-01] Pad takes 16 and 32 bit types");
    constexpr uint32_t perBlock = 32 / sizeof(T);
    const uint32_t width = tiling.srcWidth, whole = (width + perBlock - 1) / perBlock * perBlock;
    const bool aligned = width == whole;
    if (aligned && p.leftPad != 0) npuforge::report("ADV-02", "Pad: a width of whole blocks is padded on the right only");
    npuforge::library_pad({"Pad", dst.AsTile(), src.AsTile(), tiling.srcHeight,
                           aligned ? width - p.rightPad : width, width, whole, aligned ? 0u : p.leftPad, p.rightPad,
                           p.padValue, 0, tmp});
}
template <typename T>
void UnPadRows(const LocalTensor<T>& dst, const LocalTensor<T>& src, const UnPadParams& p, const UnPadTiling& tiling,
               npuforge::Scratch tmp) {
    static_assert(IsPadType<T>, "[ADV-01] UnPad takes 16 and 32 bit types");
    if (tiling.srcWidth * sizeof(T) % 32 != 0)
        npuforge::report("ADV-02", "UnPad: the source's width of %u is not a multiple of 32 bytes", tiling.srcWidth);
    const uint32_t kept = tiling.srcWidth - p.leftPad - p.rightPad;
    npuforge::library_pad({"UnPad", dst.AsTile(), src[p.leftPad].AsTile(), tiling.srcHeight, kept, tiling.srcWidth, kept,
                           0, 0, 0, 0, tmp});
}

}  // namespace internal

template <typename T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, PadParams& padParams,
                const LocalTensor<uint8_t>& sharedTmpBuffer, PadTiling& tiling) {
    NPUFORGE_TMP_TILE;
    internal::PadRows(dstTensor, srcTensor, padParams, tiling, &space);
}
template <typename T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, PadParams& padParams, PadTiling& tiling) {
    internal::PadRows(dstTensor, srcTensor, padParams, tiling, nullptr);
}
template <typename T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, UnPadParams& unPadParams,
                  LocalTensor<uint8_t>& sharedTmpBuffer, UnPadTiling& tiling) {
    NPUFORGE_TMP_TILE;
    internal::UnPadRows(dstTensor, srcTensor, unPadParams, tiling, &space);
}
template <typename T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, UnPadParams& unPadParams,
                  UnPadTiling& tiling) {
    internal::UnPadRows(dstTensor, srcTensor, unPadParams, tiling, nullptr);
}

}  // namespace AscendC
