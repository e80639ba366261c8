// SPDX-License-Identifier: Apache-2.0
#include "site.h"

#include <unordered_map>

#include "core.h"

namespace npuforge {

namespace {

struct FrameHash {
    size_t operator()(const SiteFrames& frames) const {
        size_t hash = 1469598103934665603ull;
        for (uintptr_t f : frames) hash = (hash ^ f) * 1099511628211ull;
        return hash;
    }
};

std::vector<SiteFrames>& table() {
    static std::vector<SiteFrames> sites{SiteFrames{}};
    return sites;
}

}  // namespace

uint32_t intern_site(void* frame) {
    static std::unordered_map<SiteFrames, uint32_t, FrameHash> known;
    SiteFrames frames{};
    // Both ABIs keep {previous frame, return address} at the frame address. The walk stays inside
    // the fiber's stack, so a broken chain cannot lead it astray.
    auto at = reinterpret_cast<uintptr_t>(frame);
    uintptr_t low = at, high = at + (1u << 16);
    if (g_core != nullptr && g_core->fiber.stack != nullptr) {
        low = reinterpret_cast<uintptr_t>(g_core->fiber.stack);
        high = low + g_core->fiber.stack_bytes;
    }
    for (int i = 0; i < kSiteDepth; ++i) {
        if (at < low || at + 2 * sizeof(uintptr_t) > high || at % sizeof(uintptr_t) != 0) break;
        const auto* pair = reinterpret_cast<const uintptr_t*>(at);
        frames[i] = pair[1];
        if (pair[0] <= at) break;
        at = pair[0];
    }
    const auto [entry, fresh] = known.try_emplace(frames, static_cast<uint32_t>(table().size()));
    if (fresh) table().push_back(frames);
    return entry->second;
}

const SiteFrames& site_frames(uint32_t site) { return table()[site]; }

}  // namespace npuforge
