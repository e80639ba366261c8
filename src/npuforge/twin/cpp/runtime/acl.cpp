// SPDX-License-Identifier: Apache-2.0
// The calls of acl/acl_rt.h. Host and device share this process, so a copy is a memcpy; what a
// device would refuse (too small a target, an address that is not device memory) is refused here.
#include "../include/acl/acl.h"

#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../npu/types.h"
#include "check.h"
#include "core.h"
#include "direct.h"

using npuforge::GmBuffer;
namespace direct = npuforge::direct;

namespace {

constexpr uint64_t kDeviceMemory = 64ull << 30;

std::string g_message = "no error";
int g_last_error = 0;

__attribute__((format(printf, 2, 3))) aclError fail(aclError code, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    g_message = text;
    g_last_error = code;
    std::fprintf(stderr, "npuforge: %s\n", text);
    return code;
}

bool in_device(const void* pointer, size_t count) {
    const GmBuffer* buffer = direct::find(pointer);
    if (buffer == nullptr) return false;
    const auto* at = static_cast<const uint8_t*>(pointer);
    return count <= static_cast<size_t>(buffer->base + buffer->bytes - at);
}

// A data-free session has addresses only; nothing is copied.
bool touches_data(const void* pointer) {
    return (npuforge::g_mode & npuforge::kNoData) == 0 || direct::find(pointer) == nullptr;
}

void* handle() { return std::malloc(1); }

}  // namespace

extern "C" {

const char* aclGetRecentErrMsg() { return g_message.c_str(); }

size_t aclDataTypeSize(aclDataType type) {
    switch (type) {
        case ACL_INT8: case ACL_UINT8: case ACL_BOOL: return 1;
        case ACL_FLOAT16: case ACL_BF16: case ACL_INT16: case ACL_UINT16: return 2;
        case ACL_FLOAT: case ACL_INT32: case ACL_UINT32: return 4;
        case ACL_DOUBLE: case ACL_INT64: case ACL_UINT64: case ACL_COMPLEX64: return 8;
        case ACL_COMPLEX128: return 16;
        default: return 0;
    }
}

float aclFloat16ToFloat(aclFloat16 value) {
    return static_cast<float>(std::bit_cast<half>(value));
}
aclFloat16 aclFloatToFloat16(float value) {
    return std::bit_cast<aclFloat16>(half(value));
}

aclError aclInit(const char*) {
    direct::ensure_session();
    return ACL_SUCCESS;
}
aclError aclFinalize() { return ACL_SUCCESS; }

aclError aclrtSetDevice(int32_t device) {
    direct::ensure_session();
    return device == 0 ? ACL_SUCCESS : fail(ACL_ERROR_INVALID_PARAM, "there is one device, number 0, not %d", device);
}
aclError aclrtGetDevice(int32_t* device) {
    *device = 0;
    return ACL_SUCCESS;
}
aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
aclError aclrtGetDeviceCount(uint32_t* count) {
    *count = 1;
    return ACL_SUCCESS;
}
aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attribute, int64_t* value) {
    direct::ensure_session();
    switch (attribute) {
        case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = direct::chip_number("cores.aiv"); break;
        case ACL_DEV_ATTR_AICORE_CORE_NUM:
        case ACL_DEV_ATTR_CUBE_CORE_NUM: *value = direct::chip_number("cores.aic"); break;
        default: return fail(ACL_ERROR_INVALID_PARAM, "unknown device attribute %d", static_cast<int>(attribute));
    }
    return ACL_SUCCESS;
}
const char* aclrtGetSocName() {
    direct::ensure_session();
    static const std::string name = direct::chip_text("name");
    return name.c_str();
}
aclError aclrtGetRunMode(aclrtRunMode* mode) {
    *mode = ACL_HOST;
    return ACL_SUCCESS;
}
aclError aclrtGetLastError(aclrtLastErrLevel) {
    const int last = g_last_error;
    g_last_error = 0;
    return last;
}
aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return g_last_error; }
aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
    *free = *total = kDeviceMemory;
    return ACL_SUCCESS;
}

aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
    *context = handle();
    return aclrtSetDevice(device);
}
aclError aclrtDestroyContext(aclrtContext context) {
    std::free(context);
    return ACL_SUCCESS;
}
aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtGetCurrentContext(aclrtContext* context) {
    static char current;
    *context = &current;
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream* stream) {
    *stream = handle();
    return ACL_SUCCESS;
}
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) { return aclrtCreateStream(stream); }
aclError aclrtDestroyStream(aclrtStream stream) {
    std::free(stream);
    return ACL_SUCCESS;
}
aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }
aclError aclrtSynchronizeDevice() {
    const int failure = direct::take_failure();
    return failure == 0 ? ACL_SUCCESS : fail(failure, "a kernel did not end normally");
}
aclError aclrtSynchronizeStream(aclrtStream) { return aclrtSynchronizeDevice(); }
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t) { return aclrtSynchronizeDevice(); }

