// SPDX-License-Identifier: Apache-2.0
// Reductions. A repeat is summed as a binary tree of neighbours in the element type, as the hardware
// does it, so sums of half round at every step.
#include <bit>
#include <cmath>
#include <cstring>

#include "../npu/abi_more.h"
#include "flags.h"
#include "report.h"
#include "rows.h"

namespace npuforge {

namespace {

constexpr uint32_t kMaxLanes = 128;

struct Best {
    float value = 0;
    uint64_t index = 0;
    bool any = false;
};

bool better(Reduction kind, float candidate, float best) {
    if (std::isnan(best)) return false;
    return std::isnan(candidate) || (kind == Reduction::Max ? candidate > best : candidate < best);
}

float as_float(const uint8_t* at, DType type) {
    if (type == DType::F16) {
        uint16_t bits;
        std::memcpy(&bits, at, 2);
        return half_bits_to_float(bits);
    }
    float value;
    std::memcpy(&value, at, 4);
    return value;
}

void store(uint8_t* at, DType type, float value) {
    if (type == DType::F16) {
        const uint16_t bits = float_to_half_bits(value);
        std::memcpy(at, &bits, 2);
    } else {
        std::memcpy(at, &value, 4);
    }
}

uint64_t bits_of(DType type, float value) {
    return type == DType::F16 ? float_to_half_bits(value) : float_to_bits(value);
}

// The sum as the element type sees it.
float rounded(DType type, float value) {
    if (type != DType::F16) return value;
    const float narrow = half_bits_to_float(float_to_half_bits(value));
    if (!g_core->vector.saturate || std::isfinite(narrow)) return narrow;
    return std::isnan(narrow) ? 0.0f : std::copysign(65504.0f, narrow);
}

// One repeat as floats, with the lanes that take part.
struct Repeat {
    float values[kMaxLanes];
    bool active[kMaxLanes];
    uint32_t lanes;
};

void load(Repeat& out, const Tile& src, const Lanes& lanes, uint32_t r) {
    out.lanes = lanes.per_repeat;
    const bool tail = lanes.last_lanes != 0 && r + 1 == lanes.repeats;
    const uint32_t size = dtype_bytes(src.type), per_block = 32 / size;
    const auto* base = static_cast<const uint8_t*>(src.addr) + int64_t(r) * src.repeat_stride * 32;
    if (!tail && lanes.contiguous_lanes && src.block_stride == 1) {
        std::fill_n(out.active, out.lanes, true);
        if (src.type == DType::F16) {
            const auto* from = reinterpret_cast<const uint16_t*>(base);
            for (uint32_t i = 0; i < out.lanes; ++i) out.values[i] = half_bits_to_float(from[i]);
        } else {
            std::memcpy(out.values, base, 256);
        }
        return;
    }
    for (uint32_t lane = 0; lane < out.lanes; ++lane) {
        const bool on = tail ? lane < lanes.last_lanes : (lanes.mask[lane >> 6] >> (lane & 63)) & 1;
        out.active[lane] = on;
        const auto* at = base + int64_t(lane / per_block) * src.block_stride * 32 + (lane % per_block) * size;
        out.values[lane] = on ? as_float(at, src.type) : 0.0f;
    }
}

// `count` is a power of two.
float tree_sum(const float* values, uint32_t count, DType type) {
    float rows[2][kMaxLanes / 2];
    const float* from = values;
    for (uint32_t level = 0; count > 1; ++level) {
        float* to = rows[level & 1];
        count /= 2;
        if (type == DType::F16) {
            for (uint32_t i = 0; i < count; ++i) to[i] = rounded(type, from[2 * i] + from[2 * i + 1]);
        } else {
#pragma GCC ivdep
            for (uint32_t i = 0; i < count; ++i) to[i] = from[2 * i] + from[2 * i + 1];
        }
        from = to;
    }
    return from[0];
}

Best best_of(Reduction kind, const Repeat& repeat) {
    Best best;
    for (uint32_t lane = 0; lane < repeat.lanes; ++lane) {
        if (!repeat.active[lane]) continue;
        if (!best.any || better(kind, repeat.values[lane], best.value)) best = {repeat.values[lane], lane, true};
    }
    return best;
}

bool any_active(const Repeat& repeat, uint32_t from, uint32_t count) {
    for (uint32_t i = from; i < from + count; ++i)
        if (repeat.active[i]) return true;
    return false;
}

Access result(const Tile& dst, uint32_t bytes, uint32_t rows, int64_t step, uint32_t align, const char* rule) {
    Access a{};
    a.base = static_cast<const uint8_t*>(dst.addr);
    a.row_bytes = bytes;
    a.rows = rows;
    a.row_step = step;
    a.write = true;
    a.align = static_cast<uint8_t>(align);
    a.align_rule = rule;
    a.role = "dst";
    a.room = dst.room;
    a.position = dst.position;
    return a;
}

void put_index(uint8_t* at, DType type, uint64_t index) {
    if (type == DType::F16) {
        const auto narrow = static_cast<uint16_t>(index);
        std::memcpy(at, &narrow, 2);
    } else {
        const auto word = static_cast<uint32_t>(index);
        std::memcpy(at, &word, 4);
    }
}

void keep_best(DType type, const Best& best, bool contiguous) {
    VectorState& state = g_core->vector;
    state.best_value = best.any ? bits_of(type, best.value) : 0;
    state.best_index = best.index;
    state.best_contiguous = contiguous && !state.counter;
}

}  // namespace

void reduce_repeats(Reduction kind, ReduceLayout layout, const Extent& extent, const Tile& dst, const Tile& src,
                    int64_t dst_stride, const char* name) {
    const uint32_t size = dtype_bytes(src.type);
    const Lanes lanes = resolve(extent, size, name);
    if (kind == Reduction::Sum) layout = ReduceLayout::OnlyValue;
    const bool both = layout == ReduceLayout::ValueIndex || layout == ReduceLayout::IndexValue;
    const uint32_t unit = both ? 2 * size : layout == ReduceLayout::OnlyIndex ? 4 : size;
    const int64_t step = dst_stride * unit;
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        if (lanes.total != 0) instr.accesses.push_back(result(dst, unit, lanes.repeats, step, unit, "ALN-07"));
        if (!commit_vector(instr, lanes, size)) return;
    }
    Best overall;
    Repeat repeat;
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        load(repeat, src, lanes, r);
        if (!any_active(repeat, 0, repeat.lanes)) continue;
        auto* at = static_cast<uint8_t*>(dst.addr) + r * step;
        if (kind == Reduction::Sum) {
            store(at, dst.type, tree_sum(repeat.values, repeat.lanes, src.type));
            continue;
        }
        const Best best = best_of(kind, repeat);
        if (!overall.any || better(kind, best.value, overall.value))
            overall = {best.value, uint64_t(r) * lanes.per_repeat + best.index, true};
        switch (layout) {
            case ReduceLayout::ValueIndex:
                store(at, dst.type, best.value);
                put_index(at + size, dst.type, best.index);
                break;
            case ReduceLayout::IndexValue:
                put_index(at, dst.type, best.index);
                store(at + size, dst.type, best.value);
                break;
            case ReduceLayout::OnlyValue: store(at, dst.type, best.value); break;
            case ReduceLayout::OnlyIndex: put_index(at, DType::U32, best.index); break;
        }
    }
    if (kind != Reduction::Sum)
        keep_best(src.type, overall, src.block_stride == 1 && src.repeat_stride == 8);
}

