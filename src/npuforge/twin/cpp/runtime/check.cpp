// SPDX-License-Identifier: Apache-2.0
// The order of the checks of one instruction. What lies outside memory is reported and not executed;
// everything else is reported and goes on.
#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

bool in_bounds(Core& core, const Instr& instr) {
    bool fine = true;
    for (const Access& a : instr.accesses) {
        const bool inside = a.space == Space::GM ? check_gm_bounds(core, instr, a) : check_local_bounds(core, instr, a);
        fine = fine && inside;
    }
    return fine;
}

void touch(Core& core, const Instr& instr, uint32_t self, const Access& a) {
    const Place place = place_of(core, a.space, a.base);
    if (place.shadow == nullptr || (place.gm != nullptr && !place.gm->tracked)) return;
    RaceContext context{core, instr.pipe, self, instr.name, instr.site, a.space, place.gm, a.role, a.atomic};
    for_each_row(a, [&](int64_t at, uint64_t bytes) {
        const auto offset = static_cast<uint64_t>(place.offset + at);
        if (a.write) touch_write(*place.shadow, offset, bytes, a.base + at, context);
        else touch_read(*place.shadow, offset, bytes, context);
        if (place.gm != nullptr && !a.write) check_cache_copy(core, *place.gm, offset, bytes, instr.site, instr.name);
    });
}

}  // namespace

bool check_instruction(Core& core, const Instr& instr) {
    settle_writes();
    if (!in_bounds(core, instr)) return false;
    if (instr.pipe == Pipe::V) check_overlap(instr);
    bool atomic = false;
    for (const Access& a : instr.accesses) atomic = atomic || a.atomic;
    const uint32_t self = new_record(core, instr.pipe, instr.name, instr.site, atomic);
    // All operands are read before results are written.
    for (const Access& a : instr.accesses)
        if (!a.write) touch(core, instr, self, a);
    for (const Access& a : instr.accesses)
        if (a.write) touch(core, instr, self, a);
    flow_defined(core, instr);
    return true;
}

bool check_scalar(Core& core, const void* addr, const void* tensor, uint32_t bytes, Space space, const void* stored,
                  uint32_t site) {
    settle_writes();
    const bool write = stored != nullptr;
    static Instr instr;
    instr.name = write ? "SetValue" : "GetValue";
    instr.pipe = Pipe::S;
    instr.site = site;
    instr.local_vector = false;
    Access access{};
    access.base = static_cast<const uint8_t*>(addr);
    access.origin = static_cast<const uint8_t*>(tensor);
    access.row_bytes = bytes;
    access.space = space;
    access.write = write;
    access.align = 1;
    access.role = "an element";
    const bool fine = space == Space::GM ? check_gm_bounds(core, instr, access) : check_local_bounds(core, instr, access);
    if (!fine) return false;
    const Place place = place_of(core, space, access.base);
    const auto offset = static_cast<uint64_t>(place.offset);
    const bool poll = !write && place.gm != nullptr && is_poll(core, *place.gm, offset);
    if (poll) receive_line(core, reinterpret_cast<uint64_t>(addr) / 64);
    const uint32_t self = new_record(core, Pipe::S, instr.name, site, false, poll);
    if (place.gm == nullptr || place.gm->tracked) {
        RaceContext context{core, Pipe::S, self, instr.name, site, space, place.gm, "", false};
        context.poll = poll;
        if (write) touch_write(*place.shadow, offset, bytes, access.base, context);
        else touch_read(*place.shadow, offset, bytes, context);
    }
    if (place.gm != nullptr) {
        if (write) check_cache_write(core, *place.gm, offset, bytes, site);
        else check_cache_read(core, *place.gm, offset, bytes, site);
    }
    place.shadow->visit(static_cast<int64_t>(offset), bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
        if (write) {
            block.undefined &= ~mask;
        } else if ((block.undefined & mask) != 0) {
            const Origin& origin = launch_check().origins[block.origin];
            const uint32_t where = origin.site != 0 ? origin.site : site;
            report_at(where, rule_of(origin.kind), "%s %s bytes %s, and GetValue reads the result", origin.site != 0 ? origin.name : "GetValue",
                      origin.site != 0 ? "uses" : "reads", origin_text(origin).c_str());
            block.undefined &= ~mask;  // once is enough
        }
    });
    return true;
}

}  // namespace npuforge
