// SPDX-License-Identifier: Apache-2.0
// Graphs captured from streams: what streams are given between begin and end runs when the graph does.
#pragma once
#include "acl_base.h"

using aclmdlRI = void*;
enum aclmdlRICaptureMode {
    ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
    ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
    ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
};
enum aclmdlRICaptureStatus {
    ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
    ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED,
};

extern "C" {
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* model);
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* model);
aclError aclmdlRIExecuteAsync(aclmdlRI model, aclrtStream stream);
aclError aclmdlRIDestroy(aclmdlRI model);
aclError aclmdlRIDebugPrint(aclmdlRI model);
// A list of the captured tasks' names.
aclError aclmdlRIDebugJsonPrint(aclmdlRI model, const char* path, uint32_t flags);
}
