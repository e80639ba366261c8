// SPDX-License-Identifier: Apache-2.0
// Select: per element from one of two operands, by bits of a tensor or of the compare register.
#include <cstring>

#include "vec_call.h"

namespace npuforge {

namespace {

// The order of AscendC::SELMODE.
enum Mode : int { kRegisterBits = 0, kTensorScalar = 1, kTensorTensor = 2 };

// Bits of elements `first`, `first + 1`, ...: up to 64 of them. A period repeats the same bits for every
// repeat of the instruction.
struct Bits {
    const uint8_t* base;
    uint32_t period;  // elements; 0 when the bits go on

    uint64_t at(uint32_t first, uint32_t count) const {
        uint64_t word = 0;
        for (uint32_t i = 0; i < count;) {
            uint32_t element = first + i;
            if (period != 0) element %= period;
            const uint32_t shift = element & 7;
            const uint32_t taken = std::min(8 - shift, count - i);
            word |= (uint64_t(base[element >> 3] >> shift) & ((1u << taken) - 1)) << i;
            i += taken;
        }
        return word;
    }
};

template <typename T>
void select_row(uint8_t* dst, const uint8_t* a, const uint8_t* b, uint32_t n, uint32_t element, const Bits& bits, bool scalar) {
    auto* d = reinterpret_cast<T*>(dst);
    const auto* x = reinterpret_cast<const T*>(a);
    const auto* y = reinterpret_cast<const T*>(b);
    for (uint32_t start = 0; start < n; start += 64) {
        const uint32_t m = std::min(64u, n - start);
        const uint64_t word = bits.at(element + start, m);
        for (uint32_t i = 0; i < m; ++i) {
            const T other = y[scalar ? 0 : start + i];
            d[start + i] = (word >> i & 1) != 0 ? x[start + i] : other;
        }
    }
}

// The compare register may hold an address of UB; kernels store it in 32 bits or in 64.
const uint8_t* register_address() {
    const uint8_t* ub = g_core->spaces[static_cast<int>(Space::UB)];
    const auto low = static_cast<uint32_t>(g_core->vector.compare_mask[0]);
    return ub + static_cast<uint32_t>(low - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(ub)));
}

}  // namespace

void vec_select(const Extent& extent, const Tile& dst_in, const Tile& src0_in, const Selection& selection) {
    const uint32_t size = dtype_bytes(dst_in.type);
    const Lanes lanes = lanes_of(extent, size, "Select");
    const Tile dst = packed(dst_in, extent, lanes), src0 = packed(src0_in, extent, lanes);
    const Tile src1 = packed(selection.otherwise != nullptr ? *selection.otherwise : src0_in, extent, lanes);
    const bool fixed = selection.mode == kRegisterBits;

    Bits bits{};
    bits.period = fixed ? lanes.per_repeat : 0;
    if (selection.chooser != nullptr) bits.base = static_cast<const uint8_t*>(selection.chooser->addr);
    else if (fixed) bits.base = reinterpret_cast<const uint8_t*>(g_core->vector.compare_mask);
    else bits.base = (g_mode & kNoData) ? nullptr : register_address();

    if (g_mode != 0) {
        Instr& instr = begin("Select", Pipe::V, NPUFORGE_SITE());
        if (selection.chooser != nullptr || !fixed) {
            Access a{};
            a.base = bits.base;
            const uint64_t used = fixed ? lanes.per_repeat : uint64_t(lanes.repeats) * lanes.per_repeat;
            const uint64_t last = lanes.last_lanes == 0 || fixed ? used : used - lanes.per_repeat + lanes.last_lanes;
            a.row_bytes = static_cast<uint32_t>((last + 7) / 8);
            a.role = "selMask";
            if (selection.chooser != nullptr) {
                a.room = selection.chooser->room;
                a.position = selection.chooser->position;
            }
            if (a.base != nullptr && lanes.total != 0) instr.accesses.push_back(a);
        }
        add_tile(instr, src0, lanes, false, "src0");
        if (selection.otherwise != nullptr) add_tile(instr, src1, lanes, false, "src1");
        add_tile(instr, dst, lanes, true, "dst");
        check_strides(extent, lanes, dst, "Select");
        if (!commit_vector(instr, lanes, size)) return;
    }

    // src1 as one value: an argument, or what the compare register holds.
    const bool scalar = selection.otherwise == nullptr;
    uint32_t value = static_cast<uint32_t>(g_core->vector.compare_mask[0]);
    if (selection.value != nullptr)
        value = size == 2 ? float_to_half_bits(selection.value->f) : float_to_bits(selection.value->f);
    for_rows_at(lanes, {&dst, &src0, &src1}, [&](uint8_t* const* at, uint32_t n, uint32_t element) {
        const uint8_t* other = scalar ? reinterpret_cast<const uint8_t*>(&value) : at[2];
        if (size == 2) select_row<uint16_t>(at[0], at[1], other, n, element, bits, scalar);
        else select_row<uint32_t>(at[0], at[1], other, n, element, bits, scalar);
    });
}

}  // namespace npuforge
