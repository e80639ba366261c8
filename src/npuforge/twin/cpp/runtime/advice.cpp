// SPDX-License-Identifier: Apache-2.0
#include "advice.h"

#include <algorithm>
#include <map>
#include <string>

#include "report.h"

namespace npuforge {

namespace {

constexpr double kWorthKnowing = 0.01;     // of the launch's cycles
constexpr uint64_t kSmallCopy = 2048;      // bytes; below, latency decides (CPY-21)
constexpr uint64_t kGoodCopy = 16384;      // bytes that use the bandwidth
constexpr uint64_t kScalarLoop = 64;       // accesses of one place that make a loop (SCL-03)

struct Loss {
    uint64_t cycles = 0, count = 0;
};

struct Losses {
    std::map<std::pair<std::string, uint32_t>, Loss> by_place;
    std::map<uint32_t, Loss> scalar;
};

Losses& losses() {
    static Losses all;
    return all;
}

uint64_t bytes_of(const Record& r) { return uint64_t(r.row_bytes) * r.rows; }

// Several copies from one place with nothing between them could be one copy with a stride.
void advise_copies(const std::vector<Record>& stream, const Constants& chip) {
    const Record* before = nullptr;
    for (const Record& r : stream) {
        if (r.kind != RecordKind::Dma) {
            if (r.kind != RecordKind::Scalar) before = nullptr;
            continue;
        }
        const uint64_t bytes = bytes_of(r);
        const bool write = r.pipe != Pipe::MTE2;
        if (bytes < kSmallCopy && before != nullptr && before->site == r.site && before->row_bytes == r.row_bytes) {
            note_lost(r.site, "CPY-23", static_cast<uint64_t>(std::max(0.0, chip.issue - chip.row)));
        } else if (bytes < kSmallCopy) {
            note_lost(r.site, "CPY-21", static_cast<uint64_t>(chip.issue * (1.0 - double(bytes) / kGoodCopy)));
        }
        const uint64_t lead = chip.sector != 0 ? r.gm_address % chip.sector : 0;
        if (lead != 0 && r.rows == 1) {
            const uint64_t needed = (bytes + chip.sector - 1) / chip.sector, touched = (lead + bytes + chip.sector - 1) / chip.sector;
            const double rate = write ? chip.aiv_write : chip.aiv_read;
            note_lost(r.site, "CPY-22", static_cast<uint64_t>(double(touched - needed) * chip.sector / rate));
        }
        if (write && (r.flags & kRecordUnaligned) && r.row_bytes % 32 != 0) {
            const double row = r.row_bytes <= chip.sector ? r.row_bytes / chip.unaligned_short : chip.unaligned_long;
            note_lost(r.site, "CPY-26", static_cast<uint64_t>(row * r.rows));
        }
        before = &r;
    }
}

void advise_barriers(const std::vector<Record>& stream, const Constants& chip) {
    std::map<uint32_t, uint64_t> seen;
    for (const Record& r : stream)
        if (r.kind == RecordKind::Barrier && r.pipe == Pipe::Count) seen[r.site] += 1;
    for (const auto& [site, count] : seen)
        if (count > 1) note_lost(site, "EVT-07", static_cast<uint64_t>(chip.barrier_all) * count);
}

void advise_launch(const Constants& chip, const Timeline& timeline, size_t streams) {
    double busiest = 0;
    for (const CoreTimes& core : timeline.cores) busiest = std::max(busiest, core.end_us - core.start_us);
    // Starting all cores takes longer than any of them works.
    if (streams > 1 && timeline.skew_us > busiest)
        note_lost(0, "LNC-03", static_cast<uint64_t>((timeline.skew_us - busiest) * chip.mhz) * streams);
}

std::string text_of(const std::string& rule, const Loss& loss, uint64_t cycles) {
    const std::string times = std::to_string(loss.count) + (loss.count == 1 ? " time" : " times");
    const std::string lost = ", about " + std::to_string(cycles) + " cycles per core";
    if (rule == "OVL-07") return "operands meet in a bank group or bank of UB " + times + lost;
    if (rule == "OVL-08") return "the block stride puts the blocks of a repeat in few bank groups " + times + lost;
    if (rule == "CPY-21") return "copies of less than 2 KB, " + times + lost;
    if (rule == "CPY-22") return "the GM address is not 512 byte aligned, " + times + lost;
    if (rule == "CPY-23") return "a loop of small copies that one strided copy could do, " + times + lost;
    if (rule == "CPY-26") return "rows written to GM are not whole 32 bytes, " + times + lost;
    if (rule == "EVT-07") return "PipeBarrier<PIPE_ALL> in a loop" + lost;
    if (rule == "SCL-03") return "elements accessed one by one by the scalar unit, " + times + lost;
    return "starting the cores takes longer than their work" + lost;
}

}  // namespace

void note_lost(uint32_t site, const char* rule, uint64_t cycles) {
    if (cycles == 0) return;
    Loss& loss = losses().by_place[{rule, site}];
    loss.cycles += cycles;
    loss.count += 1;
}

void note_scalar(uint32_t site, uint32_t cycles) {
    Loss& loss = losses().scalar[site];
    loss.cycles += cycles;
    loss.count += 1;
}

void advise(std::span<const std::vector<Record>> streams, const Constants& chip, const Timeline& timeline) {
    Losses& all = losses();
    for (const auto& stream : streams) {
        advise_copies(stream, chip);
        advise_barriers(stream, chip);
    }
    for (const auto& [site, loss] : all.scalar)
        if (loss.count > kScalarLoop * streams.size()) all.by_place[{"SCL-03", site}] = loss;
    advise_launch(chip, timeline, streams.size());
    const double total = timeline.total_us * chip.mhz;
    for (const auto& [place, loss] : all.by_place) {
        const uint64_t cycles = loss.cycles / std::max<size_t>(1, streams.size());
        if (double(cycles) < kWorthKnowing * total) continue;
        Finding finding;
        finding.rule = place.first;
        finding.site = place.second;
        finding.message = text_of(place.first, loss, cycles);
        finding.cycles_lost = cycles;
        add_finding(std::move(finding));
    }
    all = Losses();
}

}  // namespace npuforge
