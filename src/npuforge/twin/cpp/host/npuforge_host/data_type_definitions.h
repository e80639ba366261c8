// SPDX-License-Identifier: Apache-2.0
// Sizes of data types, defined once in the program that runs host code.
#pragma once

#include "ge_types.h"

namespace ge {

int GetSizeByDataType(DataType type) {
    switch (type) {
#define NPUFORGE_SIZE(name, number, size) \
    case DT_##name: return (size) > 0 ? (size) : (size) < 0 ? kDataTypeSizeBitOffset - (size) : -1;
        NPUFORGE_DATA_TYPES(NPUFORGE_SIZE)
#undef NPUFORGE_SIZE
        default: return -1;
    }
}
int64_t GetSizeInBytes(int64_t elements, DataType type) {
    const int size = GetSizeByDataType(type);
    if (elements < 0 || size <= 0) return -1;
    if (size < kDataTypeSizeBitOffset) return elements * size;
    return (elements * (size - kDataTypeSizeBitOffset) + 7) / 8;
}

}  // namespace ge
