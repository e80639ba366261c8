// SPDX-License-Identifier: Apache-2.0
// Shadow of a memory: for every byte who wrote it last, who read it since, and whether its value is
// defined. Kept per block of 32 B; a block whose bytes differ is split into bytes.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace npuforge {

inline constexpr uint32_t kShadowBlock = 32;
inline constexpr uint32_t kAllBytes = ~0u;

// Numbers of access records. Of many readers the last three are kept: more than enough to find that
// one of them is not ordered with a later write.
struct Cell {
    uint32_t writer = 0;
    std::array<uint32_t, 3> readers{};
    bool operator==(const Cell&) const = default;
};

struct ShadowBlock {
    Cell cell;               // of all 32 bytes, unless split
    uint32_t undefined = 0;  // a bit per byte
    uint32_t origin = 0;     // why bytes are undefined
    uint32_t split = 0;      // index of the byte cells, 0: none
    uint32_t region = 0;     // local memory: the buffer the block belongs to
};

class Shadow {
public:
    using Bytes = std::array<Cell, kShadowBlock>;

    void reset(uint64_t bytes, uint32_t undefined, uint32_t origin) {
        pages_.clear();
        pages_.resize((bytes + kPageBytes - 1) / kPageBytes);
        bytes_ = bytes;
        undefined_ = undefined;
        origin_ = origin;
        split_.assign(1, {});
        free_.clear();
    }
    uint64_t bytes() const { return bytes_; }
    uint32_t initial_origin() const { return origin_; }
    bool initially_undefined() const { return undefined_ != 0; }
    bool page_exists(uint64_t offset) const { return pages_[offset / kPageBytes] != nullptr; }
    static constexpr uint64_t kPageBytes = 4096;

    ShadowBlock& block(uint64_t offset) {
        auto& page = pages_[offset / kPageBytes];
        if (__builtin_expect(page == nullptr, 0)) page = fresh_page();
        return page[offset % kPageBytes / kShadowBlock];
    }
    Bytes& bytes_of(ShadowBlock& block) {
        if (block.split == 0) {
            if (free_.empty()) {
                block.split = static_cast<uint32_t>(split_.size());
                split_.emplace_back();
            } else {
                block.split = free_.back();
                free_.pop_back();
            }
            split_[block.split].fill(block.cell);
        }
        return split_[block.split];
    }
    Bytes* split_bytes(const ShadowBlock& block) { return block.split != 0 ? &split_[block.split] : nullptr; }
    // A write of the whole block makes it one again.
    void unite(ShadowBlock& block) {
        if (block.split == 0) return;
        free_.push_back(block.split);
        block.split = 0;
    }

    // fn(block, mask of bytes, offset of the block) for the blocks of a stretch, clipped to the memory.
    template <typename Fn> void visit(int64_t offset, uint64_t bytes, Fn fn) {
        if (offset < 0) {
            if (uint64_t(-offset) >= bytes) return;
            bytes -= static_cast<uint64_t>(-offset);
            offset = 0;
        }
        uint64_t at = static_cast<uint64_t>(offset);
        const uint64_t end = std::min(bytes_, at + bytes);
        while (at < end) {
            const uint64_t start = at / kShadowBlock * kShadowBlock;
            const uint64_t stop = std::min(end, start + kShadowBlock);
            const uint32_t n = static_cast<uint32_t>(stop - at);
            const uint32_t mask = n == kShadowBlock ? kAllBytes : ((1u << n) - 1) << (at - start);
            fn(block(start), mask, start);
            at = stop;
        }
    }

private:
    std::unique_ptr<ShadowBlock[]> fresh_page() const {
        auto page = std::make_unique<ShadowBlock[]>(kPageBytes / kShadowBlock);
        for (uint32_t i = 0; i < kPageBytes / kShadowBlock; ++i) {
            page[i].undefined = undefined_;
            page[i].origin = origin_;
        }
        return page;
    }
    std::vector<std::unique_ptr<ShadowBlock[]>> pages_;
    std::vector<Bytes> split_;
    std::vector<uint32_t> free_;
    uint64_t bytes_ = 0;
    uint32_t undefined_ = 0, origin_ = 0;
};

}  // namespace npuforge
