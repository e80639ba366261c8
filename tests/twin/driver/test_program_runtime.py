# SPDX-License-Identifier: Apache-2.0
"""Programs with their own main: captured graphs, several device units, library helpers, roles."""

from __future__ import annotations

from pathlib import Path

from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import Launch, output
from npuforge.twin.sources.direct import DirectProgram, ProgramRun

_KERNEL = """#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void bump(GM_ADDR y)
{
    AscendC::GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y, 8);
    out.SetValue(0, out.GetValue(0) + 1);
}
"""


def run(folder: Path) -> ProgramRun:
    program = DirectProgram.open(folder)
    build = program.build()
    assert build.ok, build.log
    return program.run(build)


def test_a_captured_graph_runs_when_it_is_executed(tmp_path: Path) -> None:
    (tmp_path / "main.asc").write_text(
        _KERNEL
        + """
int main()
{
    int32_t host = 5;
    uint8_t* y;
    aclrtStream stream;
    aclmdlRI graph;
    aclrtCreateStream(&stream);
    aclrtMalloc((void**)&y, 32, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(y, 32, 0, 32);
    aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    aclrtMemcpyAsync(y, 32, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    bump<<<1, nullptr, stream>>>(y);
    aclrtMemcpyAsync(&host, 4, y, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream);
    aclmdlRICaptureEnd(stream, &graph);
    printf("%d ", host);
    for (int i = 0; i < 3; ++i) aclmdlRIExecuteAsync(graph, stream);
    printf("%d\\n", host);
    aclmdlRIDebugPrint(graph);
    aclmdlRIDestroy(graph);
}
"""
    )
    done = run(tmp_path)
    assert done.error is None
    assert done.printed == '5 8\n["memcpy", "bump", "memcpy"]\n'
    assert done.launches == ["bump"] * 3


def test_memory_the_program_never_reads_back_need_not_be_written(tmp_path: Path) -> None:
    body = """
int main()
{
    int32_t host[8] = {-1};
    uint8_t *y, *spare;
    aclrtMalloc((void**)&y, 32, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void**)&spare, 32, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(y, 32, 0, 32);
    bump<<<1, nullptr, nullptr>>>(y);
    aclrtMemcpy(host, 32, READ, 32, ACL_MEMCPY_DEVICE_TO_HOST);
    printf("%d\\n", host[0]);
}
"""
    (tmp_path / "main.asc").write_text(_KERNEL + body.replace("READ", "y"))
    assert run(tmp_path).violations == []
    (tmp_path / "main.asc").write_text(_KERNEL + body.replace("READ", "spare"))
    done = run(tmp_path)
    assert [violation.rule for violation in done.violations] == ["MEM-09"]
    assert done.printed == "0\n"


def test_device_functions_may_stand_in_a_unit_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "part.asc").write_text(
        '#include "kernel_operator.h"\n__aicore__ int32_t part(int32_t x) { return 3 * x; }\n'
    )
    (tmp_path / "main.asc").write_text(
        _KERNEL
        + """
extern __aicore__ int32_t part(int32_t x);
__global__ __aicore__ void use(GM_ADDR y) { ((__gm__ int32_t*)y)[0] = part(7); }
int main()
{
    int32_t* y;
    aclrtMalloc((void**)&y, 32, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(y, 32, 0, 32);
    use<<<1, nullptr, nullptr>>>((GM_ADDR)y);
    printf("%d\\n", y[0]);
}
"""
    )
    done = run(tmp_path)
    assert done.error is None
    assert done.printed == "21\n"


def test_a_kernel_may_have_the_name_of_a_c_function() -> None:
    source = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void wait(GM_ADDR y) { ((__gm__ int32_t*)y)[0] = 4; }
