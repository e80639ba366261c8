// SPDX-License-Identifier: Apache-2.0
// Rules on the parameters of a vector call: mask, repeats, strides.
#include "vec_call.h"

namespace npuforge {

void check_extent(const Extent& extent, const Lanes& lanes, bool counter, uint32_t widest, bool mixed, const char* name) {
    const unsigned per_repeat = lanes.per_repeat;
    if (extent.form == Extent::Form::Count) {
        if (extent.count == 0) report("VEC-06", "%s with a count of 0", name);
        return;
    }
    if (counter) {
        if (lanes.total == 0) report("MSK-02", "%s in counter mode over 0 elements", name);
        if (extent.repeat > 1 && static_cast<uint32_t>(extent.repeat) != lanes.repeats)
            report("MSK-04", "%s in counter mode: repeatTime %d has no effect, the mask asks for %llu elements (%u repeats)",
                   name, extent.repeat, static_cast<unsigned long long>(lanes.total), lanes.repeats);
        return;
    }
    if (lanes.repeats == 0) report("VEC-06", "%s with repeatTime 0", name);
    if (extent.form != Extent::Form::Bits) return;
    if (extent.continuous && static_cast<uint64_t>(extent.count) > per_repeat)
        report(mixed ? "VEC-11" : "MSK-01", "%s with mask %llu: a repeat has %u elements of %u bytes", name,
               static_cast<unsigned long long>(extent.count), per_repeat, widest);
    if (lanes.mask[0] == 0 && lanes.mask[1] == 0) report("MSK-02", "%s with an empty mask", name);
}

void check_strides(const Extent& extent, const Lanes& lanes, const Tile& dst, const char* name) {
    if (extent.form == Extent::Form::Count || lanes.total == 0) return;
    const uint32_t lanes_per_block = 32 / dtype_bytes(dst.type);
    const bool second_block =
        lanes_per_block >= 64 ? (lanes.mask[1] != 0) : ((lanes.mask[0] >> lanes_per_block) | lanes.mask[1]) != 0;
    if (dst.block_stride == 0 && second_block)
        report("VEC-04", "%s with dstBlkStride 0: the blocks of a repeat overwrite each other", name);
}

}  // namespace npuforge
