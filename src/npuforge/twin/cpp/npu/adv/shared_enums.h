// SPDX-License-Identifier: Apache-2.0
// Enumerations of the library that both kernels and host helpers name.
#pragma once
#include <cstdint>

namespace AscendC {

// A is a kept axis, R a reduced one; only the two-axis patterns work on this architecture.
enum class ReducePattern : uint32_t {
    AR = 0, RA = 1, R, ARA, ARAR, ARARA, ARARAR, ARARARA, ARARARAR, ARARARARA, RAR, RARA, RARAR, RARARA, RARARAR, RARARARA
};
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
enum class SortType { RADIX_SORT, MERGE_SORT };
enum class TransposeType : uint8_t {
    TRANSPOSE_TYPE_NONE = 0, TRANSPOSE_NZ2ND_0213, TRANSPOSE_NZ2NZ_0213, TRANSPOSE_NZ2NZ_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITH_N, TRANSPOSE_NZ2ND_012_WITHOUT_N, TRANSPOSE_NZ2NZ_012_WITHOUT_N,
    TRANSPOSE_ND2ND_ONLY, TRANSPOSE_ND_UB_GM, TRANSPOSE_GRAD_ND_UB_GM, TRANSPOSE_ND2ND_B16,
    TRANSPOSE_NCHW2NHWC, TRANSPOSE_NHWC2NCHW
};
enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };
struct TransDataConfig {
    DataFormat srcFormat;
    DataFormat dstFormat;
};

}  // namespace AscendC
