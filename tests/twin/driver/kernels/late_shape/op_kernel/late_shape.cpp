// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void late_shape(
    GM_ADDR x, GM_ADDR v, GM_ADDR z, GM_ADDR y, GM_ADDR v_out, GM_ADDR z_out, GM_ADDR shapes, GM_ADDR workspace,
    GM_ADDR tiling)
{
    constexpr uint32_t N = 64;
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, N * sizeof(float));
    GlobalTensor<float> source, target;
    source.SetGlobalBuffer((__gm__ float*)x, N);
    target.SetGlobalBuffer((__gm__ float*)y, N);
    GlobalTensor<uint64_t> shape;
    shape.SetGlobalBuffer((__gm__ uint64_t*)shapes, 9);

    LocalTensor<float> moved = queue.AllocTensor<float>();
    DataCopy(moved, source, N);
    queue.EnQue(moved);
    moved = queue.DeQue<float>();
    DataCopy(target, moved, N);
    target.SetGlobalBuffer((__gm__ float*)z_out, N);
    DataCopy(target, moved, N);
    queue.FreeTensor(moved);
    shape.SetValue(0, 1);
    shape.SetValue(1, N);
    DataCacheCleanAndInvalid<uint64_t, CacheLine::SINGLE_CACHE_LINE>(shape);

    ListTensorDesc from((__gm__ void*)v), to((__gm__ void*)v_out);
    for (uint32_t i = 0; i < from.GetSize(); ++i) {
        source.SetGlobalBuffer(from.GetDataPtr<float>(i), N);
        target.SetGlobalBuffer(to.GetDataPtr<float>(i), N);
        LocalTensor<float> row = queue.AllocTensor<float>();
        DataCopy(row, source, N);
        queue.EnQue(row);
        row = queue.DeQue<float>();
        Adds(row, row, 1.0f, N);
        PipeBarrier<PIPE_ALL>();
        DataCopy(target, row, N);
        queue.FreeTensor(row);
    }
}
