// SPDX-License-Identifier: Apache-2.0
// Function and address-space qualifiers of device code. On the twin they carry no meaning for the
// C++ compiler; the lint reads them from the source.
#pragma once
#include <cstddef>
#include <cstdint>

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif
#define __DAV_C220__ 1
#define NPUFORGE_TWIN 1

#define __aicore__
#define __global__ __attribute__((visibility("default")))
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __ssbuf__
#define __biasbuf__
#define __sync_alias__
#define __sync_noalias__
#define __vector__
#define __cube__
#define __mix__(...)
#define __schedmode__(...)
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __kfc_workspace__
#define __simd_vf__
#define __check_sync_alias__
#define __WORKGROUP_LOCAL__
#ifndef __forceinline__
#define __forceinline__ inline
#endif
#ifndef __inline__
#define __inline__ inline
#endif
#define __disable_kernel_type_autoinfer__
#define __no_simd_vf_fusion__

#define GM_ADDR __gm__ uint8_t*
#define K_MAX_SHAPE_DIM 8
