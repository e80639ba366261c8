// SPDX-License-Identifier: Apache-2.0
// All host-side helpers of the kernel library.
#pragma once

#include "npuforge_host/layout_tiling.h"
#include "npuforge_host/matmul_tiling.h"
#include "npuforge_host/norm_grad_tiling.h"
#include "npuforge_host/quant_tiling.h"
#include "npuforge_host/reduce_tiling.h"
#include "npuforge_host/softmax_tiling.h"
#include "npuforge_host/standard.h"
#include "npuforge_host/tmp_size.h"
