// SPDX-License-Identifier: Apache-2.0
// The door through which the runner calls a kernel: one C function that unpacks its arguments.
#pragma once
#include <type_traits>
#include <utility>

namespace npuforge {

template <typename... A, size_t... I> void call_kernel(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_cv_t<std::remove_reference_t<A>>*>(arguments[I])...);
}
template <typename... A> void call_kernel(void (*kernel)(A...), void** arguments) {
    call_kernel(kernel, arguments, std::index_sequence_for<A...>());
}
template <typename... A> constexpr int arity(void (*)(A...)) { return sizeof...(A); }

}  // namespace npuforge

// `name` stands for the kernel in the runner's plan; the kernel may be an instance of a template.
#define NPUFORGE_ENTRY_AS(name, ...)                                                               \
    extern "C" __attribute__((visibility("default"))) void npuforge_entry_##name(void** arguments) { \
        npuforge::call_kernel(&__VA_ARGS__, arguments);                                            \
    }                                                                                              \
    extern "C" __attribute__((visibility("default"))) const int npuforge_arity_##name = npuforge::arity(&__VA_ARGS__);

#define NPUFORGE_ENTRY(kernel) NPUFORGE_ENTRY_AS(kernel, kernel)
