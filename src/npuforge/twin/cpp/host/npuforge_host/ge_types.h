// SPDX-License-Identifier: Apache-2.0
// Element types, formats and status codes of the graph engine, with their public numbering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// X(name, number, size): size > 0 in bytes, < 0 in bits, 0 unknown.
#define NPUFORGE_DATA_TYPES(X)                                                                   \
    X(FLOAT, 0, 4) X(FLOAT16, 1, 2) X(INT8, 2, 1) X(INT32, 3, 4) X(UINT8, 4, 1) X(INT16, 6, 2)   \
    X(UINT16, 7, 2) X(UINT32, 8, 4) X(INT64, 9, 8) X(UINT64, 10, 8) X(DOUBLE, 11, 8)             \
    X(BOOL, 12, 1) X(STRING, 13, 0) X(DUAL_SUB_INT8, 14, 1) X(DUAL_SUB_UINT8, 15, 1)             \
    X(COMPLEX64, 16, 8) X(COMPLEX128, 17, 16) X(QINT8, 18, 1) X(QINT16, 19, 2) X(QINT32, 20, 4)  \
    X(QUINT8, 21, 1) X(QUINT16, 22, 2) X(RESOURCE, 23, 8) X(STRING_REF, 24, 0) X(DUAL, 25, 5)    \
    X(VARIANT, 26, 8) X(BF16, 27, 2) X(UNDEFINED, 28, 0) X(INT4, 29, -4) X(UINT1, 30, -1)        \
    X(INT2, 31, -2) X(UINT2, 32, -2) X(COMPLEX32, 33, 4) X(HIFLOAT8, 34, 1)                      \
    X(FLOAT8_E5M2, 35, 1) X(FLOAT8_E4M3FN, 36, 1) X(FLOAT8_E8M0, 37, 1) X(FLOAT6_E3M2, 38, -6)   \
    X(FLOAT6_E2M3, 39, -6) X(FLOAT4_E2M1, 40, -4) X(FLOAT4_E1M2, 41, -4) X(HIFLOAT4, 42, -4)

#define NPUFORGE_FORMATS(X)                                                                      \
    X(NCHW, 0) X(NHWC, 1) X(ND, 2) X(NC1HWC0, 3) X(FRACTAL_Z, 4) X(NC1C0HWPAD, 5) X(NHWC1C0, 6)  \
    X(FSR_NCHW, 7) X(FRACTAL_DECONV, 8) X(C1HWNC0, 9) X(FRACTAL_DECONV_TRANSPOSE, 10)            \
    X(FRACTAL_DECONV_SP_STRIDE_TRANS, 11) X(NC1HWC0_C04, 12) X(FRACTAL_Z_C04, 13) X(CHWN, 14)    \
    X(FRACTAL_DECONV_SP_STRIDE8_TRANS, 15) X(HWCN, 16) X(NC1KHKWHWC0, 17) X(BN_WEIGHT, 18)       \
    X(FILTER_HWCK, 19) X(HASHTABLE_LOOKUP_LOOKUPS, 20) X(HASHTABLE_LOOKUP_KEYS, 21)              \
    X(HASHTABLE_LOOKUP_VALUE, 22) X(HASHTABLE_LOOKUP_OUTPUT, 23) X(HASHTABLE_LOOKUP_HITS, 24)    \
    X(C1HWNCoC0, 25) X(MD, 26) X(NDHWC, 27) X(FRACTAL_ZZ, 28) X(FRACTAL_NZ, 29) X(NCDHW, 30)     \
    X(DHWCN, 31) X(NDC1HWC0, 32) X(FRACTAL_Z_3D, 33) X(CN, 34) X(NC, 35) X(DHWNC, 36)            \
    X(FRACTAL_Z_3D_TRANSPOSE, 37) X(FRACTAL_ZN_LSTM, 38) X(FRACTAL_Z_G, 39) X(RESERVED, 40)      \
    X(ALL, 41) X(NULL, 42) X(ND_RNN_BIAS, 43) X(FRACTAL_ZN_RNN, 44) X(NYUV, 45) X(NYUV_A, 46)    \
    X(NCL, 47) X(FRACTAL_Z_WINO, 48) X(C1HWC0, 49) X(FRACTAL_NZ_C0_16, 50)                       \
    X(FRACTAL_NZ_C0_32, 51) X(FRACTAL_NZ_C0_2, 52) X(FRACTAL_NZ_C0_4, 53) X(FRACTAL_NZ_C0_8, 54)

