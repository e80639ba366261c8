// SPDX-License-Identifier: Apache-2.0
// The rest of the basic API: moves, reductions, gather, sort, transposes, state, system.
#pragma once
#include "data_copy.h"
#include "system.h"
