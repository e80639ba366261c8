// SPDX-License-Identifier: Apache-2.0
// Runs a list of vector instructions, each on fresh operands, and keeps what each left in its
// destination. One build serves every operation, type, form and layout of the differential tests.
#pragma once
#include "vector_bits.h"
#include "vector_forms.h"

class Program {
public:
    __aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR d, GM_ADDR records, GM_ADDR out, uint32_t n) {
        pipe.InitBuffer(aBuffer, kBytes);
        pipe.InitBuffer(bBuffer, kBytes);
        pipe.InitBuffer(dBuffer, kBytes);
        aGm.SetGlobalBuffer((__gm__ uint8_t*)a, kBytes);
        bGm.SetGlobalBuffer((__gm__ uint8_t*)b, kBytes);
        dGm.SetGlobalBuffer((__gm__ uint8_t*)d, kBytes);
        recordGm.SetGlobalBuffer((__gm__ int64_t*)records, n * kWords);
        outGm.SetGlobalBuffer((__gm__ uint8_t*)out, n * kBytes);
        for (uint32_t i = 0; i < n; ++i) Step(i);
    }

private:
    __aicore__ inline void Step(uint32_t i) {
        Record r = Read(i);
        LocalTensor<uint8_t> x = aBuffer.Get<uint8_t>(), y = bBuffer.Get<uint8_t>(), z = dBuffer.Get<uint8_t>();
        DataCopy(x, aGm, kBytes);
        DataCopy(y, bGm, kBytes);
        DataCopy(z, dGm, kBytes);
        PipeBarrier<PIPE_ALL>();
        Dispatch(r);
        PipeBarrier<PIPE_ALL>();
        DataCopy(outGm[i * kBytes], z, kBytes);
        PipeBarrier<PIPE_ALL>();
    }

    __aicore__ inline Record Read(uint32_t i) {
        int64_t w[kWords];
        for (uint32_t j = 0; j < kWords; ++j) w[j] = recordGm.GetValue(i * kWords + j);
        Record r{w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13]};
        r.mask[0] = static_cast<uint64_t>(w[14]);
        r.mask[1] = static_cast<uint64_t>(w[15]);
        int32_t bits = static_cast<int32_t>(w[16]);
        r.number = *reinterpret_cast<float*>(&bits);
        return r;
    }

    template <typename T> LocalTensor<T> A() { return aBuffer.Get<T>(); }
    template <typename T> LocalTensor<T> B() { return bBuffer.Get<T>(); }
    template <typename T> LocalTensor<T> D() { return dBuffer.Get<T>(); }

    __aicore__ inline void Dispatch(Record& r) {
        if (r.op >= 80 && r.op < 100) {
            if (r.dtype == 0) BitOps<float>(r, D<float>(), A<float>(), B<float>());
            else BitOps<half>(r, D<half>(), A<half>(), B<half>());
        } else if (r.op < 100) {
            switch (r.dtype) {
                case 0: Floating<float>(r); Numeric<float>(r); break;
                case 1: Floating<half>(r); Numeric<half>(r); break;
                case 2: Numeric<int32_t>(r); Shift<int32_t>(r); break;
                case 3: Numeric<int16_t>(r); Shift<int16_t>(r); Bitwise<int16_t>(r); break;
                case 4: Shift<uint32_t>(r); break;
                case 5: Shift<uint16_t>(r); Bitwise<uint16_t>(r); break;
            }
            Fused(r);
        } else {
            CastPair(r);
        }
    }

    template <typename T> __aicore__ inline void Numeric(Record& r) {
        BinaryRepeatParams bp(r.dstBlk, r.aBlk, r.bBlk, r.dstRep, r.aRep, r.bRep);
        UnaryRepeatParams up(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
        T s = ScalarOf<T>(r);
        switch (r.op) {
            case 0: IN_FORM(Add, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 1: IN_FORM(Sub, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 2: IN_FORM(Mul, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 3: IN_FORM(Max, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 4: IN_FORM(Min, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 5: IN_FORM(Adds, T, up, D<T>(), A<T>(), s) break;
            case 6: IN_FORM(Muls, T, up, D<T>(), A<T>(), s) break;
            case 7: IN_FORM(Maxs, T, up, D<T>(), A<T>(), s) break;
            case 8: IN_FORM(Mins, T, up, D<T>(), A<T>(), s) break;
        }
        if constexpr (!std::is_same_v<T, int32_t>) {
            switch (r.op) {
                case 9: IN_FORM(AddRelu, T, bp, D<T>(), A<T>(), B<T>()) break;
                case 10: IN_FORM(SubRelu, T, bp, D<T>(), A<T>(), B<T>()) break;
            }
        }
        if constexpr (!std::is_same_v<T, int16_t>) {
            if (r.op == 11) IN_FORM(Relu, T, up, D<T>(), A<T>())
        }
    }

    template <typename T> __aicore__ inline void Floating(Record& r) {
        BinaryRepeatParams bp(r.dstBlk, r.aBlk, r.bBlk, r.dstRep, r.aRep, r.bRep);
        UnaryRepeatParams up(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
        T s = ScalarOf<T>(r);
        switch (r.op) {
            case 20: IN_FORM(Div, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 21: IN_FORM(FusedMulAdd, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 22: IN_FORM(FusedMulAddRelu, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 23: IN_FORM(MulAddRelu, T, bp, D<T>(), A<T>(), B<T>()) break;
            case 24: IN_FORM(MulAddDst, T COMMA T, bp, D<T>(), A<T>(), B<T>()) break;
            case 25: IN_FORM(Axpy, T COMMA T, up, D<T>(), A<T>(), s) break;
            case 26: IN_FORM(LeakyRelu, T, up, D<T>(), A<T>(), s) break;
            case 27: IN_FORM(Exp, T, up, D<T>(), A<T>()) break;
            case 28: IN_FORM(Ln, T, up, D<T>(), A<T>()) break;
            case 29: IN_FORM(Abs, T, up, D<T>(), A<T>()) break;
            case 30: IN_FORM(Reciprocal, T, up, D<T>(), A<T>()) break;
            case 31: IN_FORM(Sqrt, T, up, D<T>(), A<T>()) break;
            case 32: IN_FORM(Rsqrt, T, up, D<T>(), A<T>()) break;
        }
    }

    template <typename T> __aicore__ inline void Shift(Record& r) {
        UnaryRepeatParams up(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
        T s = ScalarOf<T>(r);
        if (r.op == 40) IN_FORM(ShiftLeft, T, up, D<T>(), A<T>(), s)
        if (r.op == 41) IN_FORM(ShiftRight, T, up, D<T>(), A<T>(), s)
        if (r.op == 42) ShiftRight(D<T>(), A<T>(), s, static_cast<uint64_t>(r.count), r.repeat, up, true);
    }

    template <typename T> __aicore__ inline void Bitwise(Record& r) {
        BinaryRepeatParams bp(r.dstBlk, r.aBlk, r.bBlk, r.dstRep, r.aRep, r.bRep);
        UnaryRepeatParams up(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
        if (r.op == 50) IN_FORM(And, T, bp, D<T>(), A<T>(), B<T>())
        if (r.op == 51) IN_FORM(Or, T, bp, D<T>(), A<T>(), B<T>())
        if (r.op == 52) IN_FORM(Not, T, up, D<T>(), A<T>())
    }

    // Operations whose types differ.
    __aicore__ inline void Fused(Record& r) {
        BinaryRepeatParams bp(r.dstBlk, r.aBlk, r.bBlk, r.dstRep, r.aRep, r.bRep);
        UnaryRepeatParams up(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
        half s = ScalarOf<half>(r);
        switch (r.op) {
            case 60: IN_FORM(MulAddDst, float COMMA half, bp, D<float>(), A<half>(), B<half>()) break;
            case 61: IN_FORM(Axpy, float COMMA half, up, D<float>(), A<half>(), s) break;
            case 62: IN_FORM(AddReluCast, int8_t COMMA half, bp, D<int8_t>(), A<half>(), B<half>()) break;
            case 63: IN_FORM(AddReluCast, int8_t COMMA int16_t, bp, D<int8_t>(), A<int16_t>(), B<int16_t>()) break;
            case 64: IN_FORM(AddReluCast, half COMMA float, bp, D<half>(), A<float>(), B<float>()) break;
            case 65: IN_FORM(SubReluCast, int8_t COMMA half, bp, D<int8_t>(), A<half>(), B<half>()) break;
            case 66: IN_FORM(SubReluCast, int8_t COMMA int16_t, bp, D<int8_t>(), A<int16_t>(), B<int16_t>()) break;
            case 67: IN_FORM(SubReluCast, half COMMA float, bp, D<half>(), A<float>(), B<float>()) break;
            case 68: IN_FORM(MulCast, int8_t COMMA half, bp, D<int8_t>(), A<half>(), B<half>()) break;
            case 69: IN_FORM(MulCast, uint8_t COMMA half, bp, D<uint8_t>(), A<half>(), B<half>()) break;
            case 70:
                SetDeqScale(s);
                IN_FORM(AddDeqRelu, half COMMA int32_t, bp, D<half>(), A<int32_t>(), B<int32_t>())
                break;
        }
    }

#define CAST_CASE(N, DST, SRC) \
    case N: IN_FORM(Cast, DST COMMA SRC, up, D<DST>(), A<SRC>(), mode) break;

    __aicore__ inline void CastPair(Record& r) {
        UnaryRepeatParams up(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
        const RoundMode mode = static_cast<RoundMode>(r.mode);
        switch (r.op) {
            CAST_CASE(100, float, half)
            CAST_CASE(101, half, float)
            CAST_CASE(102, float, bfloat16_t)
            CAST_CASE(103, bfloat16_t, float)
            CAST_CASE(104, float, int32_t)
            CAST_CASE(105, int32_t, float)
            CAST_CASE(106, float, int16_t)
            CAST_CASE(107, int16_t, float)
            CAST_CASE(108, float, float)
            CAST_CASE(109, int64_t, float)
            CAST_CASE(110, float, int64_t)
            CAST_CASE(111, int32_t, int64_t)
            CAST_CASE(112, int64_t, int32_t)
            CAST_CASE(113, int16_t, int32_t)
            CAST_CASE(115, int32_t, half)
            CAST_CASE(116, int16_t, half)
            CAST_CASE(117, int8_t, half)
            CAST_CASE(118, uint8_t, half)
            CAST_CASE(120, half, int8_t)
            CAST_CASE(121, half, uint8_t)
            CAST_CASE(122, half, int16_t)
            CAST_CASE(123, int32_t, bfloat16_t)
            case 114:
                SetDeqScale(static_cast<half>(r.number));
                IN_FORM(Cast, half COMMA int32_t, up, D<half>(), A<int32_t>(), mode)
                break;
            case 119:
                IN_FORM(Cast, int4b_t COMMA half, up, D<int8_t>().ReinterpretCast<int4b_t>(), A<half>(), mode)
                break;
            case 124:
                IN_FORM(Cast, half COMMA int4b_t, up, D<half>(), A<int8_t>().ReinterpretCast<int4b_t>(), mode)
                break;
        }
    }

    TPipe pipe;
    TBuf<TPosition::VECCALC> aBuffer, bBuffer, dBuffer;
    GlobalTensor<uint8_t> aGm, bGm, dGm, outGm;
    GlobalTensor<int64_t> recordGm;
};
