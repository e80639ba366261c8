# SPDX-License-Identifier: Apache-2.0
"""Host code beside kernels: platform facts, tiling structures, names its build would define."""

from __future__ import annotations

from pathlib import Path

from npuforge.twin.sources.direct import DirectProgram

_PROGRAM = """
#include "kernel_operator.h"
#include "acl/acl.h"
#include "platform/platform_ascendc.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(FillTiling)
TILING_DATA_FIELD_DEF(uint32_t, first);
TILING_DATA_FIELD_DEF(uint64_t, second);
END_TILING_DATA_DEF;
}

__global__ __aicore__ void fill(GM_ADDR out) {
    AscendC::LocalTensor<float> local(AscendC::TPosition::VECCALC, 0, 64);
    AscendC::GlobalTensor<float> target;
    target.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out), 64);
    AscendC::Duplicate(local, 1.0f, 64);
    AscendC::printf("at %p\\n", local.GetPhyAddr());
    AscendC::DataCopy(target, local, 64);  // nobody waits for the vector unit
}

int main() {
    auto* platform = platform_ascendc::PlatformAscendCManager::GetInstance();
    optiling::FillTiling tiling;
    tiling.set_first(VALUE);
    tiling.set_second(2);
    uint32_t saved[4] = {};
    tiling.SaveToBuffer(saved, sizeof(saved));
    std::printf("cores %u saved %u %u\\n", platform->GetCoreNumAiv(), saved[0], saved[2]);
    uint8_t* out = nullptr;
    aclrtMalloc(reinterpret_cast<void**>(&out), 256, ACL_MEM_MALLOC_HUGE_FIRST);
    fill<<<1, nullptr, nullptr>>>(out);
    aclrtFree(out);
    return 0;
}
"""


def test_program_with_host_code_reports_its_findings(tmp_path: Path) -> None:
    (tmp_path / "fill.cpp").write_text(_PROGRAM)
    program = DirectProgram.open(tmp_path)
    program.defines = {"VALUE": "7"}
    build = program.build()
    assert build.ok, build.log
    run = program.run(build, mode="check", soc="910b2", auto_sync=False)
    assert run.error is None
    assert run.status == 0
    assert "cores 48 saved 7 2" in run.printed
    assert run.races or run.violations
