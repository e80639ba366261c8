// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npuforge_host/standard.h"
#include "npuforge_host/op_def.h"
