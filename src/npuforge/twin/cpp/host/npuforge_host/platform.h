// SPDX-License-Identifier: Apache-2.0
// Platform facts as host code asks for them.
#pragma once

#include "npuforge_host/node.h"
#include "npuforge_host/platform_classes.h"
