// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npuforge_host/platform.h"
