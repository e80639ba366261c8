// SPDX-License-Identifier: Apache-2.0
// Filling: Duplicate, CreateVecIndex, Brcb; and the masked copy inside UB.
#pragma once
#include "vec_params.h"

namespace AscendC {

template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask, const RepeatTime repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {
    static_assert(internal::IsMovable<T>, "[DTY-11] Duplicate does not support this data type on 2201");
    npuforge::vec_duplicate(internal::Lanes(mask, repeatTime, isSetMask), dst.AsTile(dstBlockStride, dstRepeatStride),
                            npuforge::to_scalar(scalarValue));
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[], const RepeatTime repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {
    static_assert(internal::IsMovable<T>, "[DTY-11] Duplicate does not support this data type on 2201");
    npuforge::vec_duplicate(internal::Lanes(mask, repeatTime, isSetMask), dst.AsTile(dstBlockStride, dstRepeatStride),
                            npuforge::to_scalar(scalarValue));
}
template <typename T> inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count) {
    static_assert(internal::IsMovable<T>, "[DTY-11] Duplicate does not support this data type on 2201");
    npuforge::vec_duplicate(internal::Elements(count), dst.AsTile(), npuforge::to_scalar(scalarValue));
}
template <typename S, typename T, typename = std::enable_if_t<!std::is_same_v<S, T>>>
inline void Duplicate(const LocalTensor<T>& dst, const S& scalarValue, const int32_t& count) {
    static_assert(std::is_same_v<typename internal::ElementOf<S>::Type, T>,
                  "[VEC-09] Duplicate: the scalar does not have the element type of the tensor");
    Duplicate(dst, static_cast<T>(scalarValue), count);
}

template <typename T>
inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask, RepeatTime repeatTime,
                           uint16_t dstBlkStride, uint8_t dstRepStride) {
    static_assert(internal::IsArithmetic<T>, "[DTY-12] CreateVecIndex does not support this data type on 2201");
    npuforge::vec_index(internal::Lanes(mask, repeatTime, true), dst.AsTile(dstBlkStride, dstRepStride),
                        npuforge::to_scalar(firstValue));
}
template <typename T>
inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask[], RepeatTime repeatTime,
                           uint16_t dstBlkStride, uint8_t dstRepStride) {
    static_assert(internal::IsArithmetic<T>, "[DTY-12] CreateVecIndex does not support this data type on 2201");
    npuforge::vec_index(internal::Lanes(mask, repeatTime, true), dst.AsTile(dstBlkStride, dstRepStride),
                        npuforge::to_scalar(firstValue));
}
template <typename T> inline void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count) {
    static_assert(internal::IsArithmetic<T>, "[DTY-12] CreateVecIndex does not support this data type on 2201");
    npuforge::vec_index(internal::Elements(count), dst.AsTile(), npuforge::to_scalar(firstValue));
}

template <typename T>
inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const RepeatTime repeatTime,
                 const BrcbRepeatParams& repeatParams) {
    static_assert(internal::IsMovable<T>, "[DTY-11] Brcb does not support this data type on 2201");
    npuforge::vec_brcb(dst.AsTile(repeatParams.dstBlkStride, repeatParams.dstRepStride), src.AsTile(), repeatTime);
}

template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const RepeatTime repeatTime,
                 const CopyRepeatParams& p) {
    static_assert(internal::IsMovable<T>, "[DTY-11] Copy does not support this data type on 2201");
    npuforge::vec_copy(internal::Lanes(mask, repeatTime, isSetMask), dst.AsTile(p.dstStride, p.dstRepeatSize),
                       src.AsTile(p.srcStride, p.srcRepeatSize));
}
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask, const RepeatTime repeatTime,
                 const CopyRepeatParams& p) {
    static_assert(internal::IsMovable<T>, "[DTY-11] Copy does not support this data type on 2201");
    npuforge::vec_copy(internal::Lanes(mask, repeatTime, isSetMask), dst.AsTile(p.dstStride, p.dstRepeatSize),
                       src.AsTile(p.srcStride, p.srcRepeatSize));
}

}  // namespace AscendC
