// SPDX-License-Identifier: Apache-2.0
// The log and check macros operator projects expect from their common headers.
#pragma once

#include "npuforge_host/log.h"

#define NPUFORGE_LOG(level, ...) npuforge::host::Log(npuforge::host::LogLevel::level, __VA_ARGS__)
#define NPUFORGE_IF(condition, action, result) \
    do {                                       \
        if (condition) {                       \
            action;                            \
            result;                            \
        }                                      \
    } while (0)
#define NPUFORGE_NOT_NULL(where, pointer, result)                \
    do {                                                         \
        if ((pointer) == nullptr) {                              \
            NPUFORGE_LOG(kError, where, "%s is null", #pointer); \
            return result;                                       \
        }                                                        \
    } while (0)

// Projects often define these themselves, before or after including a common header.
#ifndef OP_LOGD
#define OP_LOGD(...) NPUFORGE_LOG(kDebug, __VA_ARGS__)
#endif
#ifndef OP_LOGI
#define OP_LOGI(...) NPUFORGE_LOG(kInfo, __VA_ARGS__)
#endif
#ifndef OP_LOGW
#define OP_LOGW(...) NPUFORGE_LOG(kWarning, __VA_ARGS__)
#endif
#ifndef OP_LOGE
#define OP_LOGE(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#endif
#ifndef OP_LOGE_IF
#define OP_LOGE_IF(condition, result, ...) \
    NPUFORGE_IF(condition, NPUFORGE_LOG(kError, __VA_ARGS__), return result)
#endif
#ifndef OP_LOGE_WITHOUT_REPORT
#define OP_LOGE_WITHOUT_REPORT(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#endif
#ifndef OPS_CHECK
#define OPS_CHECK(condition, action, result) NPUFORGE_IF(condition, action, result)
#endif
#ifndef OP_CHECK_IF
#define OP_CHECK_IF(condition, action, result) NPUFORGE_IF(condition, action, result)
#endif
#ifndef OP_TILING_CHECK
#define OP_TILING_CHECK(condition, action, result) NPUFORGE_IF(condition, action, result)
#endif
#ifndef OP_CHECK
#define OP_CHECK(condition, action, result) NPUFORGE_IF(condition, action, result)
#endif
#ifndef OP_CHECK_NULL_WITH_CONTEXT
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer) \
    NPUFORGE_NOT_NULL(context, pointer, ge::GRAPH_FAILED)
#endif
#ifndef OPS_CHECK_NULL_WITH_CONTEXT
#define OPS_CHECK_NULL_WITH_CONTEXT(context, pointer) \
    NPUFORGE_NOT_NULL(context, pointer, ge::GRAPH_FAILED)
#endif
#ifndef OPS_CHECK_NULL_WITH_CONTEXT_RET
#define OPS_CHECK_NULL_WITH_CONTEXT_RET(context, pointer, result) \
    NPUFORGE_NOT_NULL(context, pointer, result)
#endif
#ifndef VECTOR_INNER_ERR_REPORT_TILIING
#define VECTOR_INNER_ERR_REPORT_TILIING(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#endif
#ifndef VECTOR_INFER_SHAPE_INNER_ERR_REPORT
#define VECTOR_INFER_SHAPE_INNER_ERR_REPORT(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#endif

#ifndef OPS_LOG_D
#define OPS_LOG_D(...) NPUFORGE_LOG(kDebug, __VA_ARGS__)
#define OPS_LOG_I(...) NPUFORGE_LOG(kInfo, __VA_ARGS__)
#define OPS_LOG_W(...) NPUFORGE_LOG(kWarning, __VA_ARGS__)
#define OPS_LOG_E(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#define OPS_LOG_D_FULL(...) NPUFORGE_LOG(kDebug, __VA_ARGS__)
#define OPS_LOG_I_FULL(...) NPUFORGE_LOG(kInfo, __VA_ARGS__)
#define OPS_LOG_W_FULL(...) NPUFORGE_LOG(kWarning, __VA_ARGS__)
#define OPS_LOG_E_IF(condition, where, result, ...) \
    NPUFORGE_IF(condition, NPUFORGE_LOG(kError, where, __VA_ARGS__), result)
#define OPS_LOG_W_IF(condition, where, result, ...) \
    NPUFORGE_IF(condition, NPUFORGE_LOG(kWarning, where, __VA_ARGS__), result)
#define OPS_LOG_E_IF_NULL(where, pointer, result) \
    NPUFORGE_IF((pointer) == nullptr, NPUFORGE_LOG(kError, where, "%s is null", #pointer), result)
#endif
#ifndef OPS_REPORT_VECTOR_INNER_ERR
#define OPS_REPORT_VECTOR_INNER_ERR(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#define OPS_REPORT_CUBE_INNER_ERR(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#define OPS_ERR_IF(condition, action, result) NPUFORGE_IF(condition, action, result)
#endif
#ifndef REPORT_INNER_ERROR
#define REPORT_INNER_ERROR(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#define REPORT_CALL_ERROR(...) NPUFORGE_LOG(kError, __VA_ARGS__)
#endif