#define NPUFORGE_ENUM_C_TYPE(name, number, size) C_DT_##name = number,
#define NPUFORGE_ENUM_C_FORMAT(name, number) C_FORMAT_##name = number,
enum C_DataType { NPUFORGE_DATA_TYPES(NPUFORGE_ENUM_C_TYPE) C_DT_MAX = 43 };
enum C_Format { NPUFORGE_FORMATS(NPUFORGE_ENUM_C_FORMAT) C_FORMAT_END = 55, C_FORMAT_MAX = 0xff };
#undef NPUFORGE_ENUM_C_TYPE
#undef NPUFORGE_ENUM_C_FORMAT

namespace ge {

using char_t = char;
using float32_t = float;
using float64_t = double;

#define NPUFORGE_ENUM_TYPE(name, number, size) DT_##name = number,
#define NPUFORGE_ENUM_FORMAT(name, number) FORMAT_##name = number,
enum DataType { NPUFORGE_DATA_TYPES(NPUFORGE_ENUM_TYPE) DT_MAX = 43 };
enum Format { NPUFORGE_FORMATS(NPUFORGE_ENUM_FORMAT) FORMAT_END = 55, FORMAT_MAX = 0xff };
#undef NPUFORGE_ENUM_TYPE
#undef NPUFORGE_ENUM_FORMAT

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_NOT_CHANGED = 1343242304;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
constexpr graphStatus GRAPH_MEM_ALLOC_FAILED = 50331648;
constexpr graphStatus GRAPH_ADD_OVERFLOW = 50331650;
constexpr graphStatus GRAPH_MUL_OVERFLOW = 50331651;
using Status = uint32_t;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFF;

constexpr int64_t UNKNOWN_DIM = -1;
constexpr int64_t UNKNOWN_DIM_NUM = -2;
inline const std::vector<int64_t> UNKNOWN_SHAPE = {-1};
inline const std::vector<int64_t> UNKNOWN_RANK = {-2};
// Sizes of sub-byte types are returned as this offset plus the number of bits.
constexpr int32_t kDataTypeSizeBitOffset = 1000;

int GetSizeByDataType(DataType type);
int64_t GetSizeInBytes(int64_t elements, DataType type);

inline int32_t GetPrimaryFormat(int32_t format) { return format & 0xff; }
inline int32_t GetSubFormat(int32_t format) { return (format & 0xffff00) >> 8; }
inline bool HasSubFormat(int32_t format) { return GetSubFormat(format) > 0; }
inline int32_t GetFormatFromSub(int32_t primary, int32_t sub) {
    return (primary & 0xff) | ((sub & 0xffff) << 8);
}

class AscendString {
public:
    AscendString() = default;
    AscendString(const char* text) : text_(text == nullptr ? "" : text) {}
    AscendString(const char* text, size_t length) : text_(text, length) {}
    const char* GetString() const { return text_.c_str(); }
    size_t GetLength() const { return text_.size(); }
    size_t Find(const AscendString& other) const { return text_.find(other.text_); }
    size_t Hash() const { return std::hash<std::string>()(text_); }
    friend bool operator==(const AscendString& a, const AscendString& b) = default;
    friend auto operator<=>(const AscendString& a, const AscendString& b) = default;

private:
    std::string text_;
};

class TypeUtils {
public:
    static std::string DataTypeToSerialString(DataType type);
    static DataType SerialStringToDataType(const std::string& text);
    static std::string FormatToSerialString(Format format);
    static Format SerialStringToFormat(const std::string& text);
    static Format DataFormatToFormat(const std::string& text) { return SerialStringToFormat(text); }
    static bool GetDataTypeLength(DataType type, uint32_t& length);
    static AscendString DataTypeToAscendString(const DataType& type);
    static DataType AscendStringToDataType(const AscendString& text);
    static AscendString FormatToAscendString(const Format& format);
    static Format AscendStringToFormat(const AscendString& text);
};

const char* GetFormatName(Format format);

}  // namespace ge
