// SPDX-License-Identifier: Apache-2.0
// Undefined data. Computing on bytes nothing wrote is harmless as long as nobody looks at the result
// (rows rounded up to blocks do it all the time), so undefinedness flows through instructions and is
// reported where it decides something: a scalar reads it, or it is part of an output at the end.
#include <algorithm>
#include <map>
#include <string_view>

#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

// Instructions whose results follow their operands element by element, in order: maps, conversions,
// copies, reductions and broadcasts of neighbours. Others move data about or choose.
bool follows_order(std::string_view name) {
    static const std::unordered_set<std::string_view> names = {
        "Add", "Sub", "Mul", "Div", "Max", "Min", "AddRelu", "SubRelu", "MulAddDst", "FusedMulAdd", "FusedMulAddRelu",
        "MulAddRelu", "AddReluCast", "SubReluCast", "MulCast", "AddDeqRelu", "Exp", "Ln", "Abs", "Reciprocal", "Sqrt", "Rsqrt",
        "Not", "Relu", "Copy", "Adds", "Muls", "Subs", "Divs", "Maxs", "Mins", "ShiftLeft", "ShiftRight", "LeakyRelu", "Axpy",
        "Cast", "CastDeq", "CastDequant", "DataCopy", "DataCopyPad", "Brcb", "ReduceSum", "ReduceMax", "ReduceMin",
        "WholeReduceSum", "WholeReduceMax", "WholeReduceMin", "BlockReduceSum", "BlockReduceMax", "BlockReduceMin",
        "PairReduceSum", "RepeatReduceSum", "Compare", "CompareScalar", "Compares"};
    return names.contains(name);
}

// Origins of the bytes of an operand in the order the instruction goes through them; 0: defined.
using Bytes = std::vector<uint32_t>;

void append(Core& core, const Access& a, Bytes& out) {
    const Place place = place_of(core, a.space, a.base);
    for_each_row(a, [&](int64_t at, uint64_t bytes) {
        const size_t first = out.size();
        out.resize(first + bytes);
        if (place.shadow == nullptr) return;
        const int64_t offset = place.offset + at;
        place.shadow->visit(offset, bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t start) {
            const uint32_t undefined = block.undefined & mask;
            for (uint32_t i = 0; undefined >> i != 0 && i < kShadowBlock; ++i)
                if (undefined >> i & 1) out[first + static_cast<size_t>(int64_t(start) + i - offset)] = block.origin;
        });
    });
}

void mark(Core& core, const Access& a, const Bytes& origins) {
    size_t next = 0;
    const Place place = place_of(core, a.space, a.base);
    for_each_row(a, [&](int64_t at, uint64_t bytes) {
        const size_t first = next;
        next += bytes;
        if (place.shadow == nullptr) return;
        const int64_t offset = place.offset + at;
        place.shadow->visit(offset, bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t start) {
            for (uint32_t i = 0; i < kShadowBlock; ++i) {
                if ((mask >> i & 1) == 0) continue;
                const uint32_t origin = origins[first + static_cast<size_t>(int64_t(start) + i - offset)];
                if (origin == 0) continue;
                block.undefined |= 1u << i;
                block.origin = origin;
            }
        });
    });
}

void set_all(Core& core, const Access& a, bool undefined, uint32_t origin) {
    const Place place = place_of(core, a.space, a.base);
    if (place.shadow == nullptr) return;
    for_each_row(a, [&](int64_t at, uint64_t bytes) {
        place.shadow->visit(place.offset + at, bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
            if (undefined) {
                block.undefined |= mask;
                block.origin = origin;
            } else {
                block.undefined &= ~mask;
            }
        });
    });
}

// The first origin among the bytes read, 0 when all are defined.
uint32_t any_undefined(Core& core, const Access& a) {
    uint32_t found = 0;
    const Place place = place_of(core, a.space, a.base);
    if (place.shadow == nullptr || (place.gm != nullptr && !place.gm->tracked)) return 0;
    for_each_row(a, [&](int64_t at, uint64_t bytes) {
        place.shadow->visit(place.offset + at, bytes, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
            if (found == 0 && (block.undefined & mask) != 0) found = block.origin;
        });
    });
    return found;
}

