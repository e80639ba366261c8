// SPDX-License-Identifier: Apache-2.0
// Local memory: an operand lies in its buffer, starts where it must, and its buffer is in use.
#include <algorithm>

#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

// AscendC::TPosition values of the vector unit's memory.
bool is_vector_position(uint8_t position) { return position >= 9 && position <= 11; }

const char* bounds_rule(const Instr& instr, const Access& access) {
    if (access.bounds_rule != nullptr) return access.bounds_rule;
    if (instr.pipe == Pipe::V) return "VEC-07";
    return access.write ? "MEM-03" : "MEM-02";
}

const char* space_name(Space space) {
    constexpr const char* names[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    return names[static_cast<int>(space)];
}

// An address that is in no local memory of this core, or in another one than the operand claims.
bool report_wrong_space(Core& core, const Instr& instr, const Access& access) {
    const uint8_t* at = access.origin != nullptr ? access.origin : access.base;
    if (at == nullptr) {
        report_at(instr.site, "MEM-11", "%s: %s is a tensor without memory (never allocated or set)", instr.name, access.role);
        return true;
    }
    const uint8_t* base = core.spaces[static_cast<int>(access.space)];
    // Somewhat outside is an overrun; far outside is another kind of address.
    const int64_t capacity = local_capacity(access.space);
    if (at - base >= -capacity && at - base <= 2 * capacity) return false;
    report_at(instr.site, "MEM-11", "%s: %s is no address in %s", instr.name, access.role, space_name(access.space));
    return true;
}

// InitBuffer gave out more than UB has, and this operand reaches into what is not there.
bool in_spilled_buffer(const Core& core, const Access& access) {
    if (access.space != Space::UB || core.ub_used <= local_capacity(Space::UB)) return false;
    const uint8_t* at = access.origin != nullptr ? access.origin : access.base;
    const int64_t offset = at - core.spaces[static_cast<int>(Space::UB)];
    return offset >= 0 && offset < int64_t(core.ub_used);
}

}  // namespace

std::string operand_text(const Instr& instr, const Access& access) {
    return std::string(instr.name) + (access.write ? " writes " : " reads ") + access.role;
}

Place place_of(Core& core, Space space, const uint8_t* at) {
    if (space == Space::GM) {
        GmShadow* gm = find_gm(at);
        if (gm == nullptr) return {};
        return {&gm->shadow, at - gm->buffer->base, gm};
    }
    return {&state_of(core).local[static_cast<int>(space)], at - core.spaces[static_cast<int>(space)], nullptr};
}

bool check_local_bounds(Core& core, const Instr& instr, const Access& access) {
    if (instr.local_vector && instr.pipe == Pipe::V && !is_vector_position(access.position)) {
        report_at(instr.site, "VEC-13", "%s: %s is in position %d, which is no memory of the vector unit", instr.name, access.role,
                  access.position);
        return false;
    }
    const bool beyond_end = in_spilled_buffer(core, access);
    if (!beyond_end && report_wrong_space(core, instr, access)) return false;
    CheckState& state = state_of(core);
    const uint8_t* base = core.spaces[static_cast<int>(access.space)];
    const int64_t offset = access.base - base;
    const int64_t origin = (access.origin != nullptr ? access.origin : access.base) - base;
    const Span span = span_of(access);
    const int64_t low = offset + span.low, high = offset + span.high, capacity = local_capacity(access.space);
    if (access.align > 1 && offset % access.align != 0)
        report_at(instr.site, access.align_rule, "%s at byte %lld of %s, which is no multiple of %u B", operand_text(instr, access).c_str(),
                  static_cast<long long>(offset), space_name(access.space), access.align);
    if (low < 0 || high > capacity || origin < 0 || origin >= capacity) {
        report_at(instr.site, beyond_end ? "CAP-01" : bounds_rule(instr, access), "%s at bytes %lld to %lld, outside the %lld B of %s",
                  operand_text(instr, access).c_str(), static_cast<long long>(low), static_cast<long long>(high),
                  static_cast<long long>(capacity), space_name(access.space));
        return false;
    }
    const uint32_t number = state.local[static_cast<int>(access.space)].block(static_cast<uint64_t>(origin)).region;
    if (number != 0) {
        const Region& region = state.regions[number];
        const int64_t end = int64_t(region.offset) + region.bytes;
        if (low < region.offset || high > end)
            report_at(instr.site, bounds_rule(instr, access),
                      "%s at bytes %lld to %lld of %s, outside its buffer of %u B at %u", operand_text(instr, access).c_str(),
                      static_cast<long long>(low), static_cast<long long>(high), space_name(access.space), region.bytes,
                      region.offset);
        if (!region.live) {
            const bool freed = region.freed_at != 0;
            const std::string text = operand_text(instr, access) + " in a queue buffer that is " + (freed ? "freed" : "not allocated");
            // What is there stays until the queue gives the buffer out again, and then it is a race.
            if (freed) warn_at(instr.site, "MEM-08", text);
            else report_at(instr.site, "MEM-08", "%s", text.c_str());
        }
    } else if (access.room != 0 && high - origin > int64_t(access.room)) {
        report_at(instr.site, bounds_rule(instr, access), "%s up to byte %lld of a tensor of %u B",
                  operand_text(instr, access).c_str(), static_cast<long long>(high - origin), access.room);
    }
    return true;
}

void check_buffer(Core& core, const uint8_t* base, uint32_t bytes, uint8_t, bool queue_slot) {
    CheckState& state = state_of(core);
    constexpr auto ub = static_cast<int>(Space::UB);
    const auto offset = static_cast<uint32_t>(base - core.spaces[ub]);
    const auto number = static_cast<uint32_t>(state.regions.size());
    state.regions.push_back({queue_slot ? Region::Kind::Slot : Region::Kind::Buffer, offset, bytes, !queue_slot, 0});
    const uint32_t origin = new_origin(Origin::Kind::Never, 0, "", 0);
    const uint32_t capacity = local_capacity(Space::UB);
    if (offset >= capacity) return;  // reported as CAP-01; any access to it is out of bounds
    state.local[ub].visit(offset, std::min(bytes, capacity - offset), [&](ShadowBlock& block, uint32_t, uint64_t) {
        block.region = number;
        block.undefined = kAllBytes;
        block.origin = origin;
    });
}

void check_buffers_gone(Core& core) {
    CheckState& state = state_of(core);
    Shadow& ub = state.local[static_cast<int>(Space::UB)];
    for (const Region& region : state.regions)
        if (region.offset < local_capacity(Space::UB))
            ub.visit(region.offset, std::min(region.bytes, local_capacity(Space::UB) - region.offset), [](ShadowBlock& block, uint32_t, uint64_t) { block.region = 0; });
    state.regions.assign(1, {});
    state.slots.clear();
}

}  // namespace npuforge
