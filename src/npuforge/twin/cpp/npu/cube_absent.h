// SPDX-License-Identifier: Apache-2.0
// Names of the matrix unit. The twin runs vector kernels; using one of these says so instead of
// "not declared". The lists are the table: functions, plain types, class templates.
#pragma once
#include "tensor.h"

#define NPUFORGE_ABSENT(name) __attribute__((unavailable("cube API " #name " is not in the twin yet")))

#define NPUFORGE_CUBE_FUNCTIONS(X)                                                                                    \
    X(Mmad) X(MmadWithSparse) X(LoadData) X(LoadDataWithTranspose) X(LoadDataWithSparse) X(LoadUnzipIndex)             \
    X(LoadImageToLocal) X(Fixpipe) X(SetFixPipeConfig) X(SetFixpipeNz2ndFlag) X(SetFixpipePreQuantFlag)                \
    X(SetFixPipeClipRelu) X(SetFixPipeAddr) X(InitConstValue) X(BroadCastVecToMM) X(SetHF32Mode) X(SetHF32TransMode)   \
    X(SetMMLayoutTransform) X(SetMMRowMajor) X(SetMMColumnMajor) X(SetLoadDataPaddingValue) X(SetLoadDataBoundary)     \
    X(SetLoadDataRepeat) X(SetFmatrix) X(SetAippFunctions) X(Gemm) X(Conv2D) X(DataCopyL1ToUB) X(SetLoopModePara)      \
    X(ResetLoopModePara) X(NdDmaDci)

#define NPUFORGE_CUBE_TYPES(X)                                                                                        \
    X(MmadParams) X(LoadData2DParams) X(LoadData2dParams) X(LoadData2DParamsV2) X(LoadData3DParamsV1)                  \
    X(LoadData3DParamsV2Pro) X(LoadData2dTransposeParams) X(LoadData2dTransposeParamsV2) X(FixpipeParamsV220)          \
    X(DataCopyCO12DstParams) X(LoadDataRepeatParam) X(GemmTiling) X(Conv2dParams) X(Conv2dTilling) X(LoopModeParams)

#define NPUFORGE_CUBE_TEMPLATES(X) X(LoadData3DParamsV2) X(FixpipeParams) X(InitConstValueParams)

namespace AscendC {

// Explicit template arguments come as types, as values, or mixed.
#define NPUFORGE_ABSENT_FUNCTION(name)                                                                        \
    template <typename... A> NPUFORGE_ABSENT(name) void name(A&&...);                                         \
    template <auto V, typename... A> NPUFORGE_ABSENT(name) void name(A&&...);                                 \
    template <typename T, auto V, typename... A> NPUFORGE_ABSENT(name) void name(A&&...);                     \
    template <typename T, typename U, auto V, typename... A> NPUFORGE_ABSENT(name) void name(A&&...);
NPUFORGE_CUBE_FUNCTIONS(NPUFORGE_ABSENT_FUNCTION)
#undef NPUFORGE_ABSENT_FUNCTION

// Fields are whatever the kernel assigns; the error at the type comes first.
#define NPUFORGE_ABSENT_TYPE(name) struct NPUFORGE_ABSENT(name) name {};
NPUFORGE_CUBE_TYPES(NPUFORGE_ABSENT_TYPE)
#undef NPUFORGE_ABSENT_TYPE

#define NPUFORGE_ABSENT_TEMPLATE(name) template <typename... A> struct NPUFORGE_ABSENT(name) name {};
NPUFORGE_CUBE_TEMPLATES(NPUFORGE_ABSENT_TEMPLATE)
#undef NPUFORGE_ABSENT_TEMPLATE

struct NPUFORGE_ABSENT(MatmulConfig) MatmulConfig {};
template <TPosition P, CubeFormat F, typename T, bool transposed = false, auto... V>
struct NPUFORGE_ABSENT(MatmulType) MatmulType {};
template <typename A, typename B, typename C, typename Bias = C, auto... V> class NPUFORGE_ABSENT(Matmul) Matmul {};
template <typename A, typename B, typename C, typename Bias = C, auto... V> class NPUFORGE_ABSENT(MatmulImpl) MatmulImpl {};

}  // namespace AscendC

namespace matmul {
using AscendC::Matmul;
using AscendC::MatmulConfig;
using AscendC::MatmulImpl;
using AscendC::MatmulType;
}  // namespace matmul
using AscendC::CubeFormat;
#define REGIST_MATMUL_OBJ(...) static_assert(false, "cube API REGIST_MATMUL_OBJ is not in the twin yet")

#undef NPUFORGE_CUBE_FUNCTIONS
#undef NPUFORGE_CUBE_TYPES
#undef NPUFORGE_CUBE_TEMPLATES
