// SPDX-License-Identifier: Apache-2.0
// Device memory and launches of a program with its own `main`.
#pragma once
#include <cstdint>
#include <string>

#include "../npu/direct.h"
#include "session.h"

namespace npuforge::direct {

// The session of this process, opened on first use and closed when the process ends.
void ensure_session();

// Device memory of `bytes`; null when there is none left.
uint8_t* allocate(size_t bytes, bool initialised);
// The live allocation that holds `pointer`, or null. Valid until the next allocation or release.
GmBuffer* find(const void* pointer);

// While a graph is captured, keeps `task` for it instead of running it now; false otherwise.
bool capture(const char* name, const std::function<void()>& task);

// The last failed launch: 0 or an error code, which reading clears.
int take_failure();

// A constant of the chip the session is for.
int64_t chip_number(const char* key);
std::string chip_text(const char* key);

// Told before (0) and after (1) every launch of this process.
using LaunchObserver = void (*)(int after);

}  // namespace npuforge::direct

// Who watches a process that loads untrusted code: the first to ask, for good.
extern "C" __attribute__((visibility("default"))) void npuforge_observe_launches(
    npuforge::direct::LaunchObserver observer);
