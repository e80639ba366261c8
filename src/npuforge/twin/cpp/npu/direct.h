// SPDX-License-Identifier: Apache-2.0
// Launches from a program's own host code. `kernel<<<blocks, l2, stream>>>(args)` is rewritten to
//     npuforge::direct::call([&](auto... a) { kernel(a...); }, "kernel",
//                            npuforge::direct::config(blocks, l2, stream), args)
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

namespace npuforge::direct {

struct Config {
    int64_t blocks = 1;
};

// What follows the block count (L2 control or shared memory, stream) has no effect here.
template <typename Blocks, typename... Rest> Config config(Blocks blocks, const Rest&...) {
    return {static_cast<int64_t>(blocks)};
}

// Runs `body` once per block. The launch ends before this returns; a failure shows in the session's
// result and in the next synchronisation.
void launch(const char* name, const Config& config, const std::function<void()>& body);

template <typename Kernel, typename... Arguments>
void call(const Kernel& kernel, const char* name, const Config& config, Arguments... arguments) {
    launch(name, config, [=] { kernel(arguments...); });
}

// As `ACLRT_LAUNCH_KERNEL` does: addresses come untyped and take the kernel's types.
template <typename To, typename From> To as_argument(From value) {
    if constexpr (std::is_pointer_v<To> && std::is_pointer_v<From>) return (To)value;
    else return static_cast<To>(value);
}
template <typename... Parameters, typename... Arguments>
uint32_t call_untyped(void (*kernel)(Parameters...), const char* name, const Config& config, Arguments... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
    launch(name, config, [=] { kernel(as_argument<Parameters>(arguments)...); });
    return 0;
}

void set_tiling_key(uint64_t key);

// Memory that host and device both see.
void* shared_memory(size_t bytes);
void release(void* pointer);

// Makes memory allocated elsewhere known as a tensor, so that the bounds of accesses are known.
void adopt(const char* name, void* base, size_t bytes, bool initialised);
void forget(void* base);

}  // namespace npuforge::direct
