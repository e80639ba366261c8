// SPDX-License-Identifier: Apache-2.0
// Who am I: block index and count, tiling key, tiling data, kernel type.
#pragma once
#include "tensor.h"

namespace AscendC {

inline int64_t GetBlockIdx() { return npuforge::block_index(); }
inline int64_t GetBlockNum() { return npuforge::block_count(); }
inline int64_t GetSubBlockIdx() { return npuforge::sub_block_index(); }

}  // namespace AscendC

#define block_idx (npuforge::block_index())
#define block_num (npuforge::block_count())
#define TILING_KEY_IS(key) (npuforge::tiling_key() == static_cast<uint64_t>(key))

// Tiling data is a plain struct in GM; kernels work on a copy of their own.
#define GET_TILING_DATA_WITH_STRUCT(tilingStruct, name, address) \
    tilingStruct name;                                           \
    npuforge::copy_tiling(&name, (address), sizeof(name))
#define GET_TILING_DATA(name, address) GET_TILING_DATA_WITH_STRUCT(NPUFORGE_DEFAULT_TILING_STRUCT, name, address)
