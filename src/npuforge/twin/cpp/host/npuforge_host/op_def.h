// SPDX-License-Identifier: Apache-2.0
// Operator prototypes (ops::OpDef): declarations of inputs, outputs, attributes and SoC settings.
// What a source merely calls is defined in the runner, which keeps its compilation short.
#pragma once

#include <list>

#include "npuforge_host/op_impl.h"
#include "npuforge_host/operator.h"

namespace optiling {
using OP_CHECK_FUNC = ge::graphStatus (*)(const ge::Operator&, ge::AscendString&);
using PARAM_GENERALIZE_FUNC = ge::graphStatus (*)(const ge::Operator&, const ge::AscendString&,
                                                  ge::AscendString&);
}  // namespace optiling

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class HcclServerType : uint32_t { AICPU = 0, AICORE = 1, CCU = 2, MAX };
enum class CommentSection : uint32_t {
    CATEGORY,
    BRIEF,
    CONSTRAINTS,
    RESTRICTIONS,
    SEE,
    THIRDPARTYFWKCOMPAT,
    SECTION_MAX
};
enum class ScalarType : uint32_t {
    UINT64,
    INT64,
    UINT32,
    INT32,
    UINT16,
    INT16,
    UINT8,
    INT8,
    FLOAT32,
    FLOAT16,
    INVALID_DTYPE = 0xFFFFFFFF
};
struct ScalarVar {
    ScalarVar() = default;
    template <typename T>
    ScalarVar(ScalarType kind, T number) : scalar_type(kind), value(static_cast<double>(number)) {}
    ScalarType scalar_type = ScalarType::INVALID_DTYPE;
    double value = 0;
};

class OpParamDef {
public:
    explicit OpParamDef(const char* param_name);
    OpParamDef(const OpParamDef& other);
    OpParamDef& operator=(const OpParamDef& other);
    ~OpParamDef();
    OpParamDef& ParamType(Option value);
    OpParamDef& DataType(std::vector<ge::DataType> value);
    OpParamDef& DataTypeList(std::vector<ge::DataType> value);
    OpParamDef& Format(std::vector<ge::Format> value);
    OpParamDef& FormatList(std::vector<ge::Format> value);
    OpParamDef& DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
    OpParamDef& FormatForBinQuery(std::vector<ge::Format>) { return *this; }
    OpParamDef& UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
    OpParamDef& ValueDepend(Option value);
    OpParamDef& ValueDepend(Option value, DependScope) { return ValueDepend(value); }
    OpParamDef& IgnoreContiguous() { return *this; }
    OpParamDef& AutoContiguous() { return *this; }
    OpParamDef& Scalar();
    OpParamDef& ScalarList() { return Scalar(); }
    OpParamDef& To(ge::DataType) { return *this; }
    OpParamDef& To(const char*) { return *this; }
    OpParamDef& Version(uint32_t) { return *this; }
    OpParamDef& InitValue(uint64_t value);
    OpParamDef& InitValue(const ScalarVar& value);
    OpParamDef& InitValue(const std::vector<ScalarVar>& values);
    OpParamDef& OutputShapeDependOnCompute();
    OpParamDef& Follow(const char* param);
    OpParamDef& Follow(const char* param, FollowType) { return Follow(param); }
    OpParamDef& Comment(const char*) { return *this; }

    std::string name;
    Option param_type = REQUIRED;
    std::vector<ge::DataType> types;
    std::vector<ge::Format> formats;
    bool type_is_list = false;
    bool format_is_list = false;
    Option value_depend = IGNORE;
    bool is_scalar = false;
    // An InitValue of any kind means that the output is cleared before the kernel runs.
    bool has_init_value = false;
    double init_value = 0.0;
    bool shape_depends_on_compute = false;
    std::string follow;
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char* attr_name);
    ~OpAttrDef();
    OpAttrDef& AttrType(Option value);
    OpAttrDef& Bool();
    OpAttrDef& Bool(bool value);
    OpAttrDef& Float();
    OpAttrDef& Float(float value);
    OpAttrDef& Int();
    OpAttrDef& Int(int64_t value);
    OpAttrDef& String();
    OpAttrDef& String(const char* value);
    OpAttrDef& ListBool();
    OpAttrDef& ListBool(std::vector<bool> value);
    OpAttrDef& ListFloat();
    OpAttrDef& ListFloat(std::vector<float> value);
    OpAttrDef& ListInt();
    OpAttrDef& ListInt(std::vector<int64_t> value);
    OpAttrDef& ListListInt();
    OpAttrDef& ListListInt(std::vector<std::vector<int64_t>> value);
    OpAttrDef& Version(uint32_t) { return *this; }
    OpAttrDef& Comment(const char*) { return *this; }

    std::string name;
    bool required = true;
    std::string kind = "int";
    npuforge::host::AttrValue default_value;

