// SPDX-License-Identifier: Apache-2.0
// The device runtime's calls, answered in this process: device memory is memory of ours with known
// bounds, streams run what they are given at once.
#pragma once
#include "acl_base.h"

enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,
    ACL_MEM_MALLOC_HUGE_ONLY = 1,
    ACL_MEM_MALLOC_NORMAL_ONLY = 2,
};

enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4,
};

enum aclrtMemAttr { ACL_DDR_MEM = 0, ACL_HBM_MEM = 1 };
enum aclrtRunMode { ACL_DEVICE = 0, ACL_HOST = 1 };
enum aclrtEventRecordedStatus { ACL_EVENT_RECORDED_STATUS_NOT_READY = 0, ACL_EVENT_RECORDED_STATUS_COMPLETE = 1 };
enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 };

enum aclrtDevAttr {
    ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
    ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
};

inline constexpr uint32_t ACL_EVENT_SYNC = 1;
inline constexpr uint32_t ACL_EVENT_TIME_LINE = 8;
inline constexpr uint32_t ACL_STREAM_FAST_LAUNCH = 1;
inline constexpr uint32_t ACL_STREAM_FAST_SYNC = 2;

extern "C" {
aclError aclInit(const char* config);
aclError aclFinalize();

aclError aclrtSetDevice(int32_t device);
aclError aclrtGetDevice(int32_t* device);
aclError aclrtResetDevice(int32_t device);
aclError aclrtGetDeviceCount(uint32_t* count);
aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value);
const char* aclrtGetSocName();
aclError aclrtGetRunMode(aclrtRunMode* mode);
aclError aclrtGetLastError(aclrtLastErrLevel level);
aclError aclrtPeekAtLastError(aclrtLastErrLevel level);
aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t* free, size_t* total);

aclError aclrtCreateContext(aclrtContext* context, int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext* context);

aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flags);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtDestroyStreamForce(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);
aclError aclrtSynchronizeDevice();

aclError aclrtCreateEvent(aclrtEvent* event);
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flags);
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flags);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtSynchronizeEvent(aclrtEvent event);
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);
// Modelled time between two events where the session models time; 0 otherwise.
aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end);

aclError aclrtMalloc(void** pointer, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocAlign32(void** pointer, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocCached(void** pointer, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void* pointer);
aclError aclrtMallocHost(void** pointer, size_t size);
aclError aclrtFreeHost(void* pointer);
aclError aclrtMemcpy(void* to, size_t capacity, const void* from, size_t count, aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void* to, size_t capacity, const void* from, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream);
aclError aclrtMemset(void* to, size_t capacity, int32_t value, size_t count);
aclError aclrtMemsetAsync(void* to, size_t capacity, int32_t value, size_t count, aclrtStream stream);
}
