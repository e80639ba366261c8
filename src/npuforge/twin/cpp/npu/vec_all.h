// SPDX-License-Identifier: Apache-2.0
// Element-wise vector instructions.
#pragma once
#include "vec_binary.h"