private:
    OpAttrDef& Set(const char* label, npuforge::host::AttrValue value = {});
};

class OpAICoreConfig {
public:
    OpAICoreConfig();
    OpAICoreConfig(const char* soc);
    OpAICoreConfig(const OpAICoreConfig& other);
    OpAICoreConfig& operator=(const OpAICoreConfig& other);
    ~OpAICoreConfig();
    OpParamDef& Input(const char* name);
    OpParamDef& Output(const char* name);
    OpAICoreConfig& DynamicCompileStaticFlag(bool) { return *this; }
    OpAICoreConfig& DynamicFormatFlag(bool) { return *this; }
    OpAICoreConfig& DynamicRankSupportFlag(bool) { return *this; }
    OpAICoreConfig& DynamicShapeSupportFlag(bool) { return *this; }
    OpAICoreConfig& NeedCheckSupportFlag(bool) { return *this; }
    OpAICoreConfig& PrecisionReduceFlag(bool) { return *this; }
    OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value);

    // Declarations are kept in lists so the references handed out stay valid.
    std::list<OpParamDef> inputs;
    std::list<OpParamDef> outputs;
    std::map<std::string, std::string> settings;
};

class OpAICoreDef {
public:
    OpAICoreDef& SetTiling(gert::OpImplRegisterV2::TilingKernelFunc func) {
        tiling = func;
        return *this;
    }
    OpAICoreDef& SetCheckSupport(optiling::OP_CHECK_FUNC) { return *this; }
    OpAICoreDef& SetOpSelectFormat(optiling::OP_CHECK_FUNC) { return *this; }
    OpAICoreDef& SetOpSupportInfo(optiling::OP_CHECK_FUNC) { return *this; }
    OpAICoreDef& SetOpSpecInfo(optiling::OP_CHECK_FUNC) { return *this; }
    OpAICoreDef& SetParamGeneralize(optiling::PARAM_GENERALIZE_FUNC) { return *this; }
    OpAICoreDef& LaunchWithZeroEleOutputTensors(bool) { return *this; }
    OpAICoreDef& AddConfig(const char* soc);
    OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig& config);
    gert::OpImplRegisterV2::TilingKernelFunc& GetTiling() { return tiling; }

    gert::OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
    std::map<std::string, OpAICoreConfig> configs;
};

class OpMC2Def {
public:
    OpMC2Def& HcclGroup(const char*) { return *this; }
    OpMC2Def& HcclGroup(std::vector<const char*>) { return *this; }
    void HcclServerType(enum HcclServerType, const char* = nullptr) {}
};

class OpDef {
public:
    explicit OpDef(const char* type);
    OpDef(const OpDef&) = delete;
    OpDef& operator=(const OpDef&) = delete;
    virtual ~OpDef();
    OpParamDef& Input(const char* name);
    OpParamDef& Output(const char* name);
    OpAttrDef& Attr(const char* name);
    OpDef& SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc func) {
        infer_shape = func;
        return *this;
    }
    OpDef& SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc) { return *this; }
    OpDef& SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc func) {
        infer_data_type = func;
        return *this;
    }
    OpDef& Comment(CommentSection, const char*) { return *this; }
    OpDef& FormatMatchMode(FormatCheckOption) { return *this; }
    OpDef& EnableFallBack() { return *this; }
    OpAICoreDef& AICore() { return aicore; }
    OpMC2Def& MC2() { return mc2; }

    std::string type;
    std::list<OpParamDef> inputs;
    std::list<OpParamDef> outputs;
    std::list<OpAttrDef> attrs;
    OpAICoreDef aicore;
    OpMC2Def mc2;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_data_type = nullptr;
};

}  // namespace ops

namespace npuforge::host {

// Prototypes are built when asked for: their constructors may use anything the library defines.
template <typename Op>
int AddDefinition(const char* type) {
    return RegisterDefinition(type, [](const char* name) -> ops::OpDef* { return new Op(name); });
}

}  // namespace npuforge::host

// Further arguments name configurations the vendor's packager knows; they change no prototype.
#define OP_ADD(op_type, ...) \
    static int VAR_UNUSED g_##op_type##_added = npuforge::host::AddDefinition<op_type>(#op_type)
