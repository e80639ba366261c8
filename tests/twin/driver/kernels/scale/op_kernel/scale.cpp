// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::QuePosition::VECIN, 1> in;
    AscendC::TQue<AscendC::QuePosition::VECOUT, 1> out;
    const uint32_t bytes = data.total * sizeof(DTYPE_X);
    pipe.InitBuffer(in, 2, bytes);
    pipe.InitBuffer(out, 1, bytes);
    AscendC::GlobalTensor<DTYPE_X> source, extra, target;
    source.SetGlobalBuffer((__gm__ DTYPE_X*)x, data.total);
    extra.SetGlobalBuffer((__gm__ DTYPE_X*)bias, data.total);
    target.SetGlobalBuffer((__gm__ DTYPE_X*)y, data.total);
    AscendC::LocalTensor<DTYPE_X> a = in.AllocTensor<DTYPE_X>();
    AscendC::DataCopy(a, source, data.total);
    in.EnQue(a);
    a = in.DeQue<DTYPE_X>();
    AscendC::LocalTensor<DTYPE_X> b = out.AllocTensor<DTYPE_X>();
    AscendC::Muls(b, a, (DTYPE_X)data.alpha, data.total);
    in.FreeTensor(a);
    if (TILING_KEY_IS(2)) {
        AscendC::LocalTensor<DTYPE_X> c = in.AllocTensor<DTYPE_X>();
        AscendC::DataCopy(c, extra, data.total);
        in.EnQue(c);
        c = in.DeQue<DTYPE_X>();
        AscendC::Add(b, b, c, data.total);
        in.FreeTensor(c);
    }
    out.EnQue(b);
    b = out.DeQue<DTYPE_X>();
    AscendC::DataCopy(target, b, data.total);
    out.FreeTensor(b);
}
