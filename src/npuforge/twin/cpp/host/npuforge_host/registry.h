// SPDX-License-Identifier: Apache-2.0
// What a host library registers while it is loaded. The registry lives in the runner; a host
// library finds it, like all functions declared here and not defined, when it is loaded.
#pragma once

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
    void* (*create_compile_info)() = nullptr;  // lives as long as the runner's process
    InferShapeFunc infer_shape = nullptr;
    InferDataTypeFunc infer_data_type = nullptr;
    bool same_type_as_first_input = false;
    std::vector<int32_t> value_depend;
};

struct Definition {
    std::string type;
    ops::OpDef* (*create)(const char* type) = nullptr;
};

struct TilingClass {
    std::string registered_as;
    bool library = false;  // declared by our own headers, so the kernel headers have its twin
    optiling::TilingDef* (*create)() = nullptr;
};

struct Registry {
    std::map<std::string, OpFunctions> functions;
    std::vector<Definition> definitions;
    std::vector<TilingClass> tiling_classes;
};

Registry& TheRegistry();
OpFunctions& FunctionsOf(const char* op_type);
int RegisterDefinition(const char* type, ops::OpDef* (*create)(const char*));
int RegisterTilingClass(const char* registered_as, bool library, optiling::TilingDef* (*create)());

}  // namespace npuforge::host
