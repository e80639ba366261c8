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
#include <utility>
#include <vector>

#include "securec.h"

// The real headers put these names into the global namespace, and sources rely on it.
using std::make_shared;
using std::map;
using std::pair;
using std::string;
using std::to_string;
using std::unique_ptr;
using std::vector;
