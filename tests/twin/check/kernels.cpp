// SPDX-License-Identifier: Apache-2.0
// Small kernels, each for one question to the checker. Every one takes an input, an output and a
// workspace.
#include "kernel_operator.h"
#include "npu/entry.h"
using namespace AscendC;

constexpr uint32_t N = 256;

struct Tensors {
    __aicore__ inline Tensors(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
        xGm.SetGlobalBuffer((__gm__ float*)x, N);
        yGm.SetGlobalBuffer((__gm__ float*)y, N);
        work.SetGlobalBuffer((__gm__ float*)w, N);
    }
    GlobalTensor<float> xGm, yGm, work;
};

__global__ __aicore__ void race(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    Tensors gm(x, y, w);
    LocalTensor<float> a(TPosition::VECIN, 0, N);
    DataCopy(a, gm.xGm, N);
    Adds(a, a, 1.0f, N);  // line of the second access
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.yGm, a, N);
}

// The row is computed in whole blocks; the garbage behind 250 elements goes nowhere.
__global__ __aicore__ void garbage_stays(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    Tensors gm(x, y, w);
    LocalTensor<float> a(TPosition::VECIN, 0, N), b(TPosition::VECOUT, 1024, N);
    DataCopyExtParams row{1, 250 * sizeof(float), 0, 0, 0}, rest{1, 6 * sizeof(float), 0, 0, 0};
    DataCopyPad(a, gm.xGm, row, {false, 0, 0, 0.0f});
    PipeBarrier<PIPE_ALL>();
    Adds(b, a, 1.0f, N);
    Muls(b, b, 2.0f, N);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(gm.yGm, b, row);
    DataCopyPad(gm.yGm[250], b, rest);
}

// The same garbage through the workspace and a reduction into the output.
__global__ __aicore__ void garbage_escapes(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    Tensors gm(x, y, w);
    LocalTensor<float> a(TPosition::VECIN, 0, N), b(TPosition::VECOUT, 1024, N);
    DataCopyExtParams row{1, 250 * sizeof(float), 0, 0, 0};
    DataCopyPad(a, gm.xGm, row, {false, 0, 0, 0.0f});
    PipeBarrier<PIPE_ALL>();
    Adds(b, a, 1.0f, N);  // first use of the garbage
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.work, b, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(a, gm.work, N);
    PipeBarrier<PIPE_ALL>();
    WholeReduceSum<float>(b, a, 64, 4, 1, 1, 8);
    PipeBarrier<PIPE_ALL>();
    Duplicate(b[8], 0.0f, N - 8);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(gm.yGm, b, {1, 16, 0, 0, 0});
}

// The result of a reduction lies in its own temporary buffer; garbage is in lanes the mask leaves out.
__global__ __aicore__ void result_in_scratch(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    Tensors gm(x, y, w);
    LocalTensor<float> a(TPosition::VECIN, 0, N), b(TPosition::VECCALC, 1024, N);
    DataCopyPad(a, gm.xGm, {1, 63 * sizeof(float), 0, 0, 0}, {false, 0, 0, 0.0f});
    PipeBarrier<PIPE_ALL>();
    uint64_t mask[2] = {0x5555555555555555, 0};
    ReduceMax(b, a, b, mask, 1, 8, true);
    PipeBarrier<PIPE_ALL>();
    if (b.GetValue(0) != 62.0f) return;
    DataCopyPad(a, gm.xGm, {1, N * sizeof(float), 0, 0, 0}, {false, 0, 0, 0.0f});
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.yGm, a, N);
}

// Three elements are compared: the instruction takes 64, past the buffer and what is in it.
__global__ __aicore__ void short_compare(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    Tensors gm(x, y, w);
    TPipe pipe;
    TBuf<TPosition::VECCALC> from, bits, to;
    pipe.InitBuffer(from, 32);
    pipe.InitBuffer(bits, 32);
    pipe.InitBuffer(to, N * sizeof(float));
    LocalTensor<float> a = from.Get<float>(), b = to.Get<float>();
    LocalTensor<uint8_t> mask = bits.Get<uint8_t>();
    DataCopyPad(a, gm.xGm, {1, 3 * sizeof(float), 0, 0, 0}, {false, 0, 0, 0.0f});
    Duplicate(b, 5.0f, N);
    PipeBarrier<PIPE_ALL>();
    CompareScalar(mask, a, 1.0f, CMPMODE::GE, 3, 1, {1, 1, 8, 8});
    PipeBarrier<PIPE_ALL>();
    Select(b, mask, b, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 3);
    PipeBarrier<PIPE_ALL>();
    if (b.GetValue(0) == 0.0f) DataCopy(gm.yGm, b, N);
}

__global__ __aicore__ void null_pointer(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    volatile __gm__ int32_t* nowhere = (__gm__ int32_t*)(x - x);
    *nowhere = 1;
}

