// SPDX-License-Identifier: Apache-2.0
// Everything a kernel sees, in the order of dependence.
#pragma once
// The device compiler sets it while it compiles for vector cores.
#ifndef __DAV_C220_VEC__
#define __DAV_C220_VEC__
#endif
#include "qualifiers.h"
#include "types.h"
#include "enums.h"
#include "params.h"
#include "abi.h"
#include "tensor.h"
#include "pipe.h"
#include "sync.h"
#include "vec_all.h"
#include "basic_more.h"
#include "adv_all.h"
