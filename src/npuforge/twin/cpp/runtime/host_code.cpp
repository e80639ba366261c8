// SPDX-License-Identifier: Apache-2.0
// What host code needs that stands in one source with the kernels it launches.
#include "../host/npuforge_host/data_type_definitions.h"
#include "../host/npuforge_host/platform_definitions.h"
#include "../host/npuforge_host/tiling_definitions.h"
#include "cost.h"
#include "direct.h"

namespace npuforge::host {

const std::string& SocText(const std::string& key) {
    static const ConstantsFile constants = [] {
        direct::ensure_session();
        return ConstantsFile::load(session().constants);
    }();
    return constants.text(key);
}
uint64_t SocNumber(const std::string& key) { return std::stoull(SocText(key)); }

// Nobody asks for a program's tiling classes by name.
int RegisterTilingClass(const char*, bool, optiling::TilingDef* (*)()) { return 0; }

}  // namespace npuforge::host
