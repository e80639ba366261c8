// SPDX-License-Identifier: Apache-2.0
// Filling GM with a value: a tile is filled once and copied out as often as needed.
#pragma once
#include "data_copy.h"
#include "extent.h"

namespace AscendC {

namespace internal {

// Fills a tile with the instruction that exists for 16 and 32 bit types; narrower and wider types are
// written as such words where the value allows it.
template <typename T> void FillTile(const LocalTensor<T>& tile, T value, uint32_t count) {
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
        Duplicate(tile, value, static_cast<int32_t>(count));
    } else if constexpr (sizeof(T) == 1) {
        uint8_t byte;
        std::memcpy(&byte, &value, 1);
        Duplicate(tile.template ReinterpretCast<uint16_t>(), static_cast<uint16_t>(byte * 0x0101u), static_cast<int32_t>((count + 1) / 2));
    } else {
        for (uint32_t i = 0; i < count; ++i) tile.SetValue(i, value);
    }
}

template <typename T> void FillGlobal(GlobalTensor<T> gm, uint64_t size, T value) {
    LocalTensor<T> tile;
    PopStackBuffer<T, TPosition::LCM>(tile);
    const uint32_t room = tile.GetSize() / 32 * 32;
    const auto step = static_cast<uint32_t>(room < size ? room : size);
    if (step == 0) return;
    const auto order = [](npuforge::Pipe from, npuforge::Pipe to) {
        const int event = npuforge::fetch_event(from, to);
        npuforge::set_flag(from, to, event);
        npuforge::wait_flag(from, to, event);
    };
    order(npuforge::Pipe::MTE3, npuforge::Pipe::V);
    FillTile(tile, value, step);
    order(sizeof(T) == 8 ? npuforge::Pipe::S : npuforge::Pipe::V, npuforge::Pipe::MTE3);
    for (uint64_t at = 0; at < size; at += step) {
        const auto count = static_cast<uint32_t>(size - at < step ? size - at : step);
        DataCopyPad(gm[at], tile, DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0));
    }
    order(npuforge::Pipe::MTE3, npuforge::Pipe::V);
}

}  // namespace internal

template <typename T> inline void InitGlobalMemory(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value) {
    internal::FillGlobal(gmWorkspaceAddr, size, value);
}
template <typename T> inline void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = 0) {
    internal::FillGlobal(gmWorkspaceAddr, size, value);
}

}  // namespace AscendC
