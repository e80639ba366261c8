// SPDX-License-Identifier: Apache-2.0
// Transpose and TransDataTo5HD.
#include <cstring>
#include <vector>

#include "../npu/abi_more.h"
#include "report.h"
#include "rows.h"

namespace npuforge {

namespace {

Access range(const Tile& tile, uint64_t bytes, bool write, const char* role) {
    Access a{};
    a.base = static_cast<const uint8_t*>(tile.addr);
    a.row_bytes = static_cast<uint32_t>(bytes);
    a.write = write;
    a.role = role;
    a.room = tile.room;
    a.position = tile.position;
    return a;
}

bool commit_repeats(Instr& instr, uint64_t repeats, uint32_t widest) {
    Lanes lanes{};
    lanes.repeats = static_cast<uint32_t>(repeats);
    return commit_vector(instr, lanes, widest);
}

}  // namespace

void transpose16(const Tile& dst, const Tile& src) {
    if (g_mode != 0) {
        Instr& instr = begin("Transpose", Pipe::V, NPUFORGE_SITE());
        instr.accesses.push_back(range(src, 512, false, "src"));
        instr.accesses.push_back(range(dst, 512, true, "dst"));
        if (!commit_repeats(instr, 2, 2)) return;
    }
    uint16_t in[16][16], out[16][16];
    std::memcpy(in, src.addr, sizeof in);
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) out[j][i] = in[i][j];
    std::memcpy(dst.addr, out, sizeof out);
}

void transpose_layout(const LayoutChange& job) {
    const uint32_t size = dtype_bytes(job.src.type);
    const uint64_t plane = uint64_t(job.h) * job.w, total = plane * job.n * job.c;
    if (job.c > 4095 || plane > 4095 || plane * size % 32 != 0)
        report("VEC-16", "Transpose of c=%u, h*w=%llu: c and h*w go to 4095, h*w*%u B in whole blocks", job.c,
               static_cast<unsigned long long>(plane), size);
    if (total == 0) return;
    const uint64_t tile = (size == 1 ? 32ull : 16ull) * 32;
    const uint64_t needed = job.to_nhwc ? (job.c + 2ull) * tile : (job.c * 2ull + 1) * tile;
    if (job.shared.room < needed)
        report("VEC-16", "Transpose needs %llu B of temporary memory, the buffer has %u B",
               static_cast<unsigned long long>(needed), job.shared.room);
    if (g_mode != 0) {
        Instr& instr = begin("Transpose", Pipe::V, NPUFORGE_SITE());
        instr.accesses.push_back(range(job.src, total * size, false, "src"));
        Access scratch = range(job.shared, std::min<uint64_t>(needed, job.shared.room), true, "sharedTmpBuffer");
        scratch.undefined = true;
        if (scratch.row_bytes > 0) instr.accesses.push_back(scratch);
        instr.accesses.push_back(range(job.dst, total * size, true, "dst"));
        // Every element passes the transposing instruction twice.
        if (!commit_repeats(instr, 2 * ((total * size + 255) / 256), size)) return;
    }
    const auto* in = static_cast<const uint8_t*>(job.src.addr);
    auto* out = static_cast<uint8_t*>(job.dst.addr);
    for (uint64_t n = 0; n < job.n; ++n)
        for (uint64_t c = 0; c < job.c; ++c)
            for (uint64_t p = 0; p < plane; ++p) {
                const uint64_t nchw = (n * job.c + c) * plane + p, nhwc = (n * plane + p) * job.c + c;
                std::memcpy(out + (job.to_nhwc ? nhwc : nchw) * size, in + (job.to_nhwc ? nchw : nhwc) * size, size);
            }
}

// Sixteen rows of a block each become columns. 16-bit: 16 blocks of 16. 32-bit: eight columns of 16,
// two blocks each, so destination blocks come in pairs. 8-bit: one half of each block.
void transpose_blocks(const BlockTranspose& job) {
    if (job.repeats == 0) return;
    const uint32_t size = dtype_bytes(job.type);
    // With a single repeat the hardware adds the repeat stride to the first address already.
    const int64_t first = job.repeats == 1 ? 1 : 0;
    const auto at = [&](const uint64_t* list, uint32_t i, uint32_t r, int64_t stride) {
        return reinterpret_cast<uint8_t*>(list[i]) + (first + r) * stride * 32;
    };
    if (g_mode != 0) {
        Instr& instr = begin("TransDataTo5HD", Pipe::V, NPUFORGE_SITE());
        for (uint32_t i = 0; i < 16; ++i) {
            Access a{};
            a.row_bytes = size == 1 ? 16 : 32;
            a.repeats = job.repeats;
            a.align_rule = "VEC-17";
            a.position = 9;  // VECIN: the lists hold addresses, not tensors
            a.base = at(job.src, i, 0, job.src_stride);
            a.repeat_step = job.src_stride * 32;
            a.role = "src";
            if (size == 1 && job.src_high) a.base += 16, a.align = 16;
            instr.accesses.push_back(a);
            a.base = at(job.dst, i, 0, job.dst_stride);
            a.repeat_step = job.dst_stride * 32;
            a.role = "dst";
            a.write = true;
            a.align = 32;
            if (size == 1 && job.dst_high) a.base += 16, a.align = 16;
            instr.accesses.push_back(a);
        }
        if (!commit_repeats(instr, 2ull * job.repeats, size)) return;
    }
    for (uint32_t r = 0; r < job.repeats; ++r) {
        uint8_t in[16][32], out[16][32];
        for (uint32_t i = 0; i < 16; ++i) std::memcpy(in[i], at(job.src, i, r, job.src_stride), 32);
        if (size == 1) {
            const uint32_t from = job.src_high ? 16 : 0, to = job.dst_high ? 16 : 0;
            for (uint32_t i = 0; i < 16; ++i)
                for (uint32_t j = 0; j < 16; ++j) at(job.dst, i, r, job.dst_stride)[to + j] = in[j][from + i];
            continue;
        }
        for (uint32_t i = 0; i < 16; ++i) {
            for (uint32_t j = 0; j < 32 / size; ++j) {
                const uint32_t source_row = size == 2 ? j : (i % 2) * 8 + j;
                const uint32_t source_column = size == 2 ? i : i / 2;
                std::memcpy(out[i] + j * size, in[source_row] + source_column * size, size);
            }
        }
        for (uint32_t i = 0; i < 16; ++i) std::memcpy(at(job.dst, i, r, job.dst_stride), out[i], 32);
    }
}

}  // namespace npuforge