void reduce_blocks(Reduction kind, const Extent& extent, const Tile& dst, const Tile& src, int64_t dst_stride,
                   const char* name) {
    const uint32_t size = dtype_bytes(src.type), per_block = 32 / size;
    const Lanes lanes = resolve(extent, size, name);
    const int64_t step = dst_stride * 8 * size;
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        // A block none of whose lanes takes part keeps its old result.
        const uint32_t full = lanes.last_lanes == 0 ? lanes.repeats : lanes.repeats - 1;
        const uint64_t block_mask = per_block == 16 ? 0xffffull : 0xffull;
        for (uint32_t b = 0; b < 8 && full > 0; ++b) {
            const uint32_t lane = b * per_block;
            if (((lanes.mask[lane >> 6] >> (lane & 63)) & block_mask) == 0) continue;
            Access a = result(dst, size, full, step, 8 * size, "ALN-08");
            a.base += b * size;
            if (b != 0) a.align = 1;
            instr.accesses.push_back(a);
        }
        if (lanes.last_lanes != 0) {
            Access a = result(dst, (lanes.last_lanes + per_block - 1) / per_block * size, 1, 0, 8 * size, "ALN-08");
            a.base += full * step;
            instr.accesses.push_back(a);
        }
        if (!commit_vector(instr, lanes, size)) return;
    }
    Repeat repeat;
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        load(repeat, src, lanes, r);
        for (uint32_t b = 0; b < 8; ++b) {
            if (!any_active(repeat, b * per_block, per_block)) continue;
            auto* at = static_cast<uint8_t*>(dst.addr) + r * step + b * size;
            const float* values = repeat.values + b * per_block;
            if (kind == Reduction::Sum) {
                store(at, dst.type, tree_sum(values, per_block, src.type));
                continue;
            }
            Best best;
            for (uint32_t i = 0; i < per_block; ++i)
                if (repeat.active[b * per_block + i] && (!best.any || better(kind, values[i], best.value)))
                    best = {values[i], i, true};
            store(at, dst.type, best.value);
        }
    }
}

