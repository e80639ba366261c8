// SPDX-License-Identifier: Apache-2.0
// Registers, scalar access to tensors, printing.
#include "../npu/abi_more.h"
#include "advice.h"
#include "check.h"
#include "report.h"

namespace npuforge {

void set_mask_mode(bool counter) { g_core->vector.counter = counter; }
bool counter_mode() { return g_core->vector.counter; }

void set_vector_mask(uint64_t high, uint64_t low) {
    g_core->vector.mask_high = high;
    g_core->vector.mask_low = low;
    g_core->vector.mask_set = true;
}

void set_saturation(bool on) { g_core->vector.saturate = on; }

bool saturation() { return g_core->vector.saturate; }

void set_atomic(DType type, int operation) { g_core->atomic = {type, operation}; }

bool scalar_access(const void* addr, const void* tensor, uint32_t bytes, Space space, const void* stored) {
    if (g_core == nullptr) return true;
    const bool write = stored != nullptr;
    if (!write && space == Space::GM) note_gm_read(addr);
    if ((g_mode & kCheck) && !check_scalar(*g_core, addr, tensor, bytes, space, stored, NPUFORGE_SITE())) return false;
    if ((g_mode & kTime) == 0) return true;
    if (!write && (g_mode & kNoData)) g_launch->value_read = true;
    if (space != Space::GM) {
        static const uint16_t read = op_id("GetValue"), store = op_id("SetValue");
        const uint32_t cycles = costs().issue_cycles(write ? store : read);
        g_core->scalar_cycles += cycles;
        note_scalar(NPUFORGE_SITE(), cycles);
        return true;
    }
    Record r;
    r.kind = RecordKind::Scalar;
    r.gm_address = reinterpret_cast<uint64_t>(addr);
    r.row_bytes = bytes;
    r.flags = write ? kRecordWrite : 0;
    r.op = op_id(write ? "SetValue" : "GetValue");
    r.site = 0;
    record(r);
    return true;
}

uint64_t* address_register(int number) { return g_core->vector.addresses[number & 7]; }

void set_pad_value(uint64_t bits) {
    g_core->vector.pad_value = bits;
    g_core->vector.pad_set = true;
}
bool pad_value(uint64_t& bits) {
    bits = g_core->vector.pad_value;
    return g_core->vector.pad_set;
}

void get_atomic(DType& type, int& operation) {
    type = g_core->atomic.type;
    operation = g_core->atomic.operation;
}

void data_cache_clean(const void* addr, bool whole) {
    note_gm_read(addr);
    if (g_mode & kCheck) check_data_cache(*g_core, addr, whole, NPUFORGE_SITE());
}

// Two data-free runs with different seeds read different values wherever they read: a kernel whose
// instruction streams agree does not branch on data.
uint64_t fake_value(const void* addr) {
    uint64_t x = reinterpret_cast<uint64_t>(addr) * 0x9e3779b97f4a7c15ull + g_launch->seed * 0xbf58476d1ce4e5b9ull;
    x ^= x >> 31;
    // Small positive numbers in every type: 0x3f80 is 1.0 in the upper half of a float.
    // Odd in the other run, so that a mask or a remainder of small size sees a difference too.
    return g_launch->seed == 1 ? 0x3c003c003c003c00ull
                               : 0x4000400040004000ull + ((x & 0x0003000300030003ull) | 0x0001000100010001ull);
}

}  // namespace npuforge
