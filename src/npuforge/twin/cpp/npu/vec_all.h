// SPDX-License-Identifier: Apache-2.0
// Element-wise vector instructions.
#pragma once
#include "vec_binary.h"
#include "vec_cast.h"
#include "vec_compare.h"
#include "vec_duplicate.h"
#include "vec_operators.h"
#include "vec_scalar.h"
#include "vec_ternary.h"
#include "vec_unary.h"
