// SPDX-License-Identifier: Apache-2.0
// `describe`: everything a host library registered, as JSON.
#pragma once

#include <cctype>
#include <set>

#include "npuforge_host/op_def.h"
#include "npuforge_host/tiling_class.h"
#include "runner/json.h"

namespace npuforge::host {

// The SoC family whose overrides of inputs and outputs apply.
constexpr const char* kSocFamily = "ascend910b";

// The operator's kernel file and function: an underscore before each capital that starts a word.
inline std::string KernelName(const std::string& type) {
    const auto upper = [&](size_t i) { return i < type.size() && std::isupper(type[i]) != 0; };
    std::string name;
    for (size_t i = 0; i < type.size(); ++i) {
        const bool next_lower = i + 1 < type.size() && std::islower(type[i + 1]) != 0;
        if (i > 0 && upper(i) && type[i - 1] != '_' && (!upper(i - 1) || next_lower)) name += '_';
        name += static_cast<char>(std::tolower(type[i]));
    }
    return name;
}

// Declared parameters with the SoC family's overrides applied.
inline std::vector<ops::OpParamDef> Merged(const std::list<ops::OpParamDef>& declared,
                                           const std::list<ops::OpParamDef>* overrides) {
    std::vector<ops::OpParamDef> merged(declared.begin(), declared.end());
    if (overrides == nullptr) return merged;
    for (const auto& param : *overrides) {
        bool known = false;
        for (auto& existing : merged) {
            if (existing.name != param.name) continue;
            existing = param;
            known = true;
        }
        if (!known) merged.push_back(param);
    }
    return merged;
}

struct Prototype {
    std::string type;
    std::shared_ptr<ops::OpDef> definition;
    std::vector<ops::OpParamDef> inputs;
    std::vector<ops::OpParamDef> outputs;
    OpFunctions functions;
};

inline Prototype PrototypeOf(const Registry& registry, const std::string& type) {
    Prototype prototype;
    prototype.type = type;
    if (const auto found = registry.functions.find(type); found != registry.functions.end()) {
        prototype.functions = found->second;
    }
    for (const auto& definition : registry.definitions) {
        if (definition.type == type) prototype.definition.reset(definition.create(type.c_str()));
    }
    if (prototype.definition == nullptr) return prototype;
    ops::OpDef& definition = *prototype.definition;
    const auto config = definition.aicore.configs.find(kSocFamily);
    const bool configured = config != definition.aicore.configs.end();
    prototype.inputs = Merged(definition.inputs, configured ? &config->second.inputs : nullptr);
    prototype.outputs = Merged(definition.outputs, configured ? &config->second.outputs : nullptr);
    OpFunctions& functions = prototype.functions;
    if (functions.tiling == nullptr) functions.tiling = definition.aicore.tiling;
    if (functions.infer_shape == nullptr) functions.infer_shape = definition.infer_shape;
    if (functions.infer_data_type == nullptr) functions.infer_data_type = definition.infer_data_type;
    return prototype;
}

inline std::vector<std::string> OperatorTypes(const Registry& registry) {
    std::vector<std::string> types;
    std::set<std::string> seen;
    for (const auto& definition : registry.definitions) {
        if (seen.insert(definition.type).second) types.push_back(definition.type);
    }
    for (const auto& [type, functions] : registry.functions) {
        if (seen.insert(type).second) types.push_back(type);
    }
    return types;
}

inline void WriteAttr(Json& json, const AttrValue& value) {
    std::visit(
        [&json](const auto& item) {
            using Item = std::decay_t<decltype(item)>;
            if constexpr (std::is_same_v<Item, std::monostate>) {
                json.Null();
            } else if constexpr (std::is_same_v<Item, std::vector<char>>) {
                json.List(std::vector<bool>(item.begin(), item.end()));
            } else if constexpr (std::is_same_v<Item, std::vector<float>> ||
                                 std::is_same_v<Item, std::vector<int64_t>>) {
                json.List(item);
            } else if constexpr (std::is_same_v<Item, std::vector<std::vector<int64_t>>>) {
                json.Open('[');
                for (const auto& row : item) json.List(row);
                json.Close(']');
            } else {
                json.Value(item);
            }
        },
        value);
}

inline void WriteParam(Json& json, const ops::OpParamDef& param) {
    static constexpr const char* kParamTypes[] = {"ignore", "optional", "required", "dynamic",
                                                  "virtual"};
    std::vector<std::string> types;
    for (const auto type : param.types) types.push_back(ge::TypeUtils::DataTypeToSerialString(type));
    std::vector<std::string> formats;
    for (const auto format : param.formats) {
        formats.push_back(ge::TypeUtils::FormatToSerialString(format));
    }
    json.Open('{');
    json.Key("name").Value(param.name);
    json.Key("param_type").Value(kParamTypes[param.param_type]);
    json.Key("dtypes").List(types);
    json.Key("dtype_list").Value(param.type_is_list);
    json.Key("formats").List(formats);
    json.Key("format_list").Value(param.format_is_list);
    json.Key("value_depend").Value(param.value_depend != ops::IGNORE);
    json.Key("scalar").Value(param.is_scalar);
    json.Key("follow").Value(param.follow);
    json.Key("shape_depends_on_compute").Value(param.shape_depends_on_compute);
    json.Key("init_value");
    if (param.has_init_value) {
        json.Value(param.init_value);
    } else {
        json.Null();
    }
    json.Close('}');
}

inline void WriteOperator(Json& json, const Prototype& op) {
    const auto params = [&json](const char* key, const std::vector<ops::OpParamDef>& items) {
        json.Key(key).Open('[');
        for (const auto& item : items) WriteParam(json, item);
        json.Close(']');
    };
    json.Open('{');
    json.Key("type").Value(op.type);
    json.Key("kernel").Value(KernelName(op.type));
    json.Key("defined").Value(op.definition != nullptr);
    params("inputs", op.inputs);
    params("outputs", op.outputs);
    json.Key("attrs").Open('[');
    if (op.definition != nullptr) {
        for (const auto& attr : op.definition->attrs) {
            json.Open('{').Key("name").Value(attr.name).Key("type").Value(attr.kind);
            json.Key("required").Value(attr.required).Key("default");
            WriteAttr(json, attr.default_value);
            json.Close('}');
        }
    }
    json.Close(']');
    json.Key("socs").Open('{');
    if (op.definition != nullptr) {
        for (const auto& [soc, config] : op.definition->aicore.configs) {
            json.Key(soc).Open('{');
            for (const auto& [key, value] : config.settings) json.Key(key).Value(value);
            json.Close('}');
        }
    }
    json.Close('}');
    json.Key("tiling").Value(op.functions.tiling != nullptr);
    json.Key("infer_shape").Value(op.functions.infer_shape != nullptr);
    json.Key("infer_data_type").Value(op.functions.infer_data_type != nullptr);
    json.Key("value_depend").List(op.functions.value_depend);
    json.Close('}');
}

inline void WriteFields(Json& json, const std::vector<optiling::FieldInfo>& fields) {
    json.Open('[');
    for (const auto& field : fields) {
        json.Open('{').Key("type").Value(field.type).Key("name").Value(field.name);
        json.Key("offset").Value(field.offset).Key("size").Value(field.size);
        json.Key("array_length").Value(field.array_length);
        json.Key("is_struct").Value(field.is_struct).Key("is_padding").Value(field.is_padding);
        json.Key("members");
        WriteFields(json, field.members);
        json.Close('}');
    }
    json.Close(']');
}

// Members of the result object; the caller adds the braces.
inline void Describe(Json& json, const Registry& registry) {
    json.Key("operators").Open('[');
    for (const auto& type : OperatorTypes(registry)) {
        WriteOperator(json, PrototypeOf(registry, type));
    }
    json.Close(']');
    json.Key("tiling_classes").Open('[');
    std::set<std::string> seen;
    for (const auto& entry : registry.tiling_classes) {
        if (!seen.insert(entry.registered_as).second) continue;
        const std::unique_ptr<optiling::TilingDef> instance(entry.create());
        json.Open('{').Key("registered_as").Value(entry.registered_as);
        json.Key("struct").Value(instance->GetTilingClassName());
        json.Key("size").Value(instance->GetDataSize()).Key("library").Value(entry.library);
        json.Key("fields");
        WriteFields(json, instance->GetFieldInfo());
        json.Close('}');
    }
    json.Close(']');
    json.Key("templates").Open('{');
    for (const auto& [op_type, params] : registry.templates) {
        json.Key(op_type).Open('[');
        for (const auto& param : params) {
            json.Open('{').Key("name").Value(param.name).Key("kind").Value(param.kind);
            json.Key("bits").Value(param.bits).Key("values").List(param.values).Close('}');
        }
        json.Close(']');
    }
    json.Close('}');
}

}  // namespace npuforge::host
