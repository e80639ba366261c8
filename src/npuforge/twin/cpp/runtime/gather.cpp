// SPDX-License-Identifier: Apache-2.0
// Gather, Gatherb, GatherMask: elements picked by offset or by pattern.
#include <cstring>

#include "../npu/abi_more.h"
#include "report.h"
#include "rows.h"

namespace npuforge {

namespace {

Access block_of(const Tile& tile, uint32_t bytes, bool write, const char* role) {
    Access a{};
    a.base = static_cast<const uint8_t*>(tile.addr);
    a.row_bytes = bytes;
    a.write = write;
    a.role = role;
    a.room = tile.room;
    a.position = tile.position;
    return a;
}

bool inside_ub(const uint8_t* at, uint32_t bytes) {
    const uint8_t* ub = local_memory(Space::UB);
    return at >= ub && at + bytes <= ub + local_capacity(Space::UB);
}

// Offsets decide what is read, so every element is an access of its own; neighbours are joined.
void add_sources(Instr& instr, const Tile& src, const uint8_t* base, const uint8_t* offsets, uint64_t count, uint32_t bytes) {
    uint64_t i = 0;
    while (i < count) {
        uint32_t first, next;
        std::memcpy(&first, offsets + i * 4, 4);
        uint64_t n = 1;
        while (i + n < count) {
            std::memcpy(&next, offsets + (i + n) * 4, 4);
            if (next != first + n * bytes) break;
            ++n;
        }
        Access a = block_of(src, static_cast<uint32_t>(n * bytes), false, "src");
        a.base = base + first;
        a.origin = static_cast<const uint8_t*>(src.addr);
        a.align = static_cast<uint8_t>(std::min(bytes, 32u));
        a.align_rule = a.bounds_rule = "GTH-01";
        instr.accesses.push_back(a);
        i += n;
    }
}

bool offsets_fit(const uint8_t* base, const uint8_t* offsets, uint64_t count, uint32_t bytes, uint32_t align, const char* name) {
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t offset;
        std::memcpy(&offset, offsets + i * 4, 4);
        if (offset % align != 0) {
            report("GTH-01", "%s: offset %u of element %llu is no multiple of %u B", name, offset,
                   static_cast<unsigned long long>(i), align);
            return true;
        }
        if (!inside_ub(base + offset, bytes)) {
            report("GTH-01", "%s: offset %u of element %llu leaves the unified buffer", name, offset,
                   static_cast<unsigned long long>(i));
            return false;
        }
    }
    return true;
}

template <size_t Size> void gather_rows(const Lanes& lanes, const Tile& dst, const uint8_t* base, const uint8_t* offsets) {
    const uint8_t* ub = local_memory(Space::UB);
    const uint64_t last = local_capacity(Space::UB) - Size;
    uint64_t done = 0;
    for (uint32_t r = 0; r < lanes.repeats; ++r) {
        const bool tail = lanes.last_lanes != 0 && r + 1 == lanes.repeats;
        auto* out = static_cast<uint8_t*>(dst.addr) + int64_t(r) * dst.repeat_stride * 32;
        const uint32_t end = tail ? lanes.last_lanes : lanes.per_repeat;
        for (uint32_t lane = 0; lane < end; ++lane) {
            if (!tail && ((lanes.mask[lane >> 6] >> (lane & 63)) & 1) == 0) continue;
            uint32_t offset;
            std::memcpy(&offset, offsets + (done + lane) * 4, 4);
            const uint8_t* from = base + offset;
            if (static_cast<uint64_t>(from - ub) <= last) std::memcpy(out + lane * Size, from, Size);
        }
        done += lanes.per_repeat;
    }
}

}  // namespace

void gather(const Extent& extent, const Tile& dst, const Tile& src, const Tile& offset, uint32_t base_offset) {
    const uint32_t size = dtype_bytes(dst.type);
    const Lanes lanes = resolve(extent, size, "Gather");
    if (lanes.total == 0) return;
    const auto* base = static_cast<const uint8_t*>(src.addr) + base_offset;
    const auto* offsets = static_cast<const uint8_t*>(offset.addr);
    if (g_mode != 0) {
        Instr& instr = begin("Gather", Pipe::V, NPUFORGE_SITE());
        const uint64_t used = lanes.last_lanes == 0 ? uint64_t(lanes.repeats) * lanes.per_repeat : lanes.total;
        instr.accesses.push_back(block_of(offset, static_cast<uint32_t>(used * 4), false, "srcOffset"));
        if (g_mode & kCheck) {
            if (offset.room >= used * 4 && offsets_fit(base, offsets, used, size, size, "Gather"))
                add_sources(instr, src, base, offsets, used, size);
        }
        add_tile(instr, dst, lanes, true, "dst");
        if (!commit_vector(instr, lanes, size)) return;
    }
    if (size == 2) gather_rows<2>(lanes, dst, base, offsets);
    else gather_rows<4>(lanes, dst, base, offsets);
}

