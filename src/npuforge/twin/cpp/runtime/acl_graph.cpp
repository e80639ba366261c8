// SPDX-License-Identifier: Apache-2.0
// The calls of acl/acl_mdl.h. Streams run what they are given at once, in the order of the calls, so
// a captured graph is the list of these calls.
#include <cstdio>
#include <string>
#include <vector>

#include "../include/acl/acl.h"
#include "direct.h"

namespace direct = npuforge::direct;

namespace {

struct Task {
    std::string name;
    std::function<void()> run;
};
using Graph = std::vector<Task>;

Graph* g_capture = nullptr;

std::string listing(const Graph& graph) {
    std::string text = "[";
    for (const Task& task : graph) text += (text.size() > 1 ? ", \"" : "\"") + task.name + "\"";
    return text + "]\n";
}

}  // namespace

namespace npuforge::direct {

bool capture(const char* name, const std::function<void()>& task) {
    if (g_capture == nullptr) return false;
    g_capture->push_back({name, task});
    return true;
}

}  // namespace npuforge::direct

extern "C" {

aclError aclmdlRICaptureBegin(aclrtStream, aclmdlRICaptureMode) {
    if (g_capture != nullptr) return ACL_ERROR_RT_PARAM_INVALID;
    g_capture = new Graph;
    return ACL_SUCCESS;
}
aclError aclmdlRICaptureGetInfo(aclrtStream, aclmdlRICaptureStatus* status, aclmdlRI* model) {
    *status = g_capture != nullptr ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE : ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    *model = g_capture;
    return ACL_SUCCESS;
}
aclError aclmdlRICaptureEnd(aclrtStream, aclmdlRI* model) {
    if (g_capture == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
    *model = g_capture;
    g_capture = nullptr;
    return ACL_SUCCESS;
}
aclError aclmdlRIExecuteAsync(aclmdlRI model, aclrtStream) {
    if (model == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
    for (const Task& task : *static_cast<const Graph*>(model)) task.run();
    return ACL_SUCCESS;
}
aclError aclmdlRIDestroy(aclmdlRI model) {
    delete static_cast<Graph*>(model);
    return ACL_SUCCESS;
}
aclError aclmdlRIDebugPrint(aclmdlRI model) {
    if (model == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
    std::fputs(listing(*static_cast<const Graph*>(model)).c_str(), stdout);
    return ACL_SUCCESS;
}
aclError aclmdlRIDebugJsonPrint(aclmdlRI model, const char* path, uint32_t) {
    std::FILE* file = model != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
    std::fputs(listing(*static_cast<const Graph*>(model)).c_str(), file);
    std::fclose(file);
    return ACL_SUCCESS;
}

}  // extern "C"
