// SPDX-License-Identifier: Apache-2.0
// Temporary space of elementwise library functions on architecture 2201, in buffers of the input's
// size (at least one 256-byte repeat each). Host helpers report it, the checker demands it.
#pragma once

// X(name, half, float, float reusing the source)
#define NPUFORGE_TMP_FACTORS(X)                                                              \
    X(Tanh, 4, 1, 1) X(Sin, 8, 3, 2) X(Cos, 8, 3, 2) X(Tan, 10, 4, 4) X(Sinh, 4, 1, 1)       \
    X(Cosh, 6, 2, 2) X(Asin, 6, 2, 2) X(Acos, 6, 2, 2) X(Atan, 12, 5, 5) X(Asinh, 3, 3, 3)   \
    X(Atanh, 4, 1, 1) X(Erf, 8, 3, 3) X(Erfc, 16, 7, 7) X(Sign, 3, 3, 3)                     \
    X(Xor, 1, 1, 1) X(Ceil, 2, 1, 1) X(Floor, 2, 0, 0) X(Trunc, 2, 1, 1) X(Frac, 4, 0, 0)    \
    X(Round, 1, 1, 1) X(Fmod, 8, 1, 1) X(Digamma, 16, 7, 6) X(Lgamma, 26, 8, 7)              \
    X(Axpy, 4, 1, 1) X(Sigmoid, 1, 1, 1) X(Log, 0, 0, 0) X(Log10, 0, 0, 0) X(GeGLU, 4, 0, 0)
