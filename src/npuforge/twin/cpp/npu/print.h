// SPDX-License-Identifier: Apache-2.0
// printf, DumpTensor, asserts and tracing marks of device code.
#pragma once
#include <cstdio>

#include "abi_more.h"
#include "tensor.h"

namespace npuforge {

template <typename T> PrintValue print_value(const T& value) {
    PrintValue v{};
    if constexpr (std::is_convertible_v<T, const char*>) {
        v.kind = PrintValue::Kind::Text;
        v.text = static_cast<const char*>(value);
    } else if constexpr (std::is_convertible_v<T, const volatile void*>) {
        const volatile void* at = value;  // an address of local memory is a class
        v.kind = PrintValue::Kind::Pointer;
        v.integer = static_cast<int64_t>(reinterpret_cast<uintptr_t>(at));
    } else if constexpr (std::is_enum_v<T>) {
        v.kind = PrintValue::Kind::Integer;
        v.integer = static_cast<int64_t>(value);
        v.number = static_cast<double>(v.integer);
    } else if constexpr (std::is_integral_v<T>) {
        v.kind = PrintValue::Kind::Integer;
        v.integer = static_cast<int64_t>(value);
        v.number = static_cast<double>(value);
    } else {
        v.kind = PrintValue::Kind::Number;
        v.number = static_cast<double>(static_cast<float>(value));
        v.integer = static_cast<int64_t>(v.number);
    }
    return v;
}

}  // namespace npuforge

// Better than the C function for every call with arguments: half and bfloat16_t print as numbers.
template <typename First, typename... Rest> inline int printf(const char* format, const First& first, const Rest&... rest) {
    const npuforge::PrintValue values[] = {npuforge::print_value(first), npuforge::print_value(rest)...};
    npuforge::print_formatted(format, values, 1 + sizeof...(Rest));
    return 0;
}

namespace AscendC {

using ::printf;
template <typename... A> inline void PRINTF(const char* format, const A&... values) { ::printf(format, values...); }

template <typename T> inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
    npuforge::dump_elements(desc, "local", tensor.Data(), npuforge::dtype_v<T>, dumpSize, nullptr, 0);
}
template <typename T> inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
    npuforge::dump_elements(desc, "GM", tensor.GetPhyAddr(), npuforge::dtype_v<T>, dumpSize, nullptr, 0);
}
template <typename T>
inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo& shapeInfo) {
    npuforge::dump_elements(desc, "local", tensor.Data(), npuforge::dtype_v<T>, dumpSize, shapeInfo.shape, shapeInfo.shapeDim);
}
template <typename T>
inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo& shapeInfo) {
    npuforge::dump_elements(desc, "GM", tensor.GetPhyAddr(), npuforge::dtype_v<T>, dumpSize, shapeInfo.shape, shapeInfo.shapeDim);
}
template <typename Tensor> inline void DumpAccChkPoint(const Tensor& tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize) {
    DumpTensor(tensor[countOff], index, dumpSize);
}

inline void Trap() { npuforge::device_stop("Trap"); }
inline void MetricsProfStart() {}
inline void MetricsProfStop() {}

}  // namespace AscendC

inline void trap() { npuforge::device_stop("trap"); }

// One argument or a condition with a message.
#define NPUFORGE_ASSERT(condition, ...) \
    (static_cast<bool>(condition) ? void(0) : npuforge::device_stop("device assert failed: %s", #condition))
#undef assert
#define assert(...) NPUFORGE_ASSERT(__VA_ARGS__)
#define ascendc_assert(...) NPUFORGE_ASSERT(__VA_ARGS__)
// The device compiler drops this one unread; kernels rely on that.
#ifndef ASSERT
#define ASSERT(...)
#endif
// The second argument is code that logs; it runs in the vendor's CPU debugging only.
#define ASCENDC_ASSERT(condition, ...) NPUFORGE_ASSERT(condition)
#define KERNEL_LOG(...)
#define TRACE_START(...)
#define TRACE_STOP(...)
#define ASC_CPU_LOG_ERROR(...)
