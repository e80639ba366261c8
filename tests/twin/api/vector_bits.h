// SPDX-License-Identifier: Apache-2.0
// Instructions of the test program that compare, select, fill or copy. The second half of b holds the
// bits that choose.
#pragma once
#include "vector_forms.h"

template <typename T>
__aicore__ inline void BitOps(Record& r, LocalTensor<T> d, LocalTensor<T> a, LocalTensor<T> b) {
    BinaryRepeatParams bp(r.dstBlk, r.aBlk, r.bBlk, r.dstRep, r.aRep, r.bRep);
    UnaryRepeatParams up(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
    LocalTensor<uint8_t> bits = d.template ReinterpretCast<uint8_t>();
    LocalTensor<uint8_t> chooser = b.template ReinterpretCast<uint8_t>()[kBytes / 2];
    T s = ScalarOf<T>(r);
    const CMPMODE compare = static_cast<CMPMODE>(r.mode);
    const SELMODE select = static_cast<SELMODE>(r.mode);
    switch (r.op) {
        case 80: IN_FORM(Compare, T COMMA uint8_t, bp, bits, a, b, compare) break;
        case 81: IN_FORM(CompareScalar, T COMMA uint8_t, up, bits, a, s, compare) break;
        case 82:
            Compare(a, b, compare, r.mask, bp);
            GetCmpMask(bits);
            break;
        case 83: IN_FORM(Select, T COMMA uint8_t, bp, d, chooser, a, b, select) break;
        case 84: IN_FORM(Select, T COMMA uint8_t, bp, d, chooser, a, s, select) break;
        case 85:
            SetCmpMask(chooser);
            SetVectorMask<T>(r.mask[1], r.mask[0]);
            Select<T, SELMODE::VSEL_CMPMASK_SPR>(d, a, b, r.repeat, bp);
            break;
        case 86: {
            LocalTensor<uint64_t> address = d.template ReinterpretCast<uint64_t>()[kBytes / 8 - 4];
            address.SetValue(0, static_cast<uint64_t>(chooser.GetPhyAddr()));
            PipeBarrier<PIPE_ALL>();
            SetCmpMask(address);
            SetVectorMask<T>(r.mask[1], r.mask[0]);
            Select<T, SELMODE::VSEL_TENSOR_TENSOR_MODE>(d, a, b, r.repeat, bp);
            break;
        }
        case 87: IN_FORM(Duplicate, T, r.dstBlk COMMA r.dstRep, d, s) break;
        case 88:
            if (r.form == COUNT) CreateVecIndex(d, s, static_cast<uint32_t>(r.count));
            else if (r.form == LANES) CreateVecIndex(d, s, static_cast<uint64_t>(r.count), r.repeat, r.dstBlk, r.dstRep);
            else CreateVecIndex(d, s, r.mask, r.repeat, r.dstBlk, r.dstRep);
            break;
        case 89: {
            CopyRepeatParams cp(r.dstBlk, r.aBlk, r.dstRep, r.aRep);
            if (r.form == LANES) Copy(d, a, static_cast<uint64_t>(r.count), r.repeat, cp);
            else if (r.form == BITS) Copy(d, a, r.mask, r.repeat, cp);
            else {
                SetMaskCount();
                SetVectorMask<T, MaskMode::COUNTER>(static_cast<int32_t>(r.count));
                Copy<T, false>(d, a, MASK_PLACEHOLDER, r.repeat, cp);
                SetMaskNorm();
                ResetMask();
            }
            break;
        }
        case 90: Brcb(d, a, r.repeat, {static_cast<uint16_t>(r.dstBlk), static_cast<uint16_t>(r.dstRep)}); break;
        case 91:
            SetDeqScale(r.number, static_cast<int16_t>(r.integer), true);
            if (r.mode == 0) CastDequant<int8_t, int16_t, false, false>(d.template ReinterpretCast<int8_t>(),
                a.template ReinterpretCast<int16_t>(), static_cast<uint32_t>(r.count));
            else CastDequant<int8_t, int16_t, false, true>(d.template ReinterpretCast<int8_t>(),
                a.template ReinterpretCast<int16_t>(), static_cast<uint32_t>(r.count));
            break;
        case 92: {
            VdeqInfo info;
            for (int i = 0; i < 16; ++i) {
                info.vdeqScale[i] = 0.125f * (i + 1);
                info.vdeqOffset[i] = static_cast<int16_t>(i - 8);
                info.vdeqSignMode[i] = false;
            }
            LocalTensor<uint64_t> table = b.template ReinterpretCast<uint64_t>();
            SetDeqScale(table, info);
            PipeBarrier<PIPE_ALL>();
            CastDequant<uint8_t, int16_t, true, false>(bits, a.template ReinterpretCast<int16_t>(),
                                                       static_cast<uint32_t>(r.count));
            break;
        }
        case 93: d = a + b; break;
        case 94: d = a / b; break;
        case 95: bits = a <= b; break;
        case 96: bits = a != b; break;
        case 97: {
            LocalTensor<int16_t> to = d.template ReinterpretCast<int16_t>();
            to = a.template ReinterpretCast<int16_t>() | b.template ReinterpretCast<int16_t>();
            break;
        }
    }
}
