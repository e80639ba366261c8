// SPDX-License-Identifier: Apache-2.0
// The softmax family: rows are reduced along the last axis, row values fill one 32 B block each.
#include <limits>

#include "adv_values.h"

namespace npuforge {
namespace {

constexpr const char* kNames[] = {"SoftMax", "SimpleSoftMax", "SoftmaxFlash", "SoftmaxFlashV2", "LogSoftMax"};
constexpr uint32_t kFractal = 16;  // columns of one NZ block
constexpr uint32_t kRepeatFloats = 64;

// Reads and writes rows in either layout.
struct Rows {
    const SoftmaxRows& shape;

    template <typename Fn> void stretches(uint32_t row, Fn fn) const {
        if (!shape.nz) {
            fn(uint64_t(row) * shape.stride, 0u, shape.stride);
            return;
        }
        for (uint32_t c = 0; c < shape.stride; c += kFractal)
            fn(uint64_t(c / kFractal) * shape.rows * kFractal + uint64_t(row) * kFractal, c, kFractal);
    }
    void get(const Tile& tile, uint32_t row, float* out) const {
        stretches(row, [&](uint64_t at, uint32_t column, uint32_t n) { load(tile, at, n, out + column); });
    }
    void put(const Tile& tile, uint32_t row, const float* in) const {
        stretches(row, [&](uint64_t at, uint32_t column, uint32_t n) { store(tile, at, n, in + column); });
    }
    uint64_t value_at(const Tile& tile, uint32_t row) const {
        return shape.row_values_packed ? row : uint64_t(row) * per_block(tile.type);
    }
    float value(const Tile& tile, uint32_t row) const { return load_one(tile, value_at(tile, row)); }
    void set_value(const Tile& tile, uint32_t row, float value) const {
        if (!present(tile)) return;
        const uint32_t copies = shape.row_values_packed ? 1 : per_block(tile.type);
        for (uint32_t i = 0; i < copies; ++i) store_one(tile, value_at(tile, row) + i, value);
    }
};

// Accesses of full rows: data columns count, padding columns and rows are left undefined by writes.
void touch_rows(LibraryCall& call, const SoftmaxRows& shape, const Tile& tile, bool write, const char* role) {
    if (shape.nz) {
        const uint64_t all = uint64_t(shape.rows) * shape.stride;
        if (write) call.writes(tile, all, role);
        else call.reads(tile, all, role);
        return;
    }
    if (!write) return call.reads_rows(tile, 0, shape.real_rows, shape.columns, shape.stride, role);
    call.writes_rows(tile, 0, shape.real_rows, shape.columns, shape.stride, role);
    call.spoils_rows(tile, shape.columns, shape.real_rows, shape.stride - shape.columns, shape.stride, role);
    call.spoils_rows(tile, uint64_t(shape.real_rows) * shape.stride, 1,
                     uint64_t(shape.rows - shape.real_rows) * shape.stride, 0, role);
}

void touch_values(LibraryCall& call, const SoftmaxRows& shape, const Tile& tile, bool write, const char* role) {
    const uint64_t elements = uint64_t(shape.real_rows) * (shape.row_values_packed ? 1 : per_block(tile.type));
    if (write) call.writes(tile, elements, role);
    else call.reads(tile, elements, role);
}

void check_shape(LibraryCall& call, const SoftmaxRows& shape, const Tile& src) {
    call.requires_that(shape.shape_given, "neither softmaxShapeInfo nor the tensor's ShapeInfo says the shape", 0);
    call.requires_that(shape.stride * dtype_bytes(src.type) % 32 == 0, "the last axis is not a multiple of 32 bytes",
                       shape.stride);
    call.requires_that(shape.columns <= shape.stride && shape.real_rows <= shape.rows,
                       "the original shape is larger than the padded one", shape.columns);
    call.requires_that(bytes_of(src.type, uint64_t(shape.rows) * shape.stride) <= src.room, "the shape exceeds the tensor",
                       uint64_t(shape.rows) * shape.stride);
}

// The least temporary space: what one row (a basic block: eight) takes, in floats.
uint64_t least_scratch(const Softmax& call) {
    const Tile& values = present(call.max) ? call.max : call.src;
    const uint64_t block = per_block(values.type), columns = call.shape.stride;
    const uint64_t plain = block + columns + kRepeatFloats;
    const bool half_source = dtype_bytes(call.src.type) == 2;
    switch (call.kind) {
        case SoftmaxKind::SoftmaxFlash: return 4 * (call.update ? 4 * block + 2 * columns : plain);
        case SoftmaxKind::SoftmaxFlashV2: {
            const bool basic = call.basic_block && columns % kRepeatFloats == 0;
            const uint64_t widened = half_source ? columns : 0;
            if (basic) return 4 * 8 * (block + widened + kRepeatFloats * (columns == 1024 ? 2 : 1));
            const uint64_t row = half_source ? 2 * block + columns + kRepeatFloats : block + kRepeatFloats;
            const uint64_t together = call.shape.row_values_packed ? 32 / dtype_bytes(call.src.type) : 1;
            return 4 * row * std::min<uint64_t>(together, call.shape.rows);
        }
        default: return 4 * plain;
    }
}

void describe(LibraryCall& instr, const Softmax& call) {
    check_shape(instr, call.shape, call.src);
    instr.scratch(call.tmp, least_scratch(call));
    const bool given = call.kind == SoftmaxKind::SimpleSoftMax;
    touch_rows(instr, call.shape, call.src, false, "src");
    if (given) {
        touch_values(instr, call.shape, call.sum, false, "inSum");
        touch_values(instr, call.shape, call.max, false, "inMax");
    }
    if (call.update) {
        touch_values(instr, call.shape, call.in_sum, false, "inSum");
        touch_values(instr, call.shape, call.in_max, false, "inMax");
    }
    touch_rows(instr, call.shape, call.dst, true, "dst");
    if (!given) {
        touch_values(instr, call.shape, call.sum, true, "sum");
        touch_values(instr, call.shape, call.max, true, "max");
    }
    if (call.update) {
        touch_values(instr, call.shape, call.exp_max, true, "expMax");
        touch_values(instr, call.shape, call.reduce_max, true, "outReduceMax");
    }
}

}  // namespace

void library_softmax(const Softmax& call) {
    LibraryCall instr(kNames[static_cast<size_t>(call.kind)], NPUFORGE_SITE());
    if (g_mode != 0) describe(instr, call);
    if (!instr.commit(dtype_bytes(call.src.type), uint64_t(call.shape.rows) * call.shape.stride, call.shape.rows)) return;

    const Rows rows{call.shape};
    std::vector<float> line(call.shape.stride);
    for (uint32_t r = 0; r < call.shape.rows; ++r) {
        rows.get(call.src, r, line.data());
        if (call.kind == SoftmaxKind::SimpleSoftMax) {
            const float max = rows.value(call.max, r), sum = rows.value(call.sum, r);
            for (float& x : line) x = std::exp(x - max) / sum;
            rows.put(call.dst, r, line.data());
            continue;
        }
        float max = -std::numeric_limits<float>::infinity();
        for (uint32_t c = 0; c < call.shape.columns; ++c) max = std::max(max, line[c]);
        if (call.update) {
            rows.set_value(call.reduce_max, r, max);
            max = std::max(max, rows.value(call.in_max, r));
        }
        for (float& x : line) x = std::exp(x - max);
        float sum = row_sum(line.data(), call.shape.columns);
        if (call.update) {
            const float before = rows.value(call.in_sum, r);
            float kept = std::exp(rows.value(call.in_max, r) - max);
            sum += kept * before;
            if (call.kind == SoftmaxKind::SoftmaxFlash) kept = kept * before / sum;
            rows.set_value(call.exp_max, r, kept);
        }
        if (call.kind != SoftmaxKind::SoftmaxFlashV2)
            for (float& x : line) x /= sum;
        if (call.kind == SoftmaxKind::LogSoftMax)
            for (float& x : line) x = std::log10(x);
        rows.put(call.dst, r, line.data());
        rows.set_value(call.max, r, max);
        rows.set_value(call.sum, r, sum);
    }
}

void library_softmax_v3(const SoftmaxV3& call) {
    LibraryCall instr("SoftmaxFlashV3", NPUFORGE_SITE());
    const SoftmaxRows& shape = call.shape;
    if (g_mode != 0) {
        check_shape(instr, shape, call.src);
        instr.requires_that(call.split == 8, "splitMeanCnt must be 8", call.split);
        instr.requires_that(shape.stride % 512 == 0, "the last axis is not a multiple of 512", shape.stride);
        instr.scratch(call.tmp, 4ull * (5 * per_block(call.max.type) + 2ull * shape.stride + kRepeatFloats));
        touch_rows(instr, shape, call.src, false, "src");
        if (call.update) {
            touch_values(instr, shape, call.in_mean, false, "inMean");
            touch_values(instr, shape, call.in_sum, false, "inSum");
            touch_values(instr, shape, call.in_max, false, "inMax");
            touch_values(instr, shape, call.exp_max, true, "expMax");
        }
        touch_rows(instr, shape, call.dst, true, "dst");
        touch_values(instr, shape, call.mean, true, "mean");
        touch_values(instr, shape, call.sum, true, "sum");
        touch_values(instr, shape, call.max, true, "max");
    }
    if (!instr.commit(dtype_bytes(call.src.type), uint64_t(shape.rows) * shape.stride, shape.rows)) return;

    const Rows rows{shape};
    const float scale = call.alpha / (1 - call.alpha);
    const uint32_t split = std::clamp(call.split, 1u, 64u);
    const uint32_t segment = std::max(1u, shape.stride / split);
    std::vector<float> line(shape.stride);
    for (uint32_t r = 0; r < shape.rows; ++r) {
        rows.get(call.src, r, line.data());
        // Sums of eight neighbours fill 64 lanes from the first 512 columns, later columns add to
        // the lanes in turn; the means of `split` segments come from groups of those lanes.
        std::vector<float> lanes(64, 0.0f), local(split, 0.0f);
        for (uint32_t c = 0; c < shape.stride; ++c) lanes[c < 512 ? c / 8 : c % 64] += line[c];
        for (uint32_t lane = 0; lane < 64; ++lane) local[lane * split / 64] += lanes[lane];
        float global = 0;
        for (float& mean : local) {
            global += mean / shape.stride;
            mean /= static_cast<float>(shape.stride) / split;
        }
        float max = -std::numeric_limits<float>::infinity();
        for (uint32_t c = 0; c < shape.stride; ++c) {
            line[c] -= (global - local[std::min(split - 1, c / segment)]) * scale;
            if (c < shape.columns) max = std::max(max, line[c]);
        }
        float mean = global;
        float in_mean = 0;
        if (call.update) {
            in_mean = rows.value(call.in_mean, r);
            mean = (global + in_mean * (call.loops - 1)) / call.loops;
        }
        const float shift = (global - mean) * scale, previous = (in_mean - mean) * scale;
        float top = shift + max;
        if (call.update) top = std::max(top, previous + rows.value(call.in_max, r));
        for (float& x : line) x = std::exp(x - (top - shift));
        float sum = row_sum(line.data(), shape.columns);
        if (call.update) {
            const float kept = std::exp(rows.value(call.in_max, r) - top + previous);
            sum += kept * rows.value(call.in_sum, r);
            rows.set_value(call.exp_max, r, kept);
        }
        rows.put(call.dst, r, line.data());
        rows.set_value(call.mean, r, mean);
        rows.set_value(call.sum, r, sum);
        rows.set_value(call.max, r, top);
    }
}

void library_softmax_grad(const SoftmaxGradient& call) {
    LibraryCall instr(call.name, NPUFORGE_SITE());
    const SoftmaxRows& shape = call.shape;
    if (g_mode != 0) {
        check_shape(instr, shape, call.src);
        const uint64_t block = per_block(call.src.type);
        const uint64_t row = dtype_bytes(call.src.type) == 2 ? 2 * block + 3ull * shape.stride + kRepeatFloats
                                                             : (call.front ? 1 : 2) * block + shape.stride + kRepeatFloats;
        instr.scratch(call.tmp, 4 * row);
        touch_rows(instr, shape, call.grad, false, "grad");
        touch_rows(instr, shape, call.src, false, "src");
        if (call.front) touch_values(instr, shape, call.dst, true, "dst");
        else touch_rows(instr, shape, call.dst, true, "dst");
    }
    if (!instr.commit(dtype_bytes(call.src.type), uint64_t(shape.rows) * shape.stride, shape.rows)) return;

    const Rows rows{shape};
    std::vector<float> grad(shape.stride), src(shape.stride), products(shape.stride);
    for (uint32_t r = 0; r < shape.rows; ++r) {
        rows.get(call.grad, r, grad.data());
        rows.get(call.src, r, src.data());
        for (uint32_t c = 0; c < shape.columns; ++c) products[c] = grad[c] * src[c];
        const float sum = row_sum(products.data(), shape.columns);
        if (call.front) {
            rows.set_value(call.dst, r, sum);
            continue;
        }
        for (uint32_t c = 0; c < shape.stride; ++c) src[c] *= grad[c] - sum;
        rows.put(call.dst, r, src.data());
    }
}

bool library_adjust_softmax(const SoftmaxRows& shape, const Tile& result, const Tile& max, uint32_t from, float to) {
    LibraryCall instr("AdjustSoftMaxRes", NPUFORGE_SITE());
    if (g_mode != 0) {
        touch_values(instr, shape, max, false, "max");
        touch_rows(instr, shape, result, true, "softMaxRes");
    }
    if (!instr.commit(dtype_bytes(result.type), uint64_t(shape.rows) * shape.stride, shape.rows)) return false;

    const Rows rows{shape};
    const std::vector<float> line(shape.stride, to);
    bool found = false;
    for (uint32_t r = 0; r < shape.real_rows; ++r) {
        uint32_t bits = 0;
        std::memcpy(&bits, static_cast<const uint8_t*>(max.addr) + bytes_of(max.type, rows.value_at(max, r)),
                    dtype_bytes(max.type));
        if (bits != from) continue;
        found = true;
        rows.put(result, r, line.data());
    }
    return found;
}

}  // namespace npuforge