"""
    build = Kernel.build(source)
    assert build.ok, build.log
    result = execute(build, Launch(1, [output("y", (8,), "int32")]), mode="run")
    assert result.outputs["y"][0] == 4


_SIZES = """#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"
#include "tiling/tiling_api.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void nothing(GM_ADDR) {}
#define SHOW(name, ...) { uint32_t a = 1, b = 1; __VA_ARGS__; printf(name " %u %u\\n", a, b); }
int main()
{
    const TensorShape rows({2, 3, 64}), whole({2, 3, 64, 60}), matrix({10, 48}), line({100});
    const TensorShape image({2, 4, 3, 5}), packed({16, 16, 1, 3, 5}), none;
    auto* platform = platform_ascendc::PlatformAscendCManager::GetInstance();
    SHOW("deep", GetDeepNormMaxMinTmpSize(rows, 4, false, false, a, b))
    SHOW("layer", GetLayerNormMaxMinTmpSize(matrix, 4, false, true, false, a, b))
    SHOW("normalize", GetNormalizeMaxMinTmpSize(matrix, 2, 2, false, true, false, a, b))
    SHOW("group", GetGroupNormMaxMinTmpSize(image, 4, false, 2, a, b))
    SHOW("batch", GetBatchNormMaxMinTmpSize(rows, rows, 4, false, a, b))
    SHOW("gradient", GetLayerNormGradMaxMinTmpSize(whole, 4, false, a, b))
    SHOW("beta", GetLayerNormGradBetaMaxMinTmpSize(whole, 2, false, a, b))
    SHOW("update", GetWelfordUpdateMaxMinTmpSize(matrix, 2, 2, false, false, a, b))
    SHOW("finalize", GetWelfordFinalizeMaxMinTmpSize(line, 4, false, a, b))
    SHOW("quant", GetAscendQuantMaxMinTmpSize(matrix, 2, a, b))
    SHOW("dequant", GetAscendDequantMaxMinTmpSize(matrix, 4, a, b))
    SHOW("antiquant", GetAscendAntiQuantMaxMinTmpSize(matrix, TensorShape({1, 48}), false,
                                                      ge::DT_INT8, ge::DT_BF16, a, b))
    SHOW("select", GetSelectMaxMinTmpSize(matrix, none, 2, TensorShape({10, 64}), 1, false, a, b))
    SHOW("dropout", GetDropOutMaxMinTmpSize(matrix, 4, false, a, b))
    SHOW("pad", GetPadMaxMinTmpSize(matrix, 2, a, b))
    SHOW("unpad", GetUnPadMaxMinTmpSize(*platform, matrix, 2, a, b))
    SHOW("transpose", GetTransposeMaxMinTmpSize(image, 2, 1, a, b))
    const TransDataConfig there{DataFormat::NCDHW, DataFormat::FRACTAL_Z_3D};
    SHOW("transdata",
         GetTransDataMaxMinTmpSize(*platform, packed, none, ge::DT_FLOAT16, there, a, b))
    SHOW("xorsum", GetReduceXorSumMaxMinTmpSize(line, 2, false, a, b))
    SHOW("exp", GetExpTmpBufferFactorSize(2, a, b))
    const auto along = ReducePattern::RA;
    SHOW("max", GetReduceMaxMaxMinTmpSize(matrix, ge::DT_FLOAT, along, true, false, a, b))
    tiling::DeepNormTiling deep;
    const TensorShape original({2, 3, 60});
    printf("%d ", GetDeepNormTilingInfo(rows, original, 4096, 4, false, false, deep));
    printf("%u %u %u\\n", deep.hLength, deep.originalHLength, deep.inputXSize);
    nothing<<<1, nullptr, nullptr>>>(nullptr);
}
"""
# Largest and least space in bytes, worked out by hand from the library's description of each.
_EXPECTED = {
    "deep": (3 * 6 * 64 * 4 + 64, 3 * 64 * 4 + 64),
    "layer": (64 + 2 * 192 + 2 * 16 * 192, 64 + 2 * 192),
    "normalize": (2 * 192 + 2 * 16 * 192, 4 * 192),
    "group": (3 * 8 * 64 + 64, 3 * 2 * 64 + 64),
    "batch": (3 * 2 * 192 * 4 + 2 * 192 * 4, 3 * 2 * 32 + 2 * 192 * 4),
    "gradient": (6 * 64 * 64 * 4, 6 * 6 * 64 * 4),
    "beta": (4 * 6 * 64 * 4, 4 * 64 * 4),
    "update": (8 * 768, 768),
    "finalize": ((128 + 200) * 4, 1024),
    "quant": (960, 512),
    "dequant": ((64 + 480 + 56) * 4, (64 + 48 + 56) * 4),
    "antiquant": ((96 + 640) * 4, (96 + 640) * 4),
    "select": (480 * 2 + 512 + 480, 480 * 2 + 512 + 480),
    "dropout": (3840, 512),
    "pad": (30 * 1024, 1024),
    "unpad": (0, 0),
    "transpose": (16 * 16 * 2, 256 * 2),
    "transdata": (16 * 16 * 16 * 2 + 16 * 16 * 2, 16 * 16 * 16 * 2 + 16 * 16 * 2),
    "xorsum": (768, 768),
    "exp": (8, 0),
    "max": (8 * 192, 8 * 192),
}


def test_library_helpers_say_how_much_space_calls_need(tmp_path: Path) -> None:
    (tmp_path / "main.asc").write_text(_SIZES)
    done = run(tmp_path)
    assert done.error is None
    *lines, tiling = done.printed.strip().splitlines()
    found = {name: (int(most), int(least)) for name, most, least in map(str.split, lines)}
    assert found == _EXPECTED
    assert tiling == "1 64 60 384"
