// SPDX-License-Identifier: Apache-2.0
// Local memory without a TPipe: addresses handed out one after the other.
#pragma once
#include "pipe.h"

namespace AscendC {

namespace internal {
constexpr TPosition DefaultPosition(Hardware hardware) {
    switch (hardware) {
        case Hardware::L1: return TPosition::A1;
        case Hardware::L0A: return TPosition::A2;
        case Hardware::L0B: return TPosition::B2;
        case Hardware::L0C: return TPosition::CO1;
        case Hardware::BIAS: return TPosition::C2;
        case Hardware::FIXBUF: return TPosition::C2PIPE2GM;
        default: return TPosition::VECCALC;
    }
}
}  // namespace internal

template <Hardware hard = Hardware::UB> class LocalMemAllocator {
public:
    uint32_t GetCurAddr() const { return head_; }
    template <TPosition pos, class T, uint32_t tileSize> LocalTensor<T> Alloc() { return Take<pos, T>(tileSize); }
    template <TPosition pos, class T> LocalTensor<T> Alloc(uint32_t tileSize) { return Take<pos, T>(tileSize); }
    template <class T, uint32_t tileSize> LocalTensor<T> Alloc() { return Take<internal::DefaultPosition(hard), T>(tileSize); }
    template <class T> LocalTensor<T> Alloc(uint32_t tileSize) { return Take<internal::DefaultPosition(hard), T>(tileSize); }

private:
    template <TPosition pos, class T> LocalTensor<T> Take(uint32_t count) {
        static_assert(SpaceOf(pos) == SpaceOf(internal::DefaultPosition(hard)), "[CAP-01] this position lies in another memory");
        const uint32_t bytes = (static_cast<uint32_t>(BytesOf<T>(count)) + 31) / 32 * 32;
        const uint32_t capacity = npuforge::local_capacity(SpaceOf(pos));
        if (head_ + bytes > capacity) {
            npuforge::report("CAP-01", "Alloc of %u B does not fit: %u of %u B are taken", bytes, head_, capacity);
            npuforge::device_stop("the local memory is full");
        }
        const LocalTensor<T> tensor(pos, head_, count);
        head_ += bytes;
        return tensor;
    }
    uint32_t head_ = 0;
};

}  // namespace AscendC