void reduce_pairs(const Extent& extent, const Tile& dst, const Tile& src, int64_t dst_stride, const char* name) {
    const uint32_t size = dtype_bytes(src.type);
    const Lanes lanes = resolve(extent, size, name);
    const int64_t step = dst_stride * 128;
    if (g_mode != 0) {
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        const auto pairs_of = [&](uint32_t lanes_on) { return (lanes_on + 1) / 2 * size; };
        const uint32_t full = lanes.last_lanes == 0 ? lanes.repeats : lanes.repeats - 1;
        const uint32_t top = lanes.mask[1] != 0 ? 128 - static_cast<uint32_t>(std::countl_zero(lanes.mask[1]))
                                                : 64 - static_cast<uint32_t>(std::countl_zero(lanes.mask[0]));
        if (full > 0 && lanes.total != 0) instr.accesses.push_back(result(dst, pairs_of(top), full, step, 32, "ALN-01"));
        if (lanes.last_lanes != 0) {
            Access a = result(dst, pairs_of(lanes.last_lanes), 1, 0, 32, "ALN-01");
            a.base += full * step;
            instr.accesses.push_back(a);
        }
        if (!commit_vector(instr, lanes, size)) return;
    }
    Repeat repeat;
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        load(repeat, src, lanes, r);
        auto* at = static_cast<uint8_t*>(dst.addr) + r * step;
        for (uint32_t p = 0; p < repeat.lanes / 2; ++p)
            if (repeat.active[2 * p] || repeat.active[2 * p + 1])
                store(at + p * size, dst.type, rounded(src.type, repeat.values[2 * p] + repeat.values[2 * p + 1]));
    }
}

namespace {

// Elements the temporary buffer of a reduction to one result must hold.
uint64_t shared_elements(Reduction kind, const Lanes& lanes, uint32_t size, bool index) {
    const uint64_t per_block = 32 / size, per_repeat = 256 / size;
    const auto blocks = [&](uint64_t n) { return (n + per_block - 1) / per_block * per_block; };
    if (kind == Reduction::Sum) return blocks(lanes.repeats);
    uint64_t produced = 2ull * std::max(1u, lanes.repeats);
    uint64_t total = blocks(produced);
    while (index && produced > 2) {
        produced = (produced + per_repeat - 1) / per_repeat * 2;
        total += blocks(produced);
    }
    return total;
}

// The scalar unit fetches the result and stores it; the other pipes wait for that.
void through_scalar(uint32_t site) {
    for (const auto& [from, to] : {std::pair{Pipe::V, Pipe::S}, {Pipe::S, Pipe::V}, {Pipe::S, Pipe::MTE3}}) {
        const int event = fetch_event(from, to);
        set_flag_at(from, to, event, site, true);
        wait_flag_at(from, to, event, site, true);
    }
}

// Passes over the results of the passes before, in time mode only.
void charge_passes(uint32_t repeats, uint32_t per_repeat, const char* name, uint32_t size) {
    uint64_t left = repeats;
    while (left > 1) {
        left = (left + per_repeat - 1) / per_repeat;
        Instr& instr = begin(name, Pipe::V, NPUFORGE_SITE());
        const uint16_t op = op_id(name);
        commit(instr, costs().vector_cycles(op, size, static_cast<uint32_t>(left)), op);
    }
}

}  // namespace

namespace {

// Trees within repeats, the repeats one after the other.
float sum_in_order(const Tile& src, const Lanes& lanes) {
    Repeat repeat;
    float sum = 0;
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        load(repeat, src, lanes, r);
        const float part = tree_sum(repeat.values, repeat.lanes, src.type);
        sum = r == 0 ? part : rounded(src.type, sum + part);
    }
    g_core->vector.accumulated = sum;
    g_core->vector.accumulated_type = src.type;
    return sum;
}

}  // namespace

void accumulate_repeats(const Extent& extent, const Tile& src) {
    const uint32_t size = dtype_bytes(src.type);
    const Lanes lanes = resolve(extent, size, "vcadd");
    if (g_mode != 0) {
        Instr& instr = begin("WholeReduceSum", Pipe::V, NPUFORGE_SITE());
        add_tile(instr, src, lanes, false, "src");
        if (!commit_vector(instr, lanes, size)) return;
    }
    if (lanes.total != 0) sum_in_order(src, lanes);
}

