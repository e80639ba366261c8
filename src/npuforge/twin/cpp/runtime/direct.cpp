// SPDX-License-Identifier: Apache-2.0
#include "direct.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "../include/acl/acl_base.h"
#include "core.h"

namespace npuforge::direct {

namespace {

// What the framework keeps at the start of a kernel's workspace.
constexpr uint64_t kWorkspaceBytes = 16u << 20;

struct Allocation {
    GmBuffer buffer;
    bool ours = true;  // mapped by us, not adopted
};

std::map<const uint8_t*, Allocation>& allocations() {
    static std::map<const uint8_t*, Allocation> live;
    return live;
}

uint64_t g_key = 0;
int g_failure = 0;
LaunchObserver g_observer = nullptr;

uint8_t* workspace() {
    static uint8_t* base = allocate(kWorkspaceBytes, false);
    return base;
}

void close_at_exit() { close_session(""); }

const ConstantsFile& chip() {
    static const ConstantsFile constants = ConstantsFile::load(session().constants);
    return constants;
}

}  // namespace

void ensure_session() {
    static const bool opened = [] {
        allocations();  // outlives the handler below
        open_session_from_environment();
        std::atexit(close_at_exit);
        return true;
    }();
    (void)opened;
}

uint8_t* allocate(size_t bytes, bool initialised) {
    ensure_session();
    static int number = 0;
    try {
        const std::string name = "device memory " + std::to_string(++number);
        // A process gets its device memory cleared. To count on it is a finding all the same.
        Allocation made{map_gm(name, bytes, "", true, true, false)};
        made.buffer.initialised = initialised;
        made.buffer.role_known = false;
        uint8_t* base = made.buffer.base;
        allocations()[base] = std::move(made);
        return base;
    } catch (const std::exception&) {
        return nullptr;
    }
}

GmBuffer* find(const void* pointer) {
    const auto* at = static_cast<const uint8_t*>(pointer);
    auto after = allocations().upper_bound(at);
    if (after == allocations().begin()) return nullptr;
    GmBuffer& buffer = std::prev(after)->second.buffer;
    return at < buffer.base + buffer.capacity ? &buffer : nullptr;
}

void release(void* pointer) {
    const auto found = allocations().find(static_cast<uint8_t*>(pointer));
    if (found == allocations().end()) return;
    if (found->second.ours) unmap_gm(found->second.buffer);
    allocations().erase(found);
}

void adopt(const char* name, void* base, size_t bytes, bool initialised) {
    ensure_session();
    Allocation known;
    known.buffer.name = name;
    known.buffer.base = static_cast<uint8_t*>(base);
    known.buffer.bytes = known.buffer.capacity = bytes;
    known.buffer.initialised = initialised;
    known.ours = false;
    allocations()[known.buffer.base] = std::move(known);
}

void forget(void* base) { allocations().erase(static_cast<uint8_t*>(base)); }

void* shared_memory(size_t bytes) { return allocate(bytes, true); }

void set_tiling_key(uint64_t key) { g_key = key; }

int64_t chip_number(const char* key) { return static_cast<int64_t>(chip().number(key)); }
std::string chip_text(const char* key) { return chip().text(key); }

int take_failure() {
    const int failure = g_failure;
    g_failure = 0;
    return failure;
}

void launch(const char* name, const Config& config, const std::function<void()>& body) {
    ensure_session();
    if (capture(name, [=, kernel = std::string(name)] { launch(kernel.c_str(), config, body); })) return;
    if (config.blocks < 1 || config.blocks > 65535) {
        std::fprintf(stderr, "npuforge: %s is launched with %lld blocks\n", name,
                     static_cast<long long>(config.blocks));
        g_failure = ACL_ERROR_RT_PARAM_INVALID;
        return;
    }
    Launch one;
    one.blocks = static_cast<int>(config.blocks);
    one.key = g_key;
    one.workspace = workspace();
    for (const auto& [base, allocation] : allocations()) one.gm.push_back(allocation.buffer);
    if (g_observer != nullptr) g_observer(0);
    if (!run_launch(one, name, body)) g_failure = ACL_ERROR_RT_AICORE_EXCEPTION;
    if (g_observer != nullptr) g_observer(1);
    // What a kernel had in its hands may be written now; only the kernel knows.
    for (auto& [base, allocation] : allocations()) allocation.buffer.initialised = true;
}

}  // namespace npuforge::direct

void npuforge_observe_launches(npuforge::direct::LaunchObserver observer) {
    using npuforge::direct::g_observer;
    if (g_observer == nullptr) g_observer = observer;
}
