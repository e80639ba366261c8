// SPDX-License-Identifier: Apache-2.0
// Compare (a bit per element) and Select (by bits).
#pragma once
#include "vec_params.h"

namespace AscendC {

namespace internal {

template <typename T> inline constexpr bool IsComparable = OneOf<T, half, float, int32_t>;
template <typename U> inline constexpr bool IsChooser = OneOf<U, int8_t, uint8_t, uint16_t, uint32_t, uint64_t>;
template <typename S> inline constexpr bool IsTensor = false;
template <typename T> inline constexpr bool IsTensor<LocalTensor<T>> = true;

// Results are bits; kernels keep them in tensors of any element type, which the hardware never sees.
template <typename U> npuforge::Tile AsBits(const LocalTensor<U>& tensor) {
    npuforge::Tile tile = tensor.AsTile();
    tile.type = npuforge::DType::U8;
    return tile;
}

template <typename T, typename U, typename Mask>
void CompareTensors(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
                    Mask mask, uint8_t repeatTime, const BinaryRepeatParams& p, bool setMask) {
    static_assert(IsComparable<T>, "[DTY-07] Compare does not support this data type on 2201");
    npuforge::vec_compare(static_cast<int>(mode), Lanes(mask, repeatTime, setMask), AsBits(dst),
                          src0.AsTile(p.src0BlkStride, p.src0RepStride), src1.AsTile(p.src1BlkStride, p.src1RepStride));
}

template <typename T, typename Mask>
void CompareIntoRegister(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode, Mask mask,
                         const BinaryRepeatParams& p, bool setMask) {
    static_assert(IsFloating<T>, "[DTY-07] Compare into the register takes half and float on 2201");
    npuforge::vec_compare_register(static_cast<int>(mode), Lanes(mask, 1, setMask),
                                   src0.AsTile(p.src0BlkStride, p.src0RepStride),
                                   src1.AsTile(p.src1BlkStride, p.src1RepStride));
}

template <typename T, typename Mask>
void SelectTensors(const LocalTensor<T>& dst, const npuforge::Tile& chooser, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE mode, Mask mask, uint8_t repeatTime, const BinaryRepeatParams& p,
                   bool setMask) {
    static_assert(IsFloating<T>, "[DTY-08] Select does not support this data type on 2201");
    const npuforge::Tile other = src1.AsTile(p.src1BlkStride, p.src1RepStride);
    npuforge::vec_select(Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                         src0.AsTile(p.src0BlkStride, p.src0RepStride), {static_cast<int>(mode), &chooser, &other, nullptr});
}

template <typename T, typename Mask>
void SelectScalar(const LocalTensor<T>& dst, const npuforge::Tile& chooser, const LocalTensor<T>& src0, T src1, SELMODE mode,
                  Mask mask, uint8_t repeatTime, const BinaryRepeatParams& p, bool setMask) {
    static_assert(IsFloating<T>, "[DTY-08] Select does not support this data type on 2201");
    const npuforge::Scalar value = npuforge::to_scalar(src1);
    npuforge::vec_select(Lanes(mask, repeatTime, setMask), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                         src0.AsTile(p.src0BlkStride, p.src0RepStride), {static_cast<int>(mode), &chooser, nullptr, &value});
}

}  // namespace internal

template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    const uint64_t mask[], RepeatTime repeatTime, const BinaryRepeatParams& repeatParams) {
    internal::CompareTensors(dst, src0, src1, cmpMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    const uint64_t mask, RepeatTime repeatTime, const BinaryRepeatParams& repeatParams) {
    internal::CompareTensors(dst, src0, src1, cmpMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    uint32_t count) {
    static_assert(internal::IsComparable<T>, "[DTY-07] Compare does not support this data type on 2201");
    npuforge::vec_compare(static_cast<int>(cmpMode), internal::Elements(count), internal::AsBits(dst), src0.AsTile(),
                          src1.AsTile());
}

// Without a result tensor the bits go to the compare register.
template <typename T, bool isSetMask = true>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask[],
                    const BinaryRepeatParams& repeatParams) {
    internal::CompareIntoRegister(src0, src1, cmpMode, mask, repeatParams, isSetMask);
}
template <typename T, bool isSetMask = true>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask,
                    const BinaryRepeatParams& repeatParams) {
    internal::CompareIntoRegister(src0, src1, cmpMode, mask, repeatParams, isSetMask);
}
template <typename T> inline void GetCmpMask(const LocalTensor<T>& dst) { npuforge::get_compare_mask(dst.AsTile()); }
template <typename T> inline void SetCmpMask(const LocalTensor<T>& src) { npuforge::set_compare_mask(src.AsTile()); }