bool all_undefined(const Bytes& bytes) {
    for (const uint32_t origin : bytes)
        if (origin == 0) return false;
    return !bytes.empty();
}

// Each byte of the result takes over what the bytes at its place in the operand are. A byte of bits
// counts as defined when one of its bits is.
void merge(Bytes& result, const Bytes& operand, bool to_bits) {
    if (operand.empty() || result.empty()) return;
    const size_t n = result.size(), m = operand.size();
    if (to_bits && m >= n) {
        for (size_t i = 0; i < n; ++i) {
            const auto part = operand.begin() + static_cast<std::ptrdiff_t>(i * (m / n));
            const auto end = part + static_cast<std::ptrdiff_t>(m / n);
            if (std::find(part, end, 0u) == end) result[i] = *part;
        }
        return;
    }
    if (m >= n) {
        for (size_t i = 0; i < m; ++i)
            if (operand[i] != 0) result[i * n / m] = operand[i];
    } else {
        for (size_t i = 0; i < n; ++i)
            if (operand[i * m / n] != 0) result[i] = operand[i * m / n];
    }
}

bool in_proportion(size_t n, size_t m) { return n != 0 && m != 0 && (n % m == 0 || m % n == 0); }

using Operands = std::map<std::string_view, Bytes>;

Bytes result_of(const Operands& sources, size_t size, std::string_view name) {
    Bytes result(size);
    bool proportional = follows_order(name);
    for (const auto& [role, bytes] : sources) proportional = proportional && in_proportion(size, bytes.size());
    if (proportional) {
        for (const auto& [role, bytes] : sources) merge(result, bytes, name.starts_with("Compare"));
        return result;
    }
    // Elsewhere a result is undefined when one of the operands is nothing but undefined bytes.
    for (const auto& [role, bytes] : sources)
        if (all_undefined(bytes)) std::fill(result.begin(), result.end(), bytes.front());
    return result;
}

// What an instruction leaves as garbage: temporary memory, padding. A temporary buffer may be the
// destination as well (reductions allow it), so this comes before the results.
void spoil(Core& core, const Instr& instr) {
    for (const Access& a : instr.accesses) {
        if (!a.write || !a.undefined) continue;
        const auto kind = instr.pipe == Pipe::MTE2 ? Origin::Kind::Padding : Origin::Kind::Scratch;
        set_all(core, a, true, new_origin(kind, 0, "", instr.site));
    }
}

// The common case: operands that are one stretch each, of one length, on block boundaries.
bool carry_by_blocks(Core& core, const Instr& instr) {
    if (!follows_order(instr.name)) return false;
    const Access* target = nullptr;
    uint32_t length = 0;
    for (const Access& a : instr.accesses) {
        if (a.undefined) continue;
        const Place place = place_of(core, a.space, a.base);
        if (a.rows != 1 || a.repeats != 1 || a.atomic || place.shadow == nullptr || place.offset % kShadowBlock != 0) return false;
        if (length != 0 && a.row_bytes != length) return false;
        length = a.row_bytes;
        if (a.write && target != nullptr) return false;
        if (a.write) target = &a;
    }
    if (target == nullptr) return false;
    struct Undefined {
        uint32_t mask = 0, origin = 0;
    };
    std::vector<Undefined> blocks((length + kShadowBlock - 1) / kShadowBlock);
    for (const Access& a : instr.accesses) {
        if (a.write) continue;
        const Place place = place_of(core, a.space, a.base);
        size_t n = 0;
        place.shadow->visit(place.offset, length, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
            Undefined& here = blocks[n++];
            if ((block.undefined & mask) == 0) return;
            here.mask |= block.undefined & mask;
            here.origin = used_origin(block.origin, instr.site, instr.name);
        });
    }
    spoil(core, instr);
    const Place place = place_of(core, target->space, target->base);
    size_t n = 0;
    place.shadow->visit(place.offset, length, [&](ShadowBlock& block, uint32_t mask, uint64_t) {
        const Undefined& here = blocks[n++];
        block.undefined = (block.undefined & ~mask) | here.mask;
        if (here.mask != 0) block.origin = here.origin;
    });
    return true;
}

