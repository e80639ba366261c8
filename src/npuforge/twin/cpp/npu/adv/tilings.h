// SPDX-License-Identifier: Apache-2.0
// Kernel code names the tiling structures of the library without a namespace.
#pragma once
#include "tiling_structs.h"

#define NPUFORGE_STRUCT(structure) using AscendC::tiling::structure;
NPUFORGE_LIBRARY_STRUCTS(NPUFORGE_STRUCT)
#undef NPUFORGE_STRUCT