// The older and the newer name of the same instruction.
#define NPUFORGE_COMPARE_SCALAR(NAME)                                                                             \
    template <typename T, typename U, bool isSetMask = true>                                                     \
    inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,  \
                     const uint64_t mask[], RepeatTime repeatTime, const UnaryRepeatParams& p) {                  \
        static_assert(internal::IsComparable<T>, "[DTY-07] " #NAME " does not support this data type on 2201");   \
        npuforge::vec_compare_scalar(#NAME, static_cast<int>(cmpMode), internal::Lanes(mask, repeatTime, isSetMask), \
                                     internal::AsBits(dst), src0.AsTile(p.srcBlkStride, p.srcRepStride),         \
                                     npuforge::to_scalar(src1Scalar));                                           \
    }                                                                                                            \
    template <typename T, typename U, bool isSetMask = true>                                                     \
    inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,  \
                     const uint64_t mask, RepeatTime repeatTime, const UnaryRepeatParams& p) {                    \
        static_assert(internal::IsComparable<T>, "[DTY-07] " #NAME " does not support this data type on 2201");   \
        npuforge::vec_compare_scalar(#NAME, static_cast<int>(cmpMode), internal::Lanes(mask, repeatTime, isSetMask), \
                                     internal::AsBits(dst), src0.AsTile(p.srcBlkStride, p.srcRepStride),         \
                                     npuforge::to_scalar(src1Scalar));                                           \
    }                                                                                                            \
    template <typename T, typename U>                                                                            \
    inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,  \
                     uint32_t count) {                                                                           \
        static_assert(internal::IsComparable<T>, "[DTY-07] " #NAME " does not support this data type on 2201");   \
        npuforge::vec_compare_scalar(#NAME, static_cast<int>(cmpMode), internal::Elements(count),                 \
                                     internal::AsBits(dst), src0.AsTile(), npuforge::to_scalar(src1Scalar));     \
    }                                                                                                            \
    template <typename S, typename T, typename U, typename = std::enable_if_t<!std::is_same_v<S, T>>>            \
    inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const S src1Scalar, CMPMODE cmpMode,  \
                     uint32_t count) {                                                                           \
        static_assert(std::is_same_v<typename internal::ElementOf<S>::Type, T>,                                  \
                      "[VEC-09] " #NAME ": the scalar does not have the element type of the tensor");             \
        NAME(dst, src0, static_cast<T>(src1Scalar), cmpMode, count);                                             \
    }
NPUFORGE_COMPARE_SCALAR(Compares)
NPUFORGE_COMPARE_SCALAR(CompareScalar)
#undef NPUFORGE_COMPARE_SCALAR

// Two tensors: modes 0 and 2.
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask[], RepeatTime repeatTime,
                   const BinaryRepeatParams& repeatParams) {
    static_assert(internal::IsChooser<U>, "[DTY-08] selMask is a tensor of bytes or unsigned words");
    internal::SelectTensors(dst, selMask.AsTile(), src0, src1, selMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask, RepeatTime repeatTime,
                   const BinaryRepeatParams& repeatParams) {
    static_assert(internal::IsChooser<U>, "[DTY-08] selMask is a tensor of bytes or unsigned words");
    internal::SelectTensors(dst, selMask.AsTile(), src0, src1, selMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint32_t count) {
    static_assert(internal::IsFloating<T> && internal::IsChooser<U>, "[DTY-08] Select does not support these data types on 2201");
    const npuforge::Tile chooser = selMask.AsTile(), other = src1.AsTile();
    npuforge::vec_select(internal::Elements(count), dst.AsTile(), src0.AsTile(),
                         {static_cast<int>(selMode), &chooser, &other, nullptr});
}

// A tensor and a scalar: mode 1.
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, uint64_t mask[], RepeatTime repeatTime, const BinaryRepeatParams& repeatParams) {
    static_assert(internal::IsChooser<U>, "[DTY-08] selMask is a tensor of bytes or unsigned words");
    internal::SelectScalar(dst, selMask.AsTile(), src0, src1, selMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, uint64_t mask, RepeatTime repeatTime, const BinaryRepeatParams& repeatParams) {
    static_assert(internal::IsChooser<U>, "[DTY-08] selMask is a tensor of bytes or unsigned words");
    internal::SelectScalar(dst, selMask.AsTile(), src0, src1, selMode, mask, repeatTime, repeatParams, isSetMask);
}
template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, uint32_t count) {
    static_assert(internal::IsFloating<T> && internal::IsChooser<U>, "[DTY-08] Select does not support these data types on 2201");
    const npuforge::Tile chooser = selMask.AsTile();
    const npuforge::Scalar value = npuforge::to_scalar(src1);
    npuforge::vec_select(internal::Elements(count), dst.AsTile(), src0.AsTile(),
                         {static_cast<int>(selMode), &chooser, nullptr, &value});
}
template <typename S, typename T, typename U,
          typename = std::enable_if_t<!std::is_same_v<S, T> && !internal::IsTensor<S>>>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, S src1,
                   SELMODE selMode, uint32_t count) {
    static_assert(std::is_same_v<typename internal::ElementOf<S>::Type, T>,
                  "[VEC-09] Select: the scalar does not have the element type of the tensor");
    Select(dst, selMask, src0, static_cast<T>(src1), selMode, count);
}

// Bits (modes 0 and 2) or the scalar (mode 1) from the compare register, lanes from the mask register.
template <typename T, SELMODE selMode>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                   RepeatTime repeatTime, const BinaryRepeatParams& p) {
    static_assert(internal::IsFloating<T>, "[DTY-08] Select does not support this data type on 2201");
    const npuforge::Tile other = src1.AsTile(p.src1BlkStride, p.src1RepStride);
    npuforge::vec_select(npuforge::Extent::lanes(0, repeatTime).in_register(), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                         src0.AsTile(p.src0BlkStride, p.src0RepStride), {static_cast<int>(selMode), nullptr, &other, nullptr});
}
template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   RepeatTime repeatTime, const BinaryRepeatParams& p) {
    static_assert(internal::IsFloating<T> && internal::IsChooser<U>, "[DTY-08] Select does not support these data types on 2201");
    const npuforge::Tile chooser = selMask.AsTile();
    npuforge::vec_select(npuforge::Extent::lanes(0, repeatTime).in_register(), dst.AsTile(p.dstBlkStride, p.dstRepStride),
                         src0.AsTile(p.src0BlkStride, p.src0RepStride),
                         {static_cast<int>(SELMODE::VSEL_TENSOR_SCALAR_MODE), &chooser, nullptr, nullptr});
}

}  // namespace AscendC
