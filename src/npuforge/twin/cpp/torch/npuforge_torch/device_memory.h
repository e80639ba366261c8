// SPDX-License-Identifier: Apache-2.0
// Extensions that launch kernels in their own process: streams, guards, and the memory of tensors.
#pragma once
#include "../../npu/direct.h"
#include "tensor.h"

namespace npuforge_torch {

// Every tensor whose address is taken becomes known to the runtime, so that bounds are checked.
inline const bool memory_is_known = [] {
    memory_hook() = [](void* address, uint64_t bytes) {
        npuforge::direct::adopt("tensor", address, static_cast<size_t>(bytes), true);
    };
    return true;
}();

}  // namespace npuforge_torch

namespace c10 {
struct OptionalDeviceGuard {
    template <typename... A> explicit OptionalDeviceGuard(const A&...) {}
};
struct DeviceGuard {
    template <typename... A> explicit DeviceGuard(const A&...) {}
};
}  // namespace c10

namespace c10_npu {
struct NPUStream {
    void* stream(bool = true) const { return nullptr; }
    operator void*() const { return nullptr; }
    void synchronize() const {}
};
inline NPUStream getCurrentNPUStream(int = 0) { return {}; }
inline NPUStream getDefaultNPUStream(int = 0) { return {}; }
}  // namespace c10_npu
namespace at::npu {
using c10_npu::getCurrentNPUStream;
}
