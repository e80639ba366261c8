// SPDX-License-Identifier: Apache-2.0
// A program with its own main: doubles what input/x.bin holds.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "kernel_operator.h"

template <typename T>
__global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t count)
{
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::QuePosition::VECIN, 1> in;
    AscendC::TQue<AscendC::QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, count * sizeof(T));
    pipe.InitBuffer(out, 1, count * sizeof(T));
    AscendC::GlobalTensor<T> source, target;
    source.SetGlobalBuffer((__gm__ T*)x + AscendC::GetBlockIdx() * count, count);
    target.SetGlobalBuffer((__gm__ T*)y + AscendC::GetBlockIdx() * count, count);
    AscendC::LocalTensor<T> a = in.AllocTensor<T>();
    AscendC::DataCopy(a, source, count);
    in.EnQue(a);
    a = in.DeQue<T>();
    AscendC::LocalTensor<T> b = out.AllocTensor<T>();
    AscendC::Add(b, a, a, count);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<T>();
    AscendC::DataCopy(target, b, count);
    out.FreeTensor(b);
}

int main()
{
    constexpr uint32_t blocks = 2, count = 512;
    constexpr size_t bytes = blocks * count * sizeof(float);
    std::vector<float> host(blocks * count);
    std::FILE* file = std::fopen("./input/x.bin", "rb");
    if (file == nullptr || std::fread(host.data(), 1, bytes, file) != bytes) return 3;
    std::fclose(file);
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    uint8_t *x, *y;
    aclrtMalloc((void**)&x, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void**)&y, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(x, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    twice<float>
        <<<blocks, nullptr, stream>>>(x, y, count);  // not this one: <<<1, 2, 3>>>(4)
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 4;
    std::vector<float> result(blocks * count);
    aclrtMemcpy(result.data(), bytes, y, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    for (size_t i = 0; i < host.size(); ++i)
        if (result[i] != 2 * host[i]) return 5;
    std::printf("test pass\n");
    aclrtFree(x);
    aclrtFree(y);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}
