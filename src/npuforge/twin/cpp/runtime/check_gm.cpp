// SPDX-License-Identifier: Apache-2.0
// Global memory: accesses stay inside the tensors of the launch; scalar accesses see the data cache.
#include <algorithm>

#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

constexpr uint64_t kLine = 64;

bool is_local_address(const Core& core, const uint8_t* at) {
    const uint8_t* first = core.spaces[static_cast<int>(Space::UB)];
    const uint8_t* last = core.spaces[static_cast<int>(Space::FB)] + local_capacity(Space::FB);
    return at >= first && at < last;
}

template <typename Fn> void for_lines(const GmShadow& gm, uint64_t offset, uint64_t bytes, Fn fn) {
    const uint64_t at = reinterpret_cast<uint64_t>(gm.buffer->base) + offset;
    for (uint64_t line = at / kLine; line <= (at + bytes - 1) / kLine; ++line) fn(line);
}

// The scalar unit's own bytes in a line come from its cache; others' may be newer than the cache.
const AccessRecord* foreign_writer(GmShadow& gm, uint64_t offset, uint32_t bytes, const Core& core) {
    const AccessRecord* found = nullptr;
    gm.shadow.visit(static_cast<int64_t>(offset), bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
        const uint32_t first = static_cast<uint32_t>(__builtin_ctz(mask));
        const Shadow::Bytes* cells = gm.shadow.split_bytes(block);
        const uint32_t writer = cells != nullptr ? (*cells)[first].writer : block.cell.writer;
        if (writer == 0) return;
        const AccessRecord& r = launch_check().records[writer];
        if (r.pipe != Pipe::S || r.core != static_cast<uint32_t>(core.index)) found = &r;
    });
    return found;
}

}  // namespace

GmShadow* find_gm(const void* addr) {
    auto& all = launch_check().gm;
    const auto* at = static_cast<const uint8_t*>(addr);
    auto it = std::upper_bound(all.begin(), all.end(), at, [](const uint8_t* a, const GmShadow& g) { return a < g.buffer->base; });
    if (it == all.begin()) return nullptr;
    --it;
    return at < it->buffer->base + it->buffer->capacity ? &*it : nullptr;
}

bool check_gm_bounds(Core& core, const Instr& instr, const Access& access) {
    const Span span = span_of(access);
    const char* verb = access.write ? "writes" : "reads";
    const char* rule = access.write ? "MEM-05" : "MEM-04";
    const uint8_t* base = access.base;
    if (reinterpret_cast<uintptr_t>(base) < Shadow::kPageBytes || is_local_address(core, base)) {
        report_at(instr.site, "MEM-11", "%s %s %s through %s", instr.name, verb, access.role,
                  is_local_address(core, base) ? "an address of local memory" : "a null pointer");
        return false;
    }
    // A row may start outside while the tensor's own start is inside.
    GmShadow* gm = find_gm(access.origin != nullptr ? access.origin : base);
    if (gm == nullptr) {
        report_at(instr.site, rule, "%s %s %s outside of every tensor of the launch", instr.name, verb, access.role);
        return false;
    }
    const GmBuffer& buffer = *gm->buffer;
    const int64_t low = base - buffer.base + span.low, high = base - buffer.base + span.high;
    if (low < 0 || high > static_cast<int64_t>(buffer.capacity)) {
        report_at(instr.site, rule, "%s %s bytes %lld to %lld of %s, which has %llu B", instr.name, verb,
                  static_cast<long long>(low), static_cast<long long>(high), buffer.name.c_str(),
                  static_cast<unsigned long long>(buffer.bytes));
        return false;
    }
    if (access.write && high > static_cast<int64_t>(buffer.bytes))
        warn_at(instr.site, "CPY-10",
             std::string(instr.name) + " writes up to byte " + std::to_string(high) + " of " + buffer.name + ", which has " +
                 std::to_string(buffer.bytes) + " B: only the padding of the allocation keeps this from harm");
    if (access.write && !buffer.writable)
        report_at(instr.site, "MEM-10", "%s writes the input %s", instr.name, buffer.name.c_str());
    if (access.align > 1 && reinterpret_cast<uintptr_t>(base) % access.align != 0)
        report_at(instr.site, access.align_rule, "%s %s %s at byte %lld, which is no multiple of the element's %u B", instr.name,
                  verb, buffer.name.c_str(), static_cast<long long>(base - buffer.base), access.align);
    return true;
}

