// SPDX-License-Identifier: Apache-2.0
// Flags, barriers and event ids inside a core.
#include "flags.h"

#include "check.h"
#include "report.h"

namespace npuforge {

namespace {

void record_sync(RecordKind kind, Pipe pipe, Pipe other, int event, uint32_t site, const char* name) {
    Record r;
    r.kind = kind;
    r.pipe = pipe;
    r.other = other;
    r.event = static_cast<uint8_t>(event);
    r.site = site;
    r.op = op_id(name);
    r.scalar_cycles = costs().issue_cycles(r.op);
    record(r);
}

uint8_t& ids_in_use(Pipe from, Pipe to) { return g_core->events[static_cast<int>(from)][static_cast<int>(to)]; }

int lowest_free(uint8_t used) {
    for (int id = 0; id < 8; ++id)
        if ((used >> id & 1) == 0) return id;
    report("EVT-04", "all eight event ids of this pipe pair are in use");
    return 7;
}

}  // namespace

void set_flag_at(Pipe from, Pipe to, int event, uint32_t site, bool from_queue) {
    if (g_mode & kCheck) check_set_flag(*g_core, from, to, event, site, from_queue);
    if (g_mode & kTime) record_sync(RecordKind::SetFlag, from, to, event, site, "SetFlag");
}

void wait_flag_at(Pipe from, Pipe to, int event, uint32_t site, bool from_queue) {
    if (g_mode & kCheck) check_wait_flag(*g_core, from, to, event, site, from_queue);
    if (g_mode & kTime) record_sync(RecordKind::WaitFlag, from, to, event, site, "WaitFlag");
}

void set_flag(Pipe from, Pipe to, int event) {
    if (g_mode != 0) set_flag_at(from, to, event, NPUFORGE_SITE(), false);
}

void wait_flag(Pipe from, Pipe to, int event) {
    if (g_mode != 0) wait_flag_at(from, to, event, NPUFORGE_SITE(), false);
}

void pipe_barrier(Pipe pipe) {
    if (g_mode == 0) return;
    const uint32_t site = NPUFORGE_SITE();
    if (g_mode & kCheck) check_barrier(*g_core, pipe, site);
    if (g_mode & kTime) record_sync(RecordKind::Barrier, pipe, Pipe::Count, 0, site, "PipeBarrier");
}

int take_event(Pipe from, Pipe to) {
    uint8_t& used = ids_in_use(from, to);
    const int id = lowest_free(used);
    used |= static_cast<uint8_t>(1 << id);
    return id;
}

void return_event(Pipe from, Pipe to, int event) { ids_in_use(from, to) &= static_cast<uint8_t>(~(1 << (event & 7))); }

int alloc_event(Pipe from, Pipe to) {
    const int id = take_event(from, to);
    if (g_mode & kCheck) check_event_taken(*g_core, from, to, id, true, NPUFORGE_SITE());
    return id;
}

int fetch_event(Pipe from, Pipe to) {
    const int id = lowest_free(ids_in_use(from, to));
    if (g_mode & kCheck) check_event_taken(*g_core, from, to, id, false, NPUFORGE_SITE());
    return id;
}

void release_event(Pipe from, Pipe to, int event) {
    if (g_mode & kCheck) check_event_released(*g_core, from, to, event, NPUFORGE_SITE());
    return_event(from, to, event);
}

}  // namespace npuforge
