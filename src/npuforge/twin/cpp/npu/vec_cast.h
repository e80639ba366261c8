// SPDX-License-Identifier: Apache-2.0
// Conversions between element types, with a rounding mode or with a scale.
#pragma once
#include "vec_params.h"

namespace AscendC {

namespace internal {

// Which conversions exist: the list of 2201.
template <typename D, typename S> constexpr bool IsCastPair() {
    if constexpr (std::is_same_v<S, float>) return OneOf<D, float, half, bfloat16_t, int16_t, int32_t, int64_t>;
    else if constexpr (std::is_same_v<S, half>) return OneOf<D, float, int32_t, int16_t, int8_t, uint8_t, int4b_t>;
    else if constexpr (std::is_same_v<S, bfloat16_t>) return OneOf<D, float, int32_t>;
    else if constexpr (std::is_same_v<S, int32_t>) return OneOf<D, float, half, int16_t, int64_t>;
    else if constexpr (std::is_same_v<S, int16_t>) return OneOf<D, float, half>;
    else if constexpr (std::is_same_v<S, int64_t>) return OneOf<D, float, int32_t>;
    else return OneOf<S, int4b_t, int8_t, uint8_t> && std::is_same_v<D, half>;
}

template <typename D, typename S> inline constexpr bool IsDequantPair =
    (std::is_same_v<S, int32_t> && std::is_same_v<D, half>) || (std::is_same_v<S, int16_t> && OneOf<D, int8_t, uint8_t>);

template <typename D, typename S, typename Mask>
void Convert(const LocalTensor<D>& dst, const LocalTensor<S>& src, RoundMode mode, Mask mask, uint8_t repeatTime,
             const UnaryRepeatParams& p, bool setMask) {
    npuforge::vec_cast(Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                       src.AsTile(p.srcBlkStride, p.srcRepStride), static_cast<int>(mode));
}

template <typename D, typename S, typename Mask>
void Dequantise(const LocalTensor<D>& dst, const LocalTensor<S>& src, Mask mask, uint8_t repeatTime,
                const UnaryRepeatParams& p, bool setMask, bool vectorScales, bool upperHalf) {
    npuforge::vec_cast_dequant(Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                               src.AsTile(p.srcBlkStride, p.srcRepStride), vectorScales, upperHalf);
}

}  // namespace internal

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask[],
                 const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {
    static_assert(internal::IsCastPair<T, U>(), "[DTY-15] Cast does not support this pair of data types on 2201");
    internal::Convert(dst, src, roundMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask,
                 const RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {
    static_assert(internal::IsCastPair<T, U>(), "[DTY-15] Cast does not support this pair of data types on 2201");
    internal::Convert(dst, src, roundMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count) {
    static_assert(internal::IsCastPair<T, U>(), "[DTY-15] Cast does not support this pair of data types on 2201");
    npuforge::vec_cast(internal::Elements(count), dst.AsTile(), src.AsTile(), static_cast<int>(roundMode));
}

#define NPUFORGE_DEQUANT(NAME)                                                                                    \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint64_t mask[],                 \
                     RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {                              \
        static_assert(internal::IsDequantPair<T, U>, "[DTY-15] " #NAME " does not support these data types on 2201"); \
        internal::Dequantise(dst, src, mask, repeatTime, repeatParams, isSetMask, isVecDeq, halfBlock);           \
    }                                                                                                            \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t mask,                    \
                     RepeatTime repeatTime, const UnaryRepeatParams& repeatParams) {                              \
        static_assert(internal::IsDequantPair<T, U>, "[DTY-15] " #NAME " does not support these data types on 2201"); \
        internal::Dequantise(dst, src, static_cast<uint64_t>(mask), repeatTime, repeatParams, isSetMask,          \
                             isVecDeq, halfBlock);                                                               \
    }                                                                                                            \
    template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>                               \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count) {                \
        static_assert(internal::IsDequantPair<T, U>, "[DTY-15] " #NAME " does not support these data types on 2201"); \
        npuforge::vec_cast_dequant(internal::Elements(count), dst.AsTile(), src.AsTile(), isVecDeq, halfBlock);   \
    }
NPUFORGE_DEQUANT(CastDequant)
NPUFORGE_DEQUANT(CastDeq)
#undef NPUFORGE_DEQUANT

inline void SetDeqScale(half scale) { npuforge::set_deq_half(scale.bits()); }
inline void SetDeqScale(float scale, int16_t offset, bool signMode) { npuforge::set_deq_scalar(scale, offset, signMode); }
template <typename T> inline void SetDeqScale(const LocalTensor<T>& vdeq, const VdeqInfo& vdeqInfo) {
    static_assert(std::is_same_v<T, uint64_t>, "[DTY-15] the table of SetDeqScale is a tensor of uint64_t");
    npuforge::set_deq_table(vdeq.AsTile(), vdeqInfo.vdeqScale, vdeqInfo.vdeqOffset, vdeqInfo.vdeqSignMode);
}

}  // namespace AscendC