void check_cache_read(Core& core, GmShadow& gm, uint64_t offset, uint32_t bytes, uint32_t site) {
    CheckState& state = state_of(core);
    const uint64_t now = launch_check().tick;
    if (gm.tracked) {
        const AccessRecord* writer = foreign_writer(gm, offset, bytes, core);
        if (writer != nullptr) {
            bool stale = false;
            for_lines(gm, offset, bytes, [&](uint64_t line) {
                const auto cached = state.cached_lines.find(line);
                stale = stale || (cached != state.cached_lines.end() && cached->second < writer->tick);
            });
            if (stale)
                warn_at(site, "SCL-01",
                     "GetValue of " + gm.buffer->name + " reads a cache line from before " + writer->name + " (" +
                         pipe_name(writer->pipe) + ") changed it");
        }
        for_lines(gm, offset, bytes, [&](uint64_t line) { state.cached_lines.try_emplace(line, now); });
    }
}

void check_cache_write(Core& core, GmShadow& gm, uint64_t offset, uint32_t bytes, uint32_t site) {
    auto& dirty = launch_check().dirty_lines;
    const auto self = static_cast<uint32_t>(core.index);
    for_lines(gm, offset, bytes, [&](uint64_t line) {
        const auto [entry, fresh] = dirty.try_emplace(line, self);
        if (!fresh && entry->second != self)
            warn_at(site, "SCL-02",
                 "SetValue of " + gm.buffer->name + " at byte " + std::to_string(offset) + ": core " +
                     std::to_string(entry->second) + " holds the same 64 B cache line changed, one of them loses its data");
        entry->second = self;
        state_of(core).cached_lines.try_emplace(line, launch_check().tick);
    });
}

void check_cache_copy(Core&, GmShadow& gm, uint64_t offset, uint64_t bytes, uint32_t site, const char* name) {
    const LaunchCheck& all = launch_check();
    if (all.dirty_lines.empty()) return;
    bool found = false;
    const auto unclean = [&](uint32_t writer) { return writer != 0 && all.records[writer].pipe == Pipe::S; };
    gm.shadow.visit(static_cast<int64_t>(offset), bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t start) {
        if (found || !all.dirty_lines.contains((reinterpret_cast<uint64_t>(gm.buffer->base) + start) / kLine)) return;
        if (const Shadow::Bytes* cells = gm.shadow.split_bytes(block)) {
            for (uint32_t i = 0; i < kShadowBlock; ++i) found = found || ((mask >> i & 1) && unclean((*cells)[i].writer));
        } else {
            found = unclean(block.cell.writer);
        }
    });
    if (found)
        warn_at(site, "SCL-02",
             std::string(name) + " reads " + gm.buffer->name + " where SetValue has written and the data cache is not cleaned");
}

void check_data_cache(Core& core, const void* addr, bool whole, uint32_t) {
    CheckState& state = state_of(core);
    auto& dirty = launch_check().dirty_lines;
    const auto self = static_cast<uint32_t>(core.index);
    if (whole) {
        state.cached_lines.clear();
        state.dropped_all = true;
        std::erase_if(dirty, [&](const auto& entry) {
            if (entry.second == self) publish_line(core, entry.first);
            return entry.second == self;
        });
        return;
    }
    const uint64_t line = reinterpret_cast<uint64_t>(addr) / kLine;
    state.cached_lines.erase(line);
    state.dropped_lines.insert(line);
    const auto changed = dirty.find(line);
    if (changed == dirty.end()) return;
    if (changed->second == self) publish_line(core, line);
    dirty.erase(changed);
}

bool is_poll(Core& core, const GmShadow& gm, uint64_t offset) {
    const CheckState& state = state_of(core);
    return state.dropped_all ||
           state.dropped_lines.contains((reinterpret_cast<uint64_t>(gm.buffer->base) + offset) / kLine);
}

}  // namespace npuforge
