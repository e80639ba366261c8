// SPDX-License-Identifier: Apache-2.0
// Tiling structures of the kernel library as plain structures: one definition for kernels and for
// host code, expanded from the field lists that also make the host's tiling classes.
#pragma once
#include <cstdint>

#include "../../host/npuforge_host/library_fields.h"

namespace AscendC::tiling {
#define NPUFORGE_FIELD(type, name) type name = 0;
// Eight-byte alignment of the end is part of the layout.
#define NPUFORGE_STRUCT(structure)                  \
    struct alignas(8) structure {                   \
        NPUFORGE_FIELDS_##structure(NPUFORGE_FIELD) \
    };
NPUFORGE_LIBRARY_STRUCTS(NPUFORGE_STRUCT)
#undef NPUFORGE_STRUCT
#undef NPUFORGE_FIELD
}  // namespace AscendC::tiling