// More buffers than UB has room for. What lies outside is used only if `touched`.
__aicore__ inline void oversubscribed(Tensors gm, bool touched) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> large, inner, outer;
    pipe.InitBuffer(large, 190 * 1024);
    pipe.InitBuffer(inner, 64 * 1024);
    pipe.InitBuffer(outer, 300 * 1024);
    LocalTensor<float> a = (touched ? outer : inner).Get<float>();
    DataCopy(a, gm.xGm, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.yGm, a, N);
}

__global__ __aicore__ void untouched_outside(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    oversubscribed(Tensors(x, y, w), false);
}

__global__ __aicore__ void touched_outside(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    oversubscribed(Tensors(x, y, w), true);
}

// Every core writes all of y: 7, or its own number.
__aicore__ inline void write_everywhere(Tensors gm, float value) {
    LocalTensor<float> a(TPosition::VECOUT, 0, N);
    Duplicate(a, value, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.yGm, a, N);
}

__global__ __aicore__ void same_everywhere(GM_ADDR x, GM_ADDR y, GM_ADDR w) { write_everywhere(Tensors(x, y, w), 7.0f); }

__global__ __aicore__ void own_everywhere(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    write_everywhere(Tensors(x, y, w), static_cast<float>(GetBlockIdx()));
}

// While y is written from a freed tensor, `factor` times itself is put back into it.
__aicore__ inline void put_back(Tensors gm, float factor) {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    TBuf<TPosition::VECCALC> rest;
    pipe.InitBuffer(queue, 1, N * sizeof(float));
    pipe.InitBuffer(rest, N * sizeof(float));
    LocalTensor<float> a = queue.AllocTensor<float>();
    DataCopy(a, gm.xGm, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.yGm, a, N);
    Muls(a, a, factor, N);
    PipeBarrier<PIPE_ALL>();
    queue.FreeTensor(a);
    Muls(rest.Get<float>(), a, factor, N);
    Muls(a, a, factor, N);
}

__global__ __aicore__ void put_same_back(GM_ADDR x, GM_ADDR y, GM_ADDR w) { put_back(Tensors(x, y, w), 1.0f); }

__global__ __aicore__ void put_other_back(GM_ADDR x, GM_ADDR y, GM_ADDR w) { put_back(Tensors(x, y, w), 2.0f); }

// Half the destination's bytes hold the narrow source: at its end, or `early`.
__aicore__ inline void widen(Tensors gm, uint32_t early) {
    LocalTensor<float> wide(TPosition::VECCALC, 0, N);
    LocalTensor<half> narrow(TPosition::VECCALC, 2 * N - early, N);
    DataCopy(wide, gm.xGm, N);
    PipeBarrier<PIPE_ALL>();
    Cast(narrow, wide, RoundMode::CAST_NONE, N / 4);
    PipeBarrier<PIPE_ALL>();
    Cast(wide, narrow, RoundMode::CAST_NONE, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.yGm, wide, N);
}

__global__ __aicore__ void widen_from_the_end(GM_ADDR x, GM_ADDR y, GM_ADDR w) { widen(Tensors(x, y, w), 0); }

__global__ __aicore__ void widen_too_early(GM_ADDR x, GM_ADDR y, GM_ADDR w) { widen(Tensors(x, y, w), 256); }

// Wasteful in every way the time model knows about.
__global__ __aicore__ void slow(GM_ADDR x, GM_ADDR y, GM_ADDR w) {
    Tensors gm(x, y, w);
    LocalTensor<float> a(TPosition::VECIN, 0, N);
    for (uint32_t i = 0; i < N; i += 8) {
        DataCopy(a[i], gm.xGm[i], 8);
    }
    for (uint32_t i = 0; i < N / 8; ++i) {
        PipeBarrier<PIPE_ALL>();
        Adds(a[i * 8], a[i * 8], 1.0f, 8);
    }
    for (uint32_t i = 0; i < N; ++i) a.SetValue(i, 1.0f);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm.yGm, a, N);
}

NPUFORGE_ENTRY(race)
NPUFORGE_ENTRY(garbage_stays)
NPUFORGE_ENTRY(garbage_escapes)
NPUFORGE_ENTRY(result_in_scratch)
NPUFORGE_ENTRY(short_compare)
NPUFORGE_ENTRY(null_pointer)
NPUFORGE_ENTRY(untouched_outside)
NPUFORGE_ENTRY(touched_outside)
NPUFORGE_ENTRY(same_everywhere)
NPUFORGE_ENTRY(own_everywhere)
NPUFORGE_ENTRY(put_same_back)
NPUFORGE_ENTRY(put_other_back)
NPUFORGE_ENTRY(widen_from_the_end)
NPUFORGE_ENTRY(widen_too_early)
NPUFORGE_ENTRY(slow)
