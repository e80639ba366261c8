// SPDX-License-Identifier: Apache-2.0
// What a host library registers while it is loaded. The runner reaches it through one C symbol.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "npuforge_host/contexts.h"

namespace ops {
class OpDef;
}
namespace optiling {
class TilingDef;
}

namespace npuforge::host {

using TilingFunc = ge::graphStatus (*)(gert::TilingContext*);
using TilingParseFunc = ge::graphStatus (*)(gert::TilingParseContext*);
using InferShapeFunc = ge::graphStatus (*)(gert::InferShapeContext*);
using InferShapeRangeFunc = ge::graphStatus (*)(gert::InferShapeRangeContext*);
using InferDataTypeFunc = ge::graphStatus (*)(gert::InferDataTypeContext*);

// The functions of one operator, whichever of the registration macros named them.
struct OpFunctions {
    TilingFunc tiling = nullptr;
    TilingParseFunc tiling_parse = nullptr;
    std::shared_ptr<void> (*create_compile_info)() = nullptr;
    InferShapeFunc infer_shape = nullptr;
    InferDataTypeFunc infer_data_type = nullptr;
    bool same_type_as_first_input = false;
    std::vector<int32_t> value_depend;
};

struct TilingClass {
    std::string registered_as;
    bool library = false;  // declared by our own headers, so the kernel headers have its twin
    std::shared_ptr<optiling::TilingDef> (*create)() = nullptr;
};

struct Registry {
    std::map<std::string, OpFunctions> functions;
    std::vector<std::pair<std::string, std::function<std::shared_ptr<ops::OpDef>()>>> definitions;
    std::vector<TilingClass> tiling_classes;
};

inline Registry& TheRegistry() {
    static Registry registry;
    return registry;
}

}  // namespace npuforge::host

extern "C" __attribute__((weak, used, visibility("default"))) void* npuforge_host_registry() {
    return &npuforge::host::TheRegistry();
}
