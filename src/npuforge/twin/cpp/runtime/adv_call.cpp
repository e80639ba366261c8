// SPDX-License-Identifier: Apache-2.0
#include "adv_call.h"

#include "report.h"

namespace npuforge {

LibraryCall::LibraryCall(const char* name, uint32_t site) : name_(name) {
    if (g_mode != 0) instr_ = &begin(name, Pipe::V, site);
}

void LibraryCall::rows(const Tile& tile, uint64_t first, uint32_t count, uint64_t elements, uint64_t step, bool write,
                       bool undefined, const char* role) {
    if (instr_ == nullptr || !present(tile) || count == 0 || elements == 0) return;
    Access access{};
    access.base = static_cast<const uint8_t*>(tile.addr) + bytes_of(tile.type, first);
    access.row_bytes = static_cast<uint32_t>(bytes_of(tile.type, elements));
    access.rows = count;
    access.row_step = static_cast<int64_t>(bytes_of(tile.type, step));
    access.write = write;
    access.undefined = undefined;
    access.role = role;
    access.room = tile.room;
    access.origin = static_cast<const uint8_t*>(tile.addr);
    access.position = tile.position;
    if (first != 0) access.align = 1;  // the operand's own start is what has to be aligned
    instr_->accesses.push_back(access);
    if (tmp_ != nullptr) apart(tile, elements, role, *tmp_, tmp_->room, "sharedTmpBuffer");
}

void LibraryCall::scratch(Scratch tmp, uint64_t least) {
    if (instr_ == nullptr) return;
    if (tmp != nullptr) {
        if (tmp->room < least)
            report_at(instr_->site, "QUE-15", "%s needs at least %llu B of temporary space, sharedTmpBuffer has %u B", name_,
                      static_cast<unsigned long long>(least), tmp->room);
        spoils(*tmp, tmp->room / dtype_bytes(tmp->type), "sharedTmpBuffer");
        tmp_ = tmp;
        return;
    }
    const uint32_t free = local_capacity(Space::UB) - g_core->ub_used;
    if (free < least)
        report_at(instr_->site, "QUE-15", "%s takes at least %llu B of temporary space from the end of UB, where %u B are free",
                  name_, static_cast<unsigned long long>(least), free);
}

void LibraryCall::apart(const Tile& a, uint64_t a_elements, const char* a_role, const Tile& b, uint64_t b_elements,
                        const char* b_role) {
    if (instr_ == nullptr || !present(a) || !present(b)) return;
    const auto* a_begin = static_cast<const uint8_t*>(a.addr);
    const auto* b_begin = static_cast<const uint8_t*>(b.addr);
    if (a_begin < b_begin + bytes_of(b.type, b_elements) && b_begin < a_begin + bytes_of(a.type, a_elements))
        report_at(instr_->site, "ADV-03", "%s: %s and %s share memory", name_, a_role, b_role);
}

void LibraryCall::requires_that(bool condition, const char* what, uint64_t value) {
    if (instr_ != nullptr && !condition)
        report_at(instr_->site, "ADV-02", "%s: %s (got %llu)", name_, what, static_cast<unsigned long long>(value));
}

bool LibraryCall::commit(uint32_t element_bytes, uint64_t elements, uint64_t rows) {
    if (instr_ == nullptr) return true;
    uint32_t cycles = 0;
    uint16_t op = 0;
    if (g_mode & kTime) {
        op = op_id(name_);
        if (costs().is_library(op)) {
            cycles = costs().library_cycles(op, element_bytes, elements);
        } else {
            const RecipeCost cost = costs().recipe_cycles(op, element_bytes, elements, rows);
            cycles = cost.cycles;
            g_core->scalar_cycles += cost.issue;
        }
    }
    return npuforge::commit(*instr_, cycles, op);
}

}  // namespace npuforge