void gather_blocks(const Tile& dst, const Tile& src, const Tile& offset, uint32_t repeat) {
    if (repeat == 0) return;
    const auto* base = static_cast<const uint8_t*>(src.addr);
    const auto* offsets = static_cast<const uint8_t*>(offset.addr);
    const uint64_t blocks = uint64_t(repeat) * 8;
    if (g_mode != 0) {
        Instr& instr = begin("Gatherb", Pipe::V, NPUFORGE_SITE());
        if (offset.room < blocks * 4)
            report("GTH-03", "Gatherb of %u repeats needs %llu offsets, the tensor holds %u", repeat,
                   static_cast<unsigned long long>(blocks), offset.room / 4);
        instr.accesses.push_back(block_of(offset, static_cast<uint32_t>(blocks * 4), false, "offset"));
        if ((g_mode & kCheck) && offset.room >= blocks * 4 && offsets_fit(base, offsets, blocks, 32, 32, "Gatherb"))
            add_sources(instr, src, base, offsets, blocks, 32);
        Access out = block_of(dst, 32, true, "dst");
        out.rows = 8;
        out.row_step = int64_t(dst.block_stride) * 32;
        out.repeats = repeat;
        out.repeat_step = int64_t(dst.repeat_stride) * 32;
        instr.accesses.push_back(out);
        Lanes lanes{};
        lanes.repeats = repeat;
        if (!commit_vector(instr, lanes, 4)) return;
    }
    for (uint32_t r = 0; r < repeat; ++r) {
        for (uint32_t b = 0; b < 8; ++b) {
            uint32_t at;
            std::memcpy(&at, offsets + (r * 8 + b) * 4, 4);
            auto* out = static_cast<uint8_t*>(dst.addr) + int64_t(r) * dst.repeat_stride * 32 + int64_t(b) * dst.block_stride * 32;
            if (inside_ub(base + at, 32)) std::memmove(out, base + at, 32);
        }
    }
}

namespace {

bool picked(const GatherMaskJob& job, uint32_t repeat, uint32_t element) {
    switch (job.fixed) {
        case 1: return element % 2 == 0;
        case 2: return element % 2 == 1;
        case 3: case 4: case 5: case 6: return element % 4 == uint32_t(job.fixed) - 3;
        case 7: return true;
        default: break;
    }
    const auto* bits = static_cast<const uint8_t*>(job.pattern.addr) + int64_t(repeat) * job.pattern.repeat_stride * 32;
    return (bits[element / 8] >> (element % 8)) & 1;
}

}  // namespace

uint64_t gather_mask(const GatherMaskJob& job) {
    const uint32_t size = dtype_bytes(job.src.type), per_block = 32 / size;
    const uint32_t each = job.counter ? job.mask : 256 / size;
    if (job.fixed > 7 || (job.fixed == 0 && job.pattern.addr == nullptr))
        report("GTH-04", "GatherMask with the fixed pattern %u: 1 to 7 exist", job.fixed);
    // The instruction leaves normal mode behind.
    g_core->vector.counter = false;
    const auto source = [&](uint32_t r, uint32_t e) {
        return static_cast<const uint8_t*>(job.src.addr) + int64_t(r) * job.src.repeat_stride * 32 +
               int64_t(e / per_block) * job.src.block_stride * 32 + (e % per_block) * size;
    };
    // dst may be src: every element moves towards the front.
    const auto collect = [&](uint8_t* out) {
        uint64_t kept = 0;
        for (uint32_t r = 0; r < job.repeats; ++r) {
            for (uint32_t e = 0; e < each; ++e) {
                if (!picked(job, r, e)) continue;
                if (out != nullptr) std::memmove(out + kept * size, source(r, e), size);
                ++kept;
            }
        }
        g_core->vector.reduced_count = kept;
        return kept;
    };
    auto* out = static_cast<uint8_t*>(job.dst.addr);
    if (g_mode == 0) return collect(out);
    uint64_t kept;
    if ((g_mode & kNoData) == 0 || job.pattern.addr == nullptr) {
        kept = collect(nullptr);
    } else {
        // Two data-free runs keep different numbers, so that a kernel that branches on them shows.
        kept = uint64_t(job.repeats) * each * (g_launch->seed == 1 ? 2 : 3) / 4;
        g_launch->value_read = true;
    }
    Instr& instr = begin("GatherMask", Pipe::V, NPUFORGE_SITE());
    const uint32_t whole = each / per_block, rest = each % per_block;
    Access in = block_of(job.src, job.src.block_stride == 1 ? each * size : 32, false, "src0");
    in.repeats = job.repeats;
    in.repeat_step = int64_t(job.src.repeat_stride) * 32;
    if (job.src.block_stride == 1 || whole > 0) {
        if (job.src.block_stride != 1) {
            in.rows = whole;
            in.row_step = int64_t(job.src.block_stride) * 32;
        }
        if (each > 0) instr.accesses.push_back(in);
    }
    if (job.src.block_stride != 1 && rest > 0) {
        Access tail = in;
        tail.base += int64_t(whole) * job.src.block_stride * 32;
        tail.rows = 1;
        tail.row_bytes = rest * size;
        tail.align = 1;
        instr.accesses.push_back(tail);
    }
    if (job.pattern.addr != nullptr) {
        Access pattern = block_of(job.pattern, (each + 7) / 8, false, "src1Pattern");
        pattern.repeats = job.repeats;
        pattern.repeat_step = int64_t(job.pattern.repeat_stride) * 32;
        if (each > 0) instr.accesses.push_back(pattern);
    }
    if (kept > 0) instr.accesses.push_back(block_of(job.dst, static_cast<uint32_t>(kept * size), true, "dst"));
    Lanes lanes{};
    lanes.repeats = static_cast<uint32_t>((uint64_t(job.repeats) * each * size + 255) / 256);
    if (commit_vector(instr, lanes, size)) collect(out);
    return kept;
}

}  // namespace npuforge
