// SPDX-License-Identifier: Apache-2.0
// What nearly every host source includes, precompiled once per machine.
#pragma once

#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"
