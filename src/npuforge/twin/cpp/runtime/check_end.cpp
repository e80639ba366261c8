// SPDX-License-Identifier: Apache-2.0
// The end of a core and of a launch: what is left switched on, and what the outputs hold.
#include <algorithm>

#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

// Stretches of an output that are undefined for one reason.
struct Gap {
    uint64_t first = 0, bytes = 0, ranges = 0, last_end = 0;
    void add(uint64_t at, uint64_t n) {
        if (bytes == 0) first = at;
        if (bytes == 0 || at != last_end) ranges += 1;
        bytes += n;
        last_end = at + n;
    }
};

std::map<uint32_t, Gap> gaps_of(GmShadow& gm) {
    std::map<uint32_t, Gap> gaps;
    const uint64_t bytes = gm.buffer->bytes;
    for (uint64_t at = 0; at < bytes;) {
        const uint64_t page_end = std::min(bytes, at / Shadow::kPageBytes * Shadow::kPageBytes + Shadow::kPageBytes);
        if (!gm.shadow.page_exists(at)) {
            if (gm.shadow.initially_undefined()) gaps[gm.shadow.initial_origin()].add(at, page_end - at);
            at = page_end;
            continue;
        }
        gm.shadow.visit(static_cast<int64_t>(at), page_end - at, [&](ShadowBlock& block, uint32_t mask, uint64_t start) {
            const uint32_t undefined = block.undefined & mask;
            if (undefined == 0) return;
            if (undefined == kAllBytes) return gaps[block.origin].add(start, kShadowBlock);
            for (uint32_t i = 0; i < kShadowBlock; ++i)
                if (undefined >> i & 1) gaps[block.origin].add(start + i, 1);
        });
        at = page_end;
    }
    return gaps;
}

// What a kernel left unwritten in memory that may or may not be an output.
struct HeldGap {
    const uint8_t* first;
    const uint8_t* end;
    Finding finding;
};
std::vector<HeldGap>& held_gaps() {
    static std::vector<HeldGap> held;
    return held;
}

void report_gap(const GmShadow& gm, const Origin& origin, const Gap& gap) {
    Finding finding;
    const std::string place = gm.buffer->name + " bytes " + std::to_string(gap.first) + " to " +
                              std::to_string(gap.ranges == 1 ? gap.first + gap.bytes : gap.last_end) +
                              (gap.ranges == 1 ? "" : " (" + std::to_string(gap.ranges) + " stretches, " +
                                                          std::to_string(gap.bytes) + " B in all)");
    if (origin.kind == Origin::Kind::Output && origin.site == 0) {
        finding.rule = "MEM-09";
        finding.message = "the kernel never writes " + place;
        if (!gm.buffer->role_known) {
            held_gaps().push_back({gm.buffer->base + gap.first, gm.buffer->base + gap.last_end, std::move(finding)});
            return;
        }
    } else {
        finding.rule = rule_of(origin.kind);
        finding.site = origin.site != 0 ? origin.site : origin.made_by;
        finding.message = (origin.name[0] != 0 ? std::string(origin.name) + " uses bytes " : std::string("bytes ")) +
                          origin_text(origin) + "; they end up in output " + place;
    }
    add_finding(std::move(finding));
}

}  // namespace

LaunchCheck& launch_check() {
    static LaunchCheck state;
    return state;
}

void check_launch_begin(Launch& launch) {
    LaunchCheck& all = launch_check();
    all = LaunchCheck();
    all.records.resize(1);
    all.origins.push_back({Origin::Kind::Defined});
    for (const GmBuffer& buffer : launch.gm) {
        GmShadow gm;
        gm.buffer = &buffer;
        gm.tracked = buffer.writable;
        uint32_t origin = 0;
        if (!buffer.initialised)
            origin = new_origin(buffer.base == launch.workspace ? Origin::Kind::Workspace : Origin::Kind::Output, 0, "", 0);
        gm.shadow.reset(buffer.capacity, origin != 0 ? kAllBytes : 0, origin);
        all.gm.push_back(std::move(gm));
    }
    std::sort(all.gm.begin(), all.gm.end(), [](const GmShadow& a, const GmShadow& b) { return a.buffer->base < b.buffer->base; });
}

void check_core_begin(Core& core) {
    core.check = std::make_shared<CheckState>();
    CheckState& state = state_of(core);
    state.epochs.fill(1);
    state.regions.resize(1);
    const uint32_t never = new_origin(Origin::Kind::Never, 0, "", 0);
    for (int s = 1; s < 8; ++s) state.local[s].reset(local_capacity(static_cast<Space>(s)), kAllBytes, never);
}

void check_core_end(Core& core) {
    check_flags_at_end(core);
    check_queues_at_end(core);
    if (core.vector.counter)
        warn_at(0, "MSK-05", "the kernel ends in counter mode: SetMaskNorm and ResetMask are missing");
    if (core.atomic.operation != 0)
        warn_at(0, "ATM-01", "the kernel ends with atomic accumulation on: SetAtomicNone is missing");
    core.check.reset();
}

void check_copied_out(const uint8_t* from, uint64_t bytes) {
    std::erase_if(held_gaps(), [&](HeldGap& gap) {
        if (gap.end <= from || gap.first >= from + bytes) return false;
        add_finding(std::move(gap.finding));
        return true;
    });
}

void check_launch_end(Launch& launch) {
    settle_writes();
    LaunchCheck& all = launch_check();
    for (GmShadow& gm : all.gm) {
        if (!gm.tracked || gm.buffer->base == launch.workspace) continue;
        for (const auto& [origin, gap] : gaps_of(gm)) report_gap(gm, all.origins[origin], gap);
    }
}

}  // namespace npuforge
