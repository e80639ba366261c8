// SPDX-License-Identifier: Apache-2.0
// Template parameters of a kernel and the tiling key that encodes their values: the first parameter
// in the lowest bits, an unsigned one by the position of its value among those declared.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "npuforge_host/registry.h"

#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_AICORE 8
#define ASCENDC_TPL_VECTORCORE 9

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8

#define ASCENDC_TPL_DTYPE 0
#define ASCENDC_TPL_FORMAT 1
#define ASCENDC_TPL_UINT 2
#define ASCENDC_TPL_BOOL 3
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2
// Values of a type parameter may point at an input or output instead.
#define ASCENDC_TPL_INPUT(index) (100000000 + (index))
#define ASCENDC_TPL_OUTPUT(index) (900000000 + (index))

#define NPUFORGE_TEMPLATE_PARAM(name, kind, bits, ...) \
    npuforge::host::TemplateParam(#name, kind, bits, {__VA_ARGS__})
#define ASCENDC_TPL_DTYPE_DECL(name, ...) NPUFORGE_TEMPLATE_PARAM(name, "dtype", 8, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(name, ...) NPUFORGE_TEMPLATE_PARAM(name, "datatype", 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(name, ...) NPUFORGE_TEMPLATE_PARAM(name, "format", 8, __VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(name, bits, ...) NPUFORGE_TEMPLATE_PARAM(name, "uint", bits, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(name, ...) NPUFORGE_TEMPLATE_PARAM(name, "bool", 1, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(name, ...) \
    NPUFORGE_TEMPLATE_PARAM(name, "kernel_type", 8, __VA_ARGS__)
#define ASCENDC_TPL_ARGS_DECL(op_type, ...)                                  \
    static const std::vector<npuforge::host::TemplateParam>& g_tilingDeclareParams = \
        npuforge::host::RegisterTemplate(#op_type, {__VA_ARGS__})
// Which combinations get compiled is the packager's concern; the twin compiles the one it runs.
#define ASCENDC_TPL_SEL(...)

#define GET_TPL_TILING_KEY(...) npuforge::host::TemplateKey(g_tilingDeclareParams, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))
