// SPDX-License-Identifier: Apache-2.0
// A record of the test program, and how to call an instruction in the form it names.
#pragma once
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kBytes = 8192;  // of every operand
constexpr uint32_t kWords = 24;    // of a record

enum Form { COUNT, LANES, BITS, COUNTER, REGISTER, REGISTER_COUNTER };

struct Record {
    int64_t op, dtype, form, count, repeat, dstBlk, dstRep, aBlk, aRep, bBlk, bRep, integer, mode, other;
    uint64_t mask[2];
    float number;
};

template <typename T> T ScalarOf(const Record& r) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(r.integer);
    else return static_cast<T>(r.number);
}

// CALL(form arguments...) in the form the record asks for; T0 are the leading template arguments.
#define IN_FORM(NAME, T0, PARAMS, ...)                                                        \
    switch (r.form) {                                                                         \
        case COUNT: NAME(__VA_ARGS__, static_cast<int32_t>(r.count)); break;                  \
        case LANES: NAME(__VA_ARGS__, static_cast<uint64_t>(r.count), r.repeat, PARAMS); break; \
        case BITS: NAME(__VA_ARGS__, r.mask, r.repeat, PARAMS); break;                        \
        case COUNTER:                                                                         \
            SetMaskCount();                                                                   \
            NAME(__VA_ARGS__, static_cast<uint64_t>(r.count), 1, PARAMS);                     \
            SetMaskNorm();                                                                    \
            break;                                                                            \
        case REGISTER:                                                                        \
            SetVectorMask<half, MaskMode::NORMAL>(r.mask[1], r.mask[0]);                      \
            NAME<T0, false>(__VA_ARGS__, MASK_PLACEHOLDER, r.repeat, PARAMS);                 \
            break;                                                                            \
        default:                                                                              \
            SetMaskCount();                                                                   \
            SetVectorMask<half, MaskMode::COUNTER>(static_cast<int32_t>(r.count));            \
            NAME<T0, false>(__VA_ARGS__, MASK_PLACEHOLDER, 1, PARAMS);                        \
            SetMaskNorm();                                                                    \
            ResetMask();                                                                      \
            break;                                                                            \
    }
#define COMMA ,
