// SPDX-License-Identifier: Apache-2.0
// Bounds-checked memory and string functions.
#pragma once

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

#ifndef EOK
#define EOK 0
#endif
using errno_t = int;

inline errno_t memcpy_s(void* target, size_t capacity, const void* source, size_t count) {
    if (target == nullptr || source == nullptr) return EINVAL;
    if (count > capacity) return ERANGE;
    std::memcpy(target, source, count);
    return EOK;
}
inline errno_t memmove_s(void* target, size_t capacity, const void* source, size_t count) {
    if (target == nullptr || source == nullptr) return EINVAL;
    if (count > capacity) return ERANGE;
    std::memmove(target, source, count);
    return EOK;
}
inline errno_t memset_s(void* target, size_t capacity, int value, size_t count) {
    if (target == nullptr) return EINVAL;
    if (count > capacity) return ERANGE;
    std::memset(target, value, count);
    return EOK;
}
inline errno_t strcpy_s(char* target, size_t capacity, const char* source) {
    if (target == nullptr || source == nullptr) return EINVAL;
    return memcpy_s(target, capacity, source, std::strlen(source) + 1);
}
inline errno_t strncpy_s(char* target, size_t capacity, const char* source, size_t count) {
    if (target == nullptr || source == nullptr) return EINVAL;
    const size_t length = strnlen(source, count);
    if (length + 1 > capacity) return ERANGE;
    std::memcpy(target, source, length);
    target[length] = '\0';
    return EOK;
}
inline int vsnprintf_s(char* target, size_t capacity, size_t count, const char* format,
                       va_list values) {
    const size_t room = capacity < count + 1 ? capacity : count + 1;
    const int written = std::vsnprintf(target, room, format, values);
    return written < 0 || static_cast<size_t>(written) >= room ? -1 : written;
}
inline int snprintf_s(char* target, size_t capacity, size_t count, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int written = vsnprintf_s(target, capacity, count, format, values);
    va_end(values);
    return written;
}
inline int sprintf_s(char* target, size_t capacity, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int written = vsnprintf_s(target, capacity, capacity, format, values);
    va_end(values);
    return written;
}
