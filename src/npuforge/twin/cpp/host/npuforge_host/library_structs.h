// SPDX-License-Identifier: Apache-2.0
// Tiling structures of the kernel library: as tiling classes and, for code that fills plain
// structures, as those.
#pragma once

#include "../../npu/adv/tiling_structs.h"
#include "npuforge_host/library_fields.h"
#include "npuforge_host/tiling_class.h"

namespace optiling {
#define NPUFORGE_FIELD(type, name) TILING_DATA_FIELD_DEF(type, name)
#define NPUFORGE_STRUCT(structure)                               \
    BEGIN_TILING_DATA_DEF(structure)                             \
    NPUFORGE_FIELDS_##structure(NPUFORGE_FIELD)                  \
    END_TILING_DATA_DEF                                          \
    NPUFORGE_LIBRARY_TILING_CLASS(structure)
NPUFORGE_LIBRARY_STRUCTS(NPUFORGE_STRUCT)
#undef NPUFORGE_STRUCT
#undef NPUFORGE_FIELD
}  // namespace optiling