void reduce_all(Reduction kind, const Extent& extent, const Tile& dst, const Tile& src, const Tile& shared, bool index,
                const char* name) {
    const uint32_t size = dtype_bytes(src.type);
    // The repeat count of these forms is not limited to 255.
    Extent one = extent;
    if (extent.form == Extent::Form::Bits) one.repeat = 1;
    Lanes lanes = resolve(one, size, name);
    if (extent.form == Extent::Form::Bits && !g_core->vector.counter) {
        lanes.repeats = static_cast<uint32_t>(std::max(0, extent.repeat));
        lanes.total *= lanes.repeats;
    }
    const bool in_order = kind == Reduction::Sum && extent.form != Extent::Form::Bits;
    const uint32_t written = index ? 2 * size : size;
    const uint32_t site = NPUFORGE_SITE();
    if (g_mode != 0) {
        const bool timed = (g_mode & kTime) != 0;
        const char* unit = kind == Reduction::Sum ? "WholeReduceSum" : kind == Reduction::Max ? "WholeReduceMax" : "WholeReduceMin";
        Instr& instr = begin(timed ? unit : name, Pipe::V, site);
        add_tile(instr, src, lanes, false, "src");
        if (lanes.total != 0) {
            if (!in_order) {
                const uint64_t needed = shared_elements(kind, lanes, size, index) * size;
                const bool enough = shared.room >= needed;
                if ((g_mode & kCheck) && !enough && shared.addr != src.addr)
                    report_at(site, "RED-01", "%s needs %llu B of temporary memory, the buffer has %u B", name,
                              static_cast<unsigned long long>(needed), shared.room);
                Access scratch = result(shared, static_cast<uint32_t>(std::min<uint64_t>(needed, shared.room)), 1, 0, 32, "ALN-01");
                scratch.role = "sharedTmpBuffer";
                scratch.undefined = true;
                if (scratch.row_bytes > 0) instr.accesses.push_back(scratch);
            }
            instr.accesses.push_back(result(dst, written, 1, 0, written, "ALN-07"));
        }
        const bool compute = commit_vector(instr, lanes, size);
        if (timed && !in_order) charge_passes(lanes.repeats, lanes.per_repeat, unit, size);
        if (in_order || index) through_scalar(site);
        if (!compute) return;
    }
    if (lanes.total == 0) return;
    auto* out = static_cast<uint8_t*>(dst.addr);
    Repeat repeat;
    if (kind == Reduction::Sum && in_order) {
        store(out, dst.type, sum_in_order(src, lanes));
        return;
    }
    if (kind == Reduction::Sum) {
        std::vector<float> partial(lanes.repeats);
        for (uint32_t r = 0; r < lanes.repeats; ++r) {
            load(repeat, src, lanes, r);
            partial[r] = tree_sum(repeat.values, repeat.lanes, src.type);
        }
        while (partial.size() > 1) {
            std::vector<float> next;
            for (size_t i = 0; i < partial.size(); i += lanes.per_repeat) {
                std::fill(std::begin(repeat.values), std::end(repeat.values), 0.0f);
                const size_t n = std::min<size_t>(lanes.per_repeat, partial.size() - i);
                std::copy_n(partial.begin() + static_cast<std::ptrdiff_t>(i), n, repeat.values);
                next.push_back(tree_sum(repeat.values, lanes.per_repeat, src.type));
            }
            partial = std::move(next);
        }
        store(out, dst.type, partial[0]);
        return;
    }
    Best overall;
    const uint64_t between = uint64_t(src.repeat_stride) * 32 / size;
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        load(repeat, src, lanes, r);
        const Best best = best_of(kind, repeat);
        if (best.any && (!overall.any || better(kind, best.value, overall.value)))
            overall = {best.value, r * between + best.index, true};
    }
    if (!overall.any) return;
    if ((g_mode & kCheck) && index && src.type == DType::F16 && overall.index > 65535)
        report_at(site, "RED-02", "%s of half: index %llu does not fit 16 bits", name, static_cast<unsigned long long>(overall.index));
    store(out, dst.type, overall.value);
    if (index) put_index(out + size, dst.type, overall.index);
    keep_best(src.type, overall, src.block_stride == 1 && src.repeat_stride == 8);
}

namespace {

// The scalar unit reads a register that depends on tensor values.
bool without_data() {
    if ((g_mode & kNoData) == 0) return false;
    g_launch->value_read = true;
    return true;
}

}  // namespace

uint64_t reduced_sum() {
    if (without_data()) return fake_value(&g_core->vector.accumulated);
    return bits_of(g_core->vector.accumulated_type, g_core->vector.accumulated);
}

void reduced_best(uint64_t& value, uint64_t& index) {
    const VectorState& state = g_core->vector;
    if (!state.best_contiguous)
        report("RED-06", "the last maximum or minimum was not over contiguous repeats in normal mode");
    value = without_data() ? fake_value(&state.best_value) : state.best_value;
    index = state.best_index;
}

}  // namespace npuforge
