// SPDX-License-Identifier: Apache-2.0
// Platform facts for host code that stands in one source with the kernels it launches.
#include "../host/npuforge_host/platform_definitions.h"
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

}  // namespace npuforge::host
