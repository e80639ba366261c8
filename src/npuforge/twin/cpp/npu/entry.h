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

#define NPUFORGE_ENTRY(kernel)                                                                       \
    extern "C" __attribute__((visibility("default"))) void npuforge_entry_##kernel(void** arguments) { \
        npuforge::call_kernel(&kernel, arguments);                                                   \
    }                                                                                                \
    extern "C" __attribute__((visibility("default"))) const int npuforge_arity_##kernel = npuforge::arity(&kernel);
