// SPDX-License-Identifier: Apache-2.0
// Operands of one vector instruction that share memory. The unit works repeat by repeat: within a
// repeat everything is read before anything is written, across repeats nothing is guaranteed.
#include <algorithm>
#include <string_view>

#include "check_state.h"
#include "report.h"

namespace npuforge {

namespace {

struct Range {
    const uint8_t* low;
    const uint8_t* high;
    bool meets(const Range& other) const { return low < other.high && other.low < high; }
    bool operator==(const Range&) const = default;
};

Range whole(const Access& a) {
    const Span span = span_of(a);
    return {a.base + span.low, a.base + span.high};
}

// How many repeats an access stands for, and the bytes of one of them.
uint32_t repeats_of(const Access& a) {
    if (a.repeats > 1) return a.repeats;
    return a.repeat_bytes != 0 && a.rows == 1 ? (a.row_bytes + a.repeat_bytes - 1) / a.repeat_bytes : 1;
}

Range repeat_range(const Access& a, uint32_t r) {
    if (a.repeats > 1 || repeats_of(a) == 1) {
        Access one = a;
        one.repeats = 1;
        one.base += int64_t(r) * a.repeat_step;
        return whole(one);
    }
    const uint64_t start = uint64_t(r) * a.repeat_bytes;
    const uint64_t end = std::min<uint64_t>(a.row_bytes, start + a.repeat_bytes);
    return {a.base + start, a.base + end};
}

// Accumulating over repeats is allowed where the unit forwards results.
bool forwards(std::string_view name) {
    return name == "Add" || name == "Sub" || name == "Mul" || name == "Max" || name == "Min" || name == "AddRelu" ||
           name == "SubRelu";
}

bool must_be_apart(std::string_view name) {
    return name == "Brcb" || name == "Sort32" || name == "MrgSort" || name == "Sort" || name == "RpSort16";
}

bool works_by_elements(const Access& a) { return a.repeat_bytes != 0; }

// True when the two touch no common byte although their outlines cross (interleaved rows).
bool interleaved(const Access& a, const Access& b) {
    if (a.rows <= 1 && b.rows <= 1) return false;
    std::vector<Range> rows;
    for_each_row(a, [&](int64_t at, uint64_t bytes) { rows.push_back({a.base + at, a.base + at + bytes}); });
    if (rows.size() > 4096) return false;
    std::sort(rows.begin(), rows.end(), [](const Range& x, const Range& y) { return x.low < y.low; });
    bool apart = true;
    for_each_row(b, [&](int64_t at, uint64_t bytes) {
        const Range row{b.base + at, b.base + at + bytes};
        auto it = std::lower_bound(rows.begin(), rows.end(), row, [](const Range& x, const Range& y) { return x.high <= y.low; });
        apart = apart && (it == rows.end() || !it->meets(row));
    });
    return apart;
}

const char* broken_rule(const Instr& instr, const Access& dst, const Access& src) {
    const std::string_view name = instr.name;
    if (must_be_apart(name)) return "VEC-15";
    if (!works_by_elements(dst) || !works_by_elements(src)) return nullptr;
    const uint32_t repeats = std::max(repeats_of(dst), repeats_of(src));
    // A narrower result of the same place never reaches what is still to be read.
    if (dst.base == src.base && dst.repeat_bytes < src.repeat_bytes) return nullptr;
    const bool widens = dst.repeat_bytes > src.repeat_bytes;
    for (uint32_t r = 0; r < repeats; ++r) {
        if (r >= repeats_of(dst) || r >= repeats_of(src)) break;
        const Range written = repeat_range(dst, r), read = repeat_range(src, r);
        if (!widens && written.meets(read) && !(written == read)) return "OVL-01";
        for (uint32_t next = r + 1; next < std::min(repeats_of(src), r + 9); ++next) {
            const Range later = repeat_range(src, next);
            if (!written.meets(later) || (forwards(name) && written == later)) continue;
            // Narrow data at the end of the wide destination is read in time.
            return !widens ? "OVL-02" : name == "Axpy" ? "OVL-05" : "OVL-04";
        }
    }
    return nullptr;
}

}  // namespace

void check_overlap(const Instr& instr) {
    for (const Access& dst : instr.accesses) {
        if (!dst.write || dst.undefined) continue;
        const Range target = whole(dst);
        for (const Access& src : instr.accesses) {
            if (src.write || src.space != dst.space || !target.meets(whole(src))) continue;
            const bool same = src.base == dst.base && src.row_bytes == dst.row_bytes && src.rows == dst.rows &&
                              src.row_step == dst.row_step && src.repeats == dst.repeats && src.repeat_step == dst.repeat_step;
            const bool one_place = same && dst.repeats > 1 && dst.repeat_step == 0;
            if (same && !one_place && !must_be_apart(instr.name)) continue;
            if (interleaved(dst, src)) continue;
            const char* rule = broken_rule(instr, dst, src);
            if (rule == nullptr) continue;
            report_at(instr.site, rule, "%s: %s at byte %lld and %s at byte %lld overlap by part of a repeat or across repeats",
                      instr.name, dst.role, static_cast<long long>(dst.base - g_core->spaces[1]), src.role,
                      static_cast<long long>(src.base - g_core->spaces[1]));
        }
    }
}

}  // namespace npuforge
