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

// Never destroyed: findings are written while the program exits.
std::vector<SiteFrames>& table() {
    static auto& sites = *new std::vector<SiteFrames>{SiteFrames{}};
    return sites;
}

// Follows the frames from `at` on, from place `depth` of the chain. Both ABIs keep {previous frame,
// return address} at the frame address. The walk stays inside the fiber's stack, so a broken chain
// cannot lead it astray.
void walk(SiteFrames& frames, int depth, uintptr_t at) {
    uintptr_t low = at, high = at + (1u << 16);
    if (g_core != nullptr && g_core->fiber.stack != nullptr) {
        low = reinterpret_cast<uintptr_t>(g_core->fiber.stack);
        high = low + g_core->fiber.stack_bytes;
    }
    for (int i = depth; i < kSiteDepth; ++i) {
        if (at < low || at + 2 * sizeof(uintptr_t) > high || at % sizeof(uintptr_t) != 0) break;
        const auto* pair = reinterpret_cast<const uintptr_t*>(at);
        frames[i] = pair[1];
        if (pair[0] <= at) break;
        at = pair[0];
    }
}

uint32_t intern(const SiteFrames& frames) {
    static std::unordered_map<SiteFrames, uint32_t, FrameHash> known;
    // Loops come back to the same few places: a small cache in front of the map.
    struct Entry {
        SiteFrames frames;
        uint32_t site;
    };
    static std::array<Entry, 256> recent{};
    const size_t hash = FrameHash()(frames);
    Entry& cached = recent[(hash ^ hash >> 17) % recent.size()];
    if (cached.site != 0 && cached.frames == frames) return cached.site;
    const auto [entry, fresh] = known.try_emplace(frames, static_cast<uint32_t>(table().size()));
    if (fresh) table().push_back(frames);
    cached = {frames, entry->second};
    return entry->second;
}

}  // namespace

uint32_t intern_site(void* frame) {
    SiteFrames frames{};
    walk(frames, 0, reinterpret_cast<uintptr_t>(frame));
    return intern(frames);
}

uint32_t intern_fault_site(uintptr_t instruction, uintptr_t frame) {
    SiteFrames frames{};
    frames[0] = instruction + 1;  // readers of a chain step back into the call
    walk(frames, 1, frame);
    return intern(frames);
}

const SiteFrames& site_frames(uint32_t site) { return table()[site]; }

}  // namespace npuforge
