// SPDX-License-Identifier: Apache-2.0
// Accumulation in GM: a mode of the copies that leave local memory.
#pragma once
#include "abi_more.h"
#include "extent.h"

namespace AscendC {

namespace internal {

enum AtomicOperation : int { AtomicNone = 0, AtomicAdd = 1, AtomicMax = 2, AtomicMin = 3 };

template <typename T> inline constexpr bool IsAtomic = AnyOf<T, float, half, int16_t, int32_t, int8_t, bfloat16_t>;

constexpr npuforge::DType AtomicTypeOf(AtomicDtype type) {
    switch (type) {
        case AtomicDtype::ATOMIC_F16: return npuforge::DType::F16;
        case AtomicDtype::ATOMIC_S16: return npuforge::DType::I16;
        case AtomicDtype::ATOMIC_S32: return npuforge::DType::I32;
        case AtomicDtype::ATOMIC_S8: return npuforge::DType::I8;
        case AtomicDtype::ATOMIC_BF16: return npuforge::DType::BF16;
        default: return npuforge::DType::F32;
    }
}

}  // namespace internal

#define NPUFORGE_SET_ATOMIC(NAME, OPERATION)                                                                        \
    template <typename T> inline void NAME() {                                                                      \
        static_assert(internal::IsAtomic<T>, "[ATM-03] " #NAME " takes float, half, bfloat16, int32, int16 and int8"); \
        npuforge::set_atomic(npuforge::dtype_v<T>, internal::OPERATION);                                             \
    }
NPUFORGE_SET_ATOMIC(SetAtomicAdd, AtomicAdd)
NPUFORGE_SET_ATOMIC(SetAtomicMax, AtomicMax)
NPUFORGE_SET_ATOMIC(SetAtomicMin, AtomicMin)
#undef NPUFORGE_SET_ATOMIC

// Changes the type and keeps the operation.
template <typename T> inline void SetAtomicType() {
    static_assert(internal::IsAtomic<T>, "[ATM-03] SetAtomicType takes float, half, bfloat16, int32, int16 and int8");
    npuforge::DType type;
    int operation;
    npuforge::get_atomic(type, operation);
    npuforge::set_atomic(npuforge::dtype_v<T>, operation);
}
inline void DisableDmaAtomic() { npuforge::set_atomic(npuforge::DType::F32, internal::AtomicNone); }
inline void SetAtomicNone() { DisableDmaAtomic(); }

template <AtomicDtype type, AtomicOp op> inline void SetStoreAtomicConfig() {
    constexpr int operation = type == AtomicDtype::ATOMIC_NONE ? 0 : static_cast<int>(op) + 1;
    npuforge::set_atomic(internal::AtomicTypeOf(type), operation);
}
inline void GetStoreAtomicConfig(uint16_t& atomicType, uint16_t& atomicOp) {
    npuforge::DType type;
    int operation;
    npuforge::get_atomic(type, operation);
    atomicType = 0;
    atomicOp = 0;
    if (operation == 0) return;
    atomicOp = static_cast<uint16_t>(operation - 1);
    for (uint16_t t = 1; t <= static_cast<uint16_t>(AtomicDtype::ATOMIC_BF16); ++t)
        if (internal::AtomicTypeOf(static_cast<AtomicDtype>(t)) == type) atomicType = t;
}

// Scalar atomics on GM belong to another architecture.
#define NPUFORGE_SCALAR_ATOMIC(NAME)                                                                              \
    template <typename T, typename... A> inline T NAME(__gm__ T*, A...) {                                          \
        static_assert(sizeof(T) == 0, "[ATM-04] " #NAME " does not exist on 2201: use SetAtomic* and DataCopy");    \
    }
NPUFORGE_SCALAR_ATOMIC(AtomicAdd)
NPUFORGE_SCALAR_ATOMIC(AtomicMax)
NPUFORGE_SCALAR_ATOMIC(AtomicMin)
NPUFORGE_SCALAR_ATOMIC(AtomicCas)
NPUFORGE_SCALAR_ATOMIC(AtomicExch)
#undef NPUFORGE_SCALAR_ATOMIC

}  // namespace AscendC
