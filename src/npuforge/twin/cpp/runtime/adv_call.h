// SPDX-License-Identifier: Apache-2.0
// One call of the high-level API as one instruction of the vector pipe: what it reads, writes and
// leaves undefined, how much temporary space it needs, what it costs.
#pragma once
#include "../npu/adv/library.h"
#include "instr.h"

namespace npuforge {

inline uint64_t bytes_of(DType type, uint64_t elements) {
    return type == DType::I4 ? elements / 2 : elements * dtype_bytes(type);
}
inline uint32_t per_block(DType type) { return 32 / dtype_bytes(type); }
inline bool present(const Tile& tile) { return tile.addr != nullptr; }

class LibraryCall {
public:
    LibraryCall(const char* name, uint32_t site);

    void reads(const Tile& tile, uint64_t elements, const char* role) { rows(tile, 0, 1, elements, 0, false, false, role); }
    void writes(const Tile& tile, uint64_t elements, const char* role) { rows(tile, 0, 1, elements, 0, true, false, role); }
    // Rows of `elements`, `step` elements apart, from element `first` on.
    void reads_rows(const Tile& tile, uint64_t first, uint32_t count, uint64_t elements, uint64_t step, const char* role) {
        rows(tile, first, count, elements, step, false, false, role);
    }
    void writes_rows(const Tile& tile, uint64_t first, uint32_t count, uint64_t elements, uint64_t step, const char* role) {
        rows(tile, first, count, elements, step, true, false, role);
    }
    void spoils_rows(const Tile& tile, uint64_t first, uint32_t count, uint64_t elements, uint64_t step, const char* role) {
        rows(tile, first, count, elements, step, true, true, role);
    }
    void spoils(const Tile& tile, uint64_t elements, const char* role) { spoils_rows(tile, 0, 1, elements, 0, role); }

    // Temporary space: at least `least` bytes, of undefined content afterwards.
    void scratch(Scratch tmp, uint64_t least);
    // Reports the rule unless two operands are disjoint.
    void apart(const Tile& a, uint64_t a_elements, const char* a_role, const Tile& b, uint64_t b_elements,
               const char* b_role);
    // Reports a shape that breaks the reference.
    void requires_that(bool condition, const char* what, uint64_t value);

    // True when values are to be computed. `rows` counts what is reduced to one value each.
    bool commit(uint32_t element_bytes, uint64_t elements, uint64_t rows = 1);

private:
    void rows(const Tile& tile, uint64_t first, uint32_t count, uint64_t elements, uint64_t step, bool write,
              bool undefined, const char* role);
    Instr* instr_ = nullptr;  // null in plain runs
    const char* name_;
    Scratch tmp_ = nullptr;
};

}  // namespace npuforge
