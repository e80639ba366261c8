// SPDX-License-Identifier: Apache-2.0
// Logging. Warnings and errors are printed; the rest only when NPUFORGE_HOST_LOG is set.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "npuforge_host/contexts.h"

namespace npuforge::host {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

inline std::string LogName(const std::string& name) { return name; }
inline std::string LogName(const char* name) { return name == nullptr ? "?" : name; }
inline std::string LogName(const gert::ExtendedKernelContext* context) {
    return context == nullptr ? "?" : context->GetNodeName();
}

template <typename Where, typename... Values>
void Log(LogLevel level, const Where& where, const char* format, Values... values) {
    if (level < LogLevel::kWarning && std::getenv("NPUFORGE_HOST_LOG") == nullptr) return;
    static constexpr const char* kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    std::fflush(stdout);
    std::fprintf(stderr, "[%s] %s: ", kNames[static_cast<int>(level)], LogName(where).c_str());
    if constexpr (sizeof...(values) == 0) {
        std::fputs(format, stderr);
    } else {
        std::fprintf(stderr, format, values...);
    }
    std::fputc('\n', stderr);
}
template <typename Where, typename... Values>
void Log(LogLevel level, const Where& where, const std::string& format, Values... values) {
    Log(level, where, format.c_str(), values...);
}

}  // namespace npuforge::host
