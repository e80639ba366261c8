// SPDX-License-Identifier: Apache-2.0
// What a host library registers while it is loaded. The registry lives in the runner; a host
// library finds it, like all functions declared here and not defined, when it is loaded.
#pragma once

#include <initializer_list>
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

// A template parameter of a kernel. `values` of a uint start with how they are written: a list, a
// number of ranges (first and last of each), or ranges followed by a list.
struct TemplateParam {
    TemplateParam(const char* param_name, const char* param_kind, uint8_t width,
                  std::vector<uint64_t> written);
    std::string name;
    std::string kind;
    uint8_t bits;
    std::vector<uint64_t> values;
};

struct Registry {
    std::map<std::string, OpFunctions> functions;
    std::vector<Definition> definitions;
    std::vector<TilingClass> tiling_classes;
    std::map<std::string, std::vector<TemplateParam>> templates;
};

Registry& TheRegistry();
OpFunctions& FunctionsOf(const char* op_type);
int RegisterDefinition(const char* type, ops::OpDef* (*create)(const char*));
const std::vector<TemplateParam>& RegisterTemplate(const char* op_type,
                                                   std::vector<TemplateParam> params);
uint64_t TemplateKey(const std::vector<TemplateParam>& params, std::initializer_list<uint64_t> values);
int RegisterTilingClass(const char* registered_as, bool library, optiling::TilingDef* (*create)());

}  // namespace npuforge::host
