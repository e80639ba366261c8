// SPDX-License-Identifier: Apache-2.0
// Types of the device runtime that programs with their own `main` use, and error texts.
#pragma once
#include <cstddef>
#include <cstdint>

using aclError = int;
using aclrtStream = void*;
using aclrtEvent = void*;
using aclrtContext = void*;
using aclFloat16 = uint16_t;

inline constexpr int ACL_SUCCESS = 0;
inline constexpr int ACL_ERROR_NONE = 0;
inline constexpr int ACL_ERROR_INVALID_PARAM = 100000;
inline constexpr int ACL_ERROR_BAD_ALLOC = 200000;
inline constexpr int ACL_ERROR_RT_PARAM_INVALID = 107000;
inline constexpr int ACL_ERROR_RT_AICORE_EXCEPTION = 507015;

enum aclDataType {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
};

enum aclFormat {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCL = 47,
};

enum aclLogLevel { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 };

extern "C" {
// The reason of the last failure; never null.
const char* aclGetRecentErrMsg();
float aclFloat16ToFloat(aclFloat16 value);
aclFloat16 aclFloatToFloat16(float value);
size_t aclDataTypeSize(aclDataType type);
}
