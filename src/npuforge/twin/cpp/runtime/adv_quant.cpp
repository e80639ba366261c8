// SPDX-License-Identifier: Apache-2.0
// Quantisation and its inverses: data times scale plus offset, rounded to the target type.
#include "adv_values.h"

namespace npuforge {
namespace {

// A parameter of 64 bits carries its float in the lower half, as the cube unit's quantiser wants it.
float parameter(const Tile& tile, uint64_t index) {
    if (tile.type != DType::U64) return load_one(tile, index);
    return bits_to_float(static_cast<uint32_t>(static_cast<const uint64_t*>(tile.addr)[index]));
}

}  // namespace

void library_quantise(const Quantisation& call) {
    LibraryCall instr(call.name, NPUFORGE_SITE());
    const uint64_t parameters = uint64_t(call.parameter_rows) * call.parameter_columns;
    instr.requires_that(call.computed <= call.columns, "calCount exceeds the row", call.computed);
    instr.scratch(call.tmp, call.least_tmp);
    instr.reads_rows(call.src, 0, call.rows, call.computed, call.src_step, "src");
    instr.reads(call.scale, parameters, "scale");
    instr.reads(call.offset, parameters, "offset");
    if (!call.in_place)
        instr.apart(call.dst, uint64_t(call.rows) * call.dst_step, "dst", call.src, uint64_t(call.rows) * call.src_step, "src");
    instr.writes_rows(call.dst, 0, call.rows, call.computed, call.dst_step, "dst");
    if (!instr.commit(dtype_bytes(call.src.type), uint64_t(call.rows) * call.columns, call.rows)) return;

    const uint32_t row_group = std::max(1u, call.rows / std::max(1u, call.parameter_rows));
    const uint32_t column_group = std::max(1u, call.columns / std::max(1u, call.parameter_columns));
    const auto rounded = [&](float value) { return call.through_half ? through_half(value) : value; };
    std::vector<float> line(call.computed);
    for (uint32_t r = 0; r < call.rows; ++r) {
        load(call.src, uint64_t(r) * call.src_step, call.computed, line.data());
        for (uint32_t c = 0; c < call.computed; ++c) {
            const uint64_t at = uint64_t(r / row_group) * call.parameter_columns + c / column_group;
            const float scale = rounded(present(call.scale) ? parameter(call.scale, at) : call.scale_value);
            const float offset = rounded(present(call.offset) ? parameter(call.offset, at) : call.offset_value);
            const float value = rounded(line[c]);
            line[c] = call.offset_first ? rounded(rounded(value + offset) * scale) : rounded(rounded(value * scale) + offset);
        }
        store(call.dst, uint64_t(r) * call.dst_step, call.computed, line.data());
    }
}

}  // namespace npuforge
