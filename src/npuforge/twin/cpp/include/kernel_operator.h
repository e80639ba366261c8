// SPDX-License-Identifier: Apache-2.0
// The header device sources include.
#pragma once
#include "npu/kernel.h"