aclError aclrtCreateEvent(aclrtEvent* event) {
    *event = std::calloc(1, sizeof(double));
    return ACL_SUCCESS;
}
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) { return aclrtCreateEvent(event); }
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) { return aclrtCreateEvent(event); }
aclError aclrtDestroyEvent(aclrtEvent event) {
    std::free(event);
    return ACL_SUCCESS;
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream) {
    *static_cast<double*>(event) = npuforge::modelled_us();
    return ACL_SUCCESS;
}
aclError aclrtSynchronizeEvent(aclrtEvent) { return aclrtSynchronizeDevice(); }
aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent) { return ACL_SUCCESS; }
aclError aclrtQueryEventStatus(aclrtEvent, aclrtEventRecordedStatus* status) {
    *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return ACL_SUCCESS;
}
aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
    *milliseconds = static_cast<float>((*static_cast<double*>(end) - *static_cast<double*>(start)) / 1000.0);
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void** pointer, size_t size, aclrtMemMallocPolicy) {
    if (pointer == nullptr || size == 0)
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMalloc needs a place for the address and a size over 0");
    *pointer = direct::allocate(size, false);
    return *pointer != nullptr ? ACL_SUCCESS : fail(ACL_ERROR_BAD_ALLOC, "no device memory for %zu bytes", size);
}
aclError aclrtMallocAlign32(void** pointer, size_t size, aclrtMemMallocPolicy policy) {
    return aclrtMalloc(pointer, size, policy);
}
aclError aclrtMallocCached(void** pointer, size_t size, aclrtMemMallocPolicy policy) {
    return aclrtMalloc(pointer, size, policy);
}
aclError aclrtFree(void* pointer) {
    const GmBuffer* buffer = direct::find(pointer);
    if (buffer == nullptr || buffer->base != pointer)
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree of an address that aclrtMalloc did not return");
    direct::release(pointer);
    return ACL_SUCCESS;
}
aclError aclrtMallocHost(void** pointer, size_t size) {
    if (pointer == nullptr || size == 0)
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMallocHost needs a place for the address and a size over 0");
    *pointer = std::aligned_alloc(64, (size + 63) / 64 * 64);
    return *pointer != nullptr ? ACL_SUCCESS : fail(ACL_ERROR_BAD_ALLOC, "no host memory for %zu bytes", size);
}
aclError aclrtFreeHost(void* pointer) {
    std::free(pointer);
    return ACL_SUCCESS;
}

aclError aclrtMemcpy(void* to, size_t capacity, const void* from, size_t count, aclrtMemcpyKind kind) {
    if (count > capacity)
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy of %zu bytes into %zu", count, capacity);
    const bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    const bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    if (from_device && !in_device(from, count))
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy reads %zu bytes that are not device memory", count);
    if (to_device && !in_device(to, count))
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy writes %zu bytes that are not device memory", count);
    if (from_device && (npuforge::g_mode & npuforge::kCheck) != 0)
        npuforge::check_copied_out(static_cast<const uint8_t*>(from), count);
    if (count > 0 && touches_data(to) && touches_data(from)) std::memcpy(to, from, count);
    if (GmBuffer* target = direct::find(to)) target->initialised = true;
    return ACL_SUCCESS;
}
aclError aclrtMemcpyAsync(void* to, size_t capacity, const void* from, size_t count, aclrtMemcpyKind kind,
                          aclrtStream) {
    if (direct::capture("memcpy", [=] { aclrtMemcpy(to, capacity, from, count, kind); })) return ACL_SUCCESS;
    return aclrtMemcpy(to, capacity, from, count, kind);
}
aclError aclrtMemset(void* to, size_t capacity, int32_t value, size_t count) {
    if (count > capacity)
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemset of %zu bytes into %zu", count, capacity);
    if (direct::find(to) != nullptr && !in_device(to, count))
        return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemset writes behind the end of device memory");
    if (touches_data(to)) std::memset(to, value, count);
    if (GmBuffer* target = direct::find(to)) target->initialised = true;
    return ACL_SUCCESS;
}
aclError aclrtMemsetAsync(void* to, size_t capacity, int32_t value, size_t count, aclrtStream) {
    if (direct::capture("memset", [=] { aclrtMemset(to, capacity, value, count); })) return ACL_SUCCESS;
    return aclrtMemset(to, capacity, value, count);
}

}  // extern "C"
