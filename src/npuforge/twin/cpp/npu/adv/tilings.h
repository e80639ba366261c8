// SPDX-License-Identifier: Apache-2.0
// Tiling structures of the kernel library as kernels see them: expanded from the host's own field
// lists, so that a structure means the same bytes on both sides.
#pragma once
#include <cstdint>

#include "host/npuforge_host/library_fields.h"

namespace AscendC {
namespace tiling {
#define NPUFORGE_FIELD(type, name) type name = 0;
// Eight-byte alignment of the end is part of the layout.
#define NPUFORGE_STRUCT(structure)                  \
    struct alignas(8) structure {                   \
        NPUFORGE_FIELDS_##structure(NPUFORGE_FIELD) \
    };
NPUFORGE_LIBRARY_STRUCTS(NPUFORGE_STRUCT)
#undef NPUFORGE_STRUCT
#undef NPUFORGE_FIELD
}  // namespace tiling
}  // namespace AscendC

// Kernel code names these structures without a namespace.
#define NPUFORGE_STRUCT(structure) using AscendC::tiling::structure;
NPUFORGE_LIBRARY_STRUCTS(NPUFORGE_STRUCT)
#undef NPUFORGE_STRUCT