// Carries undefined source bytes over to the destinations.
void carry(Core& core, const Instr& instr) {
    Operands sources;
    std::map<std::string_view, std::vector<const Access*>> targets;
    std::map<uint32_t, uint32_t> renamed;
    for (const Access& a : instr.accesses) {
        if (a.write) {
            if (!a.undefined) targets[a.role].push_back(&a);
            continue;
        }
        append(core, a, sources[a.role]);
    }
    for (auto& [role, bytes] : sources)
        for (uint32_t& origin : bytes) {
            if (origin == 0) continue;
            uint32_t& used = renamed[origin];
            if (used == 0) used = used_origin(origin, instr.site, instr.name);
            origin = used;
        }
    std::vector<std::pair<const Access*, Bytes>> marks;
    for (const auto& [role, accesses] : targets) {
        std::vector<size_t> sizes;
        size_t total = 0;
        for (const Access* a : accesses) {
            sizes.push_back(size_t(a->row_bytes) * a->rows * a->repeats);
            total += sizes.back();
        }
        const Bytes result = result_of(sources, total, instr.name);
        size_t at = 0;
        for (size_t i = 0; i < accesses.size(); ++i) {
            const auto begin = result.begin() + static_cast<std::ptrdiff_t>(at);
            marks.emplace_back(accesses[i], Bytes(begin, begin + static_cast<std::ptrdiff_t>(sizes[i])));
            at += sizes[i];
        }
    }
    spoil(core, instr);
    for (const auto& [role, accesses] : targets)
        for (const Access* a : accesses)
            if (!a->atomic) set_all(core, *a, false, 0);
    for (const auto& [a, bytes] : marks) mark(core, *a, bytes);
}

}  // namespace

uint32_t new_origin(Origin::Kind kind, uint32_t site, const char* name, uint32_t made_by) {
    auto& all = launch_check().origins;
    for (size_t i = all.size(); i-- > 1 && all.size() - i < 64;)
        if (all[i].kind == kind && all[i].site == site && all[i].made_by == made_by) return static_cast<uint32_t>(i);
    all.push_back({kind, site, name, made_by});
    return static_cast<uint32_t>(all.size() - 1);
}

// Copies only pass bytes on; the first instruction that computes with them is the one to name.
uint32_t used_origin(uint32_t origin, uint32_t site, const char* name) {
    const Origin before = launch_check().origins[origin];
    if (before.site != 0 || std::string_view(name).starts_with("DataCopy")) return origin;
    return new_origin(before.kind, site, name, before.made_by);
}

const char* rule_of(Origin::Kind kind) {
    switch (kind) {
        case Origin::Kind::StaleSlot: return "QUE-09";
        case Origin::Kind::Padding: return "CPY-09";
        case Origin::Kind::Workspace: return "WSP-02";
        case Origin::Kind::Output: return "MEM-07";
        default: return "MEM-01";
    }
}

std::string origin_text(const Origin& origin) {
    switch (origin.kind) {
        case Origin::Kind::StaleSlot: return "of a tensor from AllocTensor that nothing has written";
        case Origin::Kind::Padding: return "behind a row that DataCopyPad has brought in without padding";
        case Origin::Kind::Workspace: return "of the workspace that nothing has written";
        case Origin::Kind::Output: return "of an output that nothing has written";
        case Origin::Kind::Scratch: return "of a temporary buffer that an instruction has overwritten";
        default: return "of local memory that nothing has written";
    }
}

void flow_defined(Core& core, const Instr& instr) {
    bool undefined = false;
    for (const Access& a : instr.accesses)
        if (!a.write && any_undefined(core, a) != 0) undefined = true;
    for (const Access& a : instr.accesses) {
        if (!a.write || !a.atomic || any_undefined(core, a) == 0) continue;
        report_at(instr.site, "ATM-02", "%s accumulates into GM that holds no defined value", instr.name);
        set_all(core, a, false, 0);
    }
    if (undefined) {
        if (!carry_by_blocks(core, instr)) carry(core, instr);
        return;
    }
    spoil(core, instr);
    for (const Access& a : instr.accesses)
        if (a.write && !a.undefined && !a.atomic) set_all(core, a, false, 0);
}

}  // namespace npuforge
