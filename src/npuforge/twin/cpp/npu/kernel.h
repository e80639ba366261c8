// SPDX-License-Identifier: Apache-2.0
// Everything a kernel sees, in the order of dependence.
#pragma once
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
