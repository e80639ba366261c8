// SPDX-License-Identifier: Apache-2.0
// Who am I: block index and count, tiling key, tiling data, kernel type, workspace, core state.
#pragma once
#include "abi_more.h"
#include "atomic.h"
#include "mask.h"
#include "pipe.h"

enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE };

namespace AscendC {

inline int64_t GetBlockIdx() { return npuforge::block_index(); }
inline int64_t GetBlockNum() { return npuforge::block_count(); }
inline int64_t GetSubBlockIdx() { return npuforge::sub_block_index(); }
inline int64_t GetSubBlockNum() { return npuforge::vectors_per_group(); }
inline int64_t GetTaskRation() { return npuforge::vectors_per_group(); }
inline int64_t GetTaskRatio() { return npuforge::vectors_per_group(); }
inline constexpr int16_t GetDataBlockSizeInBytes() { return 32; }
inline void GetArchVersion(uint32_t& coreVersion) { coreVersion = npuforge::is_aiv() ? 0x220200 : 0x220100; }
inline int64_t GetSystemCycle() { return static_cast<int64_t>(npuforge::system_cycle()); }
inline int64_t GetProgramCounter() { return reinterpret_cast<int64_t>(__builtin_return_address(0)); }
inline void SetSyncBaseAddr(uint64_t) {}
inline void SetSysWorkspace(GM_ADDR) {}
inline void SetSysWorkspaceForce(GM_ADDR) {}
inline void SetDumpWorkspace(GM_ADDR) {}

// The workspace argument of a kernel is the user's part; the system's part lies in front of it on
// hardware and is not needed here.
inline __gm__ uint8_t* GetSysWorkSpacePtr() { return npuforge::system_workspace(); }
inline __gm__ uint8_t* GetUserWorkspace(GM_ADDR workspace) { return workspace; }

// The kernel's own type decides where it runs.
inline void SetKernelMode(KernelMode) {}
template <typename... A> inline void SetHcclContext(A...) {}

inline void InitSocState() {
    SetAtomicNone();
    SetMaskNorm();
    ResetMask();
}

template <int8_t startBit, int8_t endBit> inline void SetCtrlSpr(int64_t value) {
    // Bit 48: half and bfloat16 results saturate instead of becoming infinite (0: they saturate).
    if constexpr (startBit == 48 && endBit == 48) npuforge::set_saturation(value == 0);
}
template <int8_t startBit, int8_t endBit> inline int64_t GetCtrlSpr() {
    return startBit == 48 && endBit == 48 && !npuforge::saturation() ? 1 : 0;
}
enum class SaturationMode : uint8_t { FLOAT, FLOAT8, INT, CAST };
template <SaturationMode mode> inline void SetSaturationFlag(bool enableSat) {
    static_assert(mode == SaturationMode::FLOAT, "[DTY-21] 2201 has the saturation mode FLOAT only");
    npuforge::set_saturation(enableSat);
}
template <SaturationMode mode> inline bool GetSaturationFlag() { return npuforge::saturation(); }
template <int8_t startBit, int8_t endBit> inline void ResetCtrlSpr() { npuforge::set_saturation(false); }

// Which core this code is for; the twin compiles for vector cores.
inline constexpr int32_t MIX = 0, AIC = 1, AIV = 2;

enum class EngineType : int32_t { AIC = 1, AIV = 2 };
template <EngineType engine, auto funPtr, class... Args> inline void Async(Args... args) {
    if ((engine == EngineType::AIV) == npuforge::is_aiv()) funPtr(args...);
}

}  // namespace AscendC

#define block_idx (npuforge::block_index())
#define block_num (npuforge::block_count())
inline int64_t get_block_idx() { return npuforge::block_index(); }
inline int64_t get_block_num() { return npuforge::block_count(); }
inline int64_t get_subblockid() { return npuforge::sub_block_index(); }
inline int64_t get_subblockdim() { return npuforge::vectors_per_group(); }
inline uint64_t get_sys_cnt() { return npuforge::system_cycle(); }

inline constexpr int32_t g_coreType = AscendC::AIV;
#define ASCEND_IS_AIV (npuforge::is_aiv())
#define ASCEND_IS_AIC (!npuforge::is_aiv())
#define KERNEL_TASK_TYPE_DEFAULT(...)
#define KERNEL_TASK_TYPE(...)

#define TILING_KEY_VAR (npuforge::tiling_key())
#define TILING_KEY_IS(key) (npuforge::tiling_key() == static_cast<uint64_t>(key))
#define TILING_KEY_LIST(...) (npuforge::tiling_key_among({__VA_ARGS__}))

namespace npuforge {
inline bool tiling_key_among(std::initializer_list<uint64_t> keys) {
    for (const uint64_t key : keys)
        if (key == tiling_key()) return true;
    return false;
}
template <typename Struct> const Struct* tiling_pointer(const void* address) { return static_cast<const Struct*>(address); }
}  // namespace npuforge

// Tiling data is a plain struct in GM; kernels work on a copy of their own. The build defines
// NPUFORGE_DEFAULT_TILING_STRUCT when the host side registers a struct for the kernel.
#ifndef NPUFORGE_DEFAULT_TILING_STRUCT
#define NPUFORGE_DEFAULT_TILING_STRUCT NpuforgeRegisteredTiling
#endif
#define REGISTER_TILING_DEFAULT(tilingStruct) using NpuforgeRegisteredTiling [[maybe_unused]] = tilingStruct
#define REGISTER_TILING_FOR_TILINGKEY(condition, tilingStruct) static_assert(sizeof(tilingStruct) > 0)
#define REGISTER_NONE_TILING static_assert(true)

#define GET_TILING_DATA_WITH_STRUCT(tilingStruct, name, address) \
    tilingStruct name;                                           \
    npuforge::copy_tiling(&name, (address), sizeof(name))
#define GET_TILING_DATA(name, address) GET_TILING_DATA_WITH_STRUCT(NPUFORGE_DEFAULT_TILING_STRUCT, name, address)
#define GET_TILING_DATA_MEMBER(tilingStruct, member, name, address) \
    decltype(tilingStruct::member) name;                            \
    npuforge::copy_tiling(&name, &npuforge::tiling_pointer<tilingStruct>(address)->member, sizeof(name))
#define GET_TILING_DATA_PTR_WITH_STRUCT(tilingStruct, name, address) \
    const tilingStruct* name = npuforge::tiling_pointer<tilingStruct>(address)
#define COPY_TILING_WITH_STRUCT(tilingStruct, from, to) npuforge::copy_tiling((to), (from), sizeof(tilingStruct))
#define COPY_TILING_WITH_ARRAY(type, length, from, to) npuforge::copy_tiling((to), (from), sizeof(type) * (length))
#define __tiling_data_ptr__ const

// Template kernels: the host side declares which arguments exist; the build instantiates them.
#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_ARGS_SEL(...)
#define ASCENDC_TPL_SEL(...)
