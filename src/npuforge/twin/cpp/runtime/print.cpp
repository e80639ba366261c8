// SPDX-License-Identifier: Apache-2.0
// What a kernel says: printf, DumpTensor, asserts.
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "../npu/abi_more.h"
#include "core.h"
#include "report.h"

namespace npuforge {

namespace {

std::string one(const std::string& spec, const PrintValue& value) {
    char text[512];
    const char conversion = spec.back();
    // Length modifiers are dropped: integers travel as 64 bits.
    std::string plain;
    for (const char c : spec)
        if (std::strchr("hlzjtL", c) == nullptr) plain += c;
    plain.pop_back();
    switch (conversion) {
        case 'd': case 'i':
            std::snprintf(text, sizeof text, (plain + "lld").c_str(), static_cast<long long>(value.integer));
            break;
        case 'u': case 'x': case 'X': case 'o':
            std::snprintf(text, sizeof text, (plain + "ll" + conversion).c_str(), static_cast<unsigned long long>(value.integer));
            break;
        case 'c': std::snprintf(text, sizeof text, (plain + "c").c_str(), static_cast<int>(value.integer)); break;
        case 'p': std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value.integer)); break;
        case 's':
            std::snprintf(text, sizeof text, (plain + "s").c_str(),
                          value.kind == PrintValue::Kind::Text && value.text != nullptr ? value.text : "(not a text)");
            break;
        default: std::snprintf(text, sizeof text, (plain + conversion).c_str(), value.number); break;
    }
    return text;
}

double element(const uint8_t* at, DType type) {
    switch (type) {
        case DType::I8: return static_cast<double>(*reinterpret_cast<const int8_t*>(at));
        case DType::U8: case DType::Bool: case DType::I4: return *at;
        case DType::I16: { int16_t v; std::memcpy(&v, at, 2); return v; }
        case DType::U16: { uint16_t v; std::memcpy(&v, at, 2); return v; }
        case DType::F16: { uint16_t v; std::memcpy(&v, at, 2); return static_cast<double>(half_bits_to_float(v)); }
        case DType::BF16: { uint16_t v; std::memcpy(&v, at, 2); return static_cast<double>(bf16_bits_to_float(v)); }
        case DType::I32: { int32_t v; std::memcpy(&v, at, 4); return v; }
        case DType::U32: { uint32_t v; std::memcpy(&v, at, 4); return v; }
        case DType::I64: { int64_t v; std::memcpy(&v, at, 8); return static_cast<double>(v); }
        case DType::U64: { uint64_t v; std::memcpy(&v, at, 8); return static_cast<double>(v); }
        case DType::F64: { double v; std::memcpy(&v, at, 8); return v; }
        default: { float v; std::memcpy(&v, at, 4); return static_cast<double>(v); }
    }
}

}  // namespace

void device_print(const char* text, size_t length) { std::fwrite(text, 1, length, stdout); }

void print_formatted(const char* format, const PrintValue* values, size_t count) {
    std::string out;
    size_t next = 0;
    for (const char* at = format; *at != '\0'; ++at) {
        if (*at != '%') {
            out += *at;
            continue;
        }
        if (at[1] == '%') {
            out += '%';
            ++at;
            continue;
        }
        std::string spec = "%";
        while (*++at != '\0') {
            spec += *at;
            if (std::strchr("diuxXocpsfFeEgGaA", *at) != nullptr) break;
        }
        if (*at == '\0') break;
        if (next < count) out += one(spec, values[next]);
        ++next;
    }
    device_print(out.data(), out.size());
}

void dump_elements(uint32_t id, const char* memory, const void* at, DType type, uint32_t count, const uint32_t* shape, uint32_t dims) {
    if (g_mode & kNoData) return;
    std::string out = "DumpTensor " + std::to_string(id) + " (" + memory + ")";
    out += " core " + std::to_string(g_core->index) + "\n[";
    const uint32_t size = dtype_bytes(type);
    const uint32_t line = dims > 0 && shape[dims - 1] > 0 ? shape[dims - 1] : 8;
    for (uint32_t i = 0; i < count; ++i) {
        char text[40];
        std::snprintf(text, sizeof text, "%.6g", element(static_cast<const uint8_t*>(at) + size_t(i) * size, type));
        if (i != 0) out += i % line == 0 ? ",\n " : ", ";
        out += text;
    }
    out += "]\n";
    device_print(out.data(), out.size());
}

void device_stop(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    stop_launch(text);
}

// The counter runs at 50 MHz.
uint64_t system_cycle() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() / 20);
}

}  // namespace npuforge
