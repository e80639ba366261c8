// SPDX-License-Identifier: Apache-2.0
// Definitions of what the host headers declare; host libraries find them in the runner.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "npuforge_host/data_type_definitions.h"
#include "npuforge_host/op_def.h"
#include "npuforge_host/platform.h"
#include "npuforge_host/platform_definitions.h"
#include "npuforge_host/tiling_class.h"
#include "npuforge_host/tiling_definitions.h"

namespace npuforge::host {

Registry& TheRegistry() {
    static Registry registry;
    return registry;
}
OpFunctions& FunctionsOf(const char* op_type) { return TheRegistry().functions[op_type]; }
int RegisterDefinition(const char* type, ops::OpDef* (*create)(const char*)) {
    TheRegistry().definitions.push_back({type, create});
    return 0;
}
int RegisterTilingClass(const char* registered_as, bool library, optiling::TilingDef* (*create)()) {
    TheRegistry().tiling_classes.push_back({registered_as, library, create});
    return 0;
}


TemplateParam::TemplateParam(const char* param_name, const char* param_kind, uint8_t width,
                             std::vector<uint64_t> written)
    : name(param_name), kind(param_kind), bits(width), values(std::move(written)) {
    if (kind != "uint" || values.empty()) return;
    enum : uint64_t { kRanges = 0, kList = 1 };
    const uint64_t form = values.front();
    const size_t ranges = form == kList || values.size() < 2 ? 0 : values[1];
    const size_t rest = form == kList ? 1 : 2 + 2 * ranges;
    if (rest > values.size()) throw std::runtime_error("template parameter " + name + " is incomplete");
    std::vector<uint64_t> listed;
    for (size_t i = 0; i < ranges; ++i) {
        for (uint64_t value = values[2 + 2 * i]; value <= values[3 + 2 * i]; ++value) {
            listed.push_back(value);
        }
    }
    if (form != kRanges) listed.insert(listed.end(), values.begin() + rest, values.end());
    values = std::move(listed);
}
const std::vector<TemplateParam>& RegisterTemplate(const char* op_type,
                                                   std::vector<TemplateParam> params) {
    return TheRegistry().templates.insert_or_assign(op_type, std::move(params)).first->second;
}
uint64_t TemplateKey(const std::vector<TemplateParam>& params,
                     std::initializer_list<uint64_t> values) {
    uint64_t key = 0;
    unsigned used = 0;
    auto value = values.begin();
    for (const TemplateParam& param : params) {
        if (value == values.end()) break;
        uint64_t code = *value++;
        if (param.kind == "uint") {
            const auto found = std::find(param.values.begin(), param.values.end(), code);
            if (found == param.values.end()) {
                throw std::runtime_error("template parameter " + param.name + " does not declare " +
                                         std::to_string(code));
            }
            code = static_cast<uint64_t>(found - param.values.begin());
        }
        if (used + param.bits > 64) throw std::runtime_error("the tiling key exceeds 64 bits");
        key |= code << used;
        used += param.bits;
    }
    return key;
}

namespace {

std::map<std::string, std::string> ReadSocDescription() {
    const char* path = std::getenv("NPUFORGE_SOC");
    if (path == nullptr) throw std::runtime_error("NPUFORGE_SOC names no SoC description");
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read the SoC description " + std::string(path));
    std::map<std::string, std::string> values;
    std::string line;
    while (std::getline(file, line)) {
        const size_t split = line.find(' ');
        if (split == std::string::npos || line[0] == '#') continue;
        values[line.substr(0, split)] = line.substr(line.find_first_not_of(' ', split));
    }
    return values;
}

}  // namespace

const std::string& SocText(const std::string& key) {
    static const auto values = ReadSocDescription();
    const auto found = values.find(key);
    if (found == values.end()) {
        throw std::runtime_error("the SoC description lacks the key '" + key + "'");
    }
    return found->second;
}
uint64_t SocNumber(const std::string& key) { return std::stoull(SocText(key)); }

}  // namespace npuforge::host

namespace gert {

void OpImplRegisterV2::SetValueDepend(const int32_t* inputs, size_t count) {
    functions_->value_depend.assign(inputs, inputs + count);
}

}  // namespace gert

