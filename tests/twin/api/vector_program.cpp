// SPDX-License-Identifier: Apache-2.0
#include "vector_program.h"

extern "C" __global__ __aicore__ void program(GM_ADDR a, GM_ADDR b, GM_ADDR d, GM_ADDR records, GM_ADDR out, uint32_t n) {
    Program p;
    p.Run(a, b, d, records, out, n);
}
