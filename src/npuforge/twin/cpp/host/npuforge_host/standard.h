// SPDX-License-Identifier: Apache-2.0
// Standard headers that operator sources get without asking, because the registration headers
// of the real toolkit bring them in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "securec.h"