namespace ge {

std::string TypeUtils::DataTypeToSerialString(DataType type) {
    switch (type) {
#define NPUFORGE_NAME(name, number, size) \
    case DT_##name: return "DT_" #name;
        NPUFORGE_DATA_TYPES(NPUFORGE_NAME)
#undef NPUFORGE_NAME
        default: return "UNDEFINED";
    }
}
DataType TypeUtils::SerialStringToDataType(const std::string& text) {
#define NPUFORGE_NAME(name, number, size) \
    if (text == "DT_" #name) return DT_##name;
    NPUFORGE_DATA_TYPES(NPUFORGE_NAME)
#undef NPUFORGE_NAME
    return DT_UNDEFINED;
}
std::string TypeUtils::FormatToSerialString(Format format) {
    switch (static_cast<Format>(GetPrimaryFormat(format))) {
#define NPUFORGE_NAME(name, number) \
    case FORMAT_##name: return #name;
        NPUFORGE_FORMATS(NPUFORGE_NAME)
#undef NPUFORGE_NAME
        default: return "RESERVED";
    }
}
Format TypeUtils::SerialStringToFormat(const std::string& text) {
#define NPUFORGE_NAME(name, number) \
    if (text == #name) return FORMAT_##name;
    NPUFORGE_FORMATS(NPUFORGE_NAME)
#undef NPUFORGE_NAME
    return FORMAT_RESERVED;
}
bool TypeUtils::GetDataTypeLength(DataType type, uint32_t& length) {
    const int size = GetSizeByDataType(type);
    if (size <= 0 || size >= kDataTypeSizeBitOffset) return false;
    length = static_cast<uint32_t>(size);
    return true;
}
AscendString TypeUtils::DataTypeToAscendString(const DataType& type) {
    return DataTypeToSerialString(type).c_str();
}
DataType TypeUtils::AscendStringToDataType(const AscendString& text) {
    return SerialStringToDataType(text.GetString());
}
AscendString TypeUtils::FormatToAscendString(const Format& format) {
    return FormatToSerialString(format).c_str();
}
Format TypeUtils::AscendStringToFormat(const AscendString& text) {
    return SerialStringToFormat(text.GetString());
}
const char* GetFormatName(Format format) {
    static thread_local std::string name;
    name = TypeUtils::FormatToSerialString(format);
    return name.c_str();
}

TensorDesc Operator::GetInputDescByName(const char*) const { return {}; }
TensorDesc Operator::GetOutputDescByName(const char*) const { return {}; }
TensorDesc Operator::GetInputDesc(uint32_t) const { return {}; }
TensorDesc Operator::GetOutputDesc(uint32_t) const { return {}; }
size_t Operator::GetInputsSize() const { return 0; }

}  // namespace ge

namespace ops {

OpParamDef::OpParamDef(const char* param_name) : name(param_name) {}
OpParamDef::OpParamDef(const OpParamDef& other) = default;
OpParamDef& OpParamDef::operator=(const OpParamDef& other) = default;
OpParamDef::~OpParamDef() = default;
OpParamDef& OpParamDef::ParamType(Option value) {
    param_type = value;
    return *this;
}
OpParamDef& OpParamDef::DataType(std::vector<ge::DataType> value) {
    types = std::move(value);
    return *this;
}
OpParamDef& OpParamDef::DataTypeList(std::vector<ge::DataType> value) {
    type_is_list = true;
    return DataType(std::move(value));
}
OpParamDef& OpParamDef::Format(std::vector<ge::Format> value) {
    formats = std::move(value);
    return *this;
}
OpParamDef& OpParamDef::FormatList(std::vector<ge::Format> value) {
    format_is_list = true;
    return Format(std::move(value));
}
OpParamDef& OpParamDef::ValueDepend(Option value) {
    value_depend = value;
    return *this;
}
OpParamDef& OpParamDef::Scalar() {
    is_scalar = true;
    return *this;
}
OpParamDef& OpParamDef::InitValue(uint64_t value) {
    return InitValue(ScalarVar(ScalarType::UINT64, value));
}
OpParamDef& OpParamDef::InitValue(const ScalarVar& value) {
    has_init_value = true;
    init_value = value.value;
    return *this;
}
OpParamDef& OpParamDef::InitValue(const std::vector<ScalarVar>& values) {
    return InitValue(values.empty() ? ScalarVar() : values.front());
}
OpParamDef& OpParamDef::OutputShapeDependOnCompute() {
    shape_depends_on_compute = true;
    return *this;
}
OpParamDef& OpParamDef::Follow(const char* param) {
    follow = param;
    return *this;
}

OpAttrDef::OpAttrDef(const char* attr_name) : name(attr_name) {}
OpAttrDef::~OpAttrDef() = default;
OpAttrDef& OpAttrDef::AttrType(Option value) {
    required = value == REQUIRED;
    return *this;
}
OpAttrDef& OpAttrDef::Set(const char* label, npuforge::host::AttrValue value) {
    kind = label;
    default_value = std::move(value);
    return *this;
}
OpAttrDef& OpAttrDef::Bool() { return Set("bool"); }
OpAttrDef& OpAttrDef::Bool(bool value) { return Set("bool", value); }
OpAttrDef& OpAttrDef::Float() { return Set("float"); }
OpAttrDef& OpAttrDef::Float(float value) { return Set("float", value); }
OpAttrDef& OpAttrDef::Int() { return Set("int"); }
OpAttrDef& OpAttrDef::Int(int64_t value) { return Set("int", value); }
OpAttrDef& OpAttrDef::String() { return Set("str"); }
OpAttrDef& OpAttrDef::String(const char* value) { return Set("str", std::string(value)); }
OpAttrDef& OpAttrDef::ListBool() { return Set("list_bool"); }
OpAttrDef& OpAttrDef::ListBool(std::vector<bool> value) {
    return Set("list_bool", std::vector<char>(value.begin(), value.end()));
}
OpAttrDef& OpAttrDef::ListFloat() { return Set("list_float"); }
OpAttrDef& OpAttrDef::ListFloat(std::vector<float> value) { return Set("list_float", std::move(value)); }
OpAttrDef& OpAttrDef::ListInt() { return Set("list_int"); }
OpAttrDef& OpAttrDef::ListInt(std::vector<int64_t> value) { return Set("list_int", std::move(value)); }
OpAttrDef& OpAttrDef::ListListInt() { return Set("list_list_int"); }
OpAttrDef& OpAttrDef::ListListInt(std::vector<std::vector<int64_t>> value) {
    return Set("list_list_int", std::move(value));
}

namespace {

template <typename Def>
Def& FindOrAdd(std::list<Def>& items, const char* name) {
    for (Def& item : items) {
        if (item.name == name) return item;
    }
    return items.emplace_back(name);
}

}  // namespace

OpAICoreConfig::OpAICoreConfig() = default;
OpAICoreConfig::OpAICoreConfig(const char*) {}
OpAICoreConfig::OpAICoreConfig(const OpAICoreConfig& other) = default;
OpAICoreConfig& OpAICoreConfig::operator=(const OpAICoreConfig& other) = default;
OpAICoreConfig::~OpAICoreConfig() = default;
OpParamDef& OpAICoreConfig::Input(const char* name) { return FindOrAdd(inputs, name); }
OpParamDef& OpAICoreConfig::Output(const char* name) { return FindOrAdd(outputs, name); }
OpAICoreConfig& OpAICoreConfig::ExtendCfgInfo(const char* key, const char* value) {
    settings[key] = value;
    return *this;
}
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc) {
    configs[soc];
    return *this;
}
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc, OpAICoreConfig& config) {
    configs[soc] = config;
    return *this;
}
OpDef::OpDef(const char* op_type) : type(op_type) {}
OpDef::~OpDef() = default;
OpParamDef& OpDef::Input(const char* name) { return FindOrAdd(inputs, name); }
OpParamDef& OpDef::Output(const char* name) { return FindOrAdd(outputs, name); }
OpAttrDef& OpDef::Attr(const char* name) { return FindOrAdd(attrs, name); }

}  // namespace ops
