# SPDX-License-Identifier: Apache-2.0
"""Programs with their own main, on stand-ins for the device runtime."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from npuforge.errors import UsageError
from npuforge.twin.sources import recognise
from npuforge.twin.sources.direct import DirectProgram
from npuforge.twin.verify import verify_program

_SETUP = "python3 gen_data.py"
_GENERATE = "import numpy\nnumpy.arange(1024, dtype=numpy.float32).tofile('input/x.bin')\n"
_KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void store(GM_ADDR y, int32_t value)
{
    AscendC::GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y, 8);
    out.SetValue(AscendC::GetBlockIdx(), value);
}
"""


@pytest.fixture
def project(tmp_path: Path, kernels: Path) -> Path:
    shutil.copy(kernels / "direct_add.cpp", tmp_path / "main.asc")
    (tmp_path / "gen_data.py").write_text(_GENERATE)
    return tmp_path


def test_program_runs_is_checked_and_timed(project: Path, tmp_path: Path) -> None:
    program = recognise(project)
    assert isinstance(program, DirectProgram)
    report = verify_program(program, setup=_SETUP, command="test -s input/x.bin")
    verdict = report.verdict
    assert verdict.correct
    assert verdict.diagnostics == []
    assert verdict.error is None, report.printed
    assert verdict.ok
    assert "test pass" in report.printed
    assert verdict.time_us is not None
    assert verdict.time_us > 0
    assert sorted(path.name for path in project.iterdir()) == ["gen_data.py", "main.asc"]
    assert tmp_path == project


def test_exit_status_is_reported(project: Path) -> None:
    np.zeros(4, np.float32).tofile(project / "short.bin")
    report = verify_program(DirectProgram.open(project), steps=("run",))
    assert report.verdict.error == "the program ended with status 3 and left no result"
    assert report.verdict.exit_status == 1


def test_command_after_the_program_judges(project: Path) -> None:
    program = DirectProgram.open(project)
    report = verify_program(program, steps=("run",), setup=_SETUP, command="echo bad; exit 1")
    assert report.verdict.correct is False
    assert report.printed.endswith("bad\n")


def test_failing_setup_is_one_line(project: Path) -> None:
    with pytest.raises(UsageError, match=r"the set-up command failed: .*No module named 'nothing'"):
        verify_program(DirectProgram.open(project), setup="python3 -c 'import nothing'")


def test_diagnostics_keep_the_lines_of_the_original(project: Path) -> None:
    source = project / "main.asc"
    lines = source.read_text().splitlines()
    broken = next(i for i, line in enumerate(lines) if "test pass" in line)
    lines[broken] = "    undeclared = 1;"
    source.write_text("\n".join(lines))
    build = DirectProgram.open(project).build()
    assert not build.ok
    assert (build.diagnostics[0].file, build.diagnostics[0].line) == ("main.asc", broken + 1)


def test_generated_launch_header_and_debugging_macros(tmp_path: Path) -> None:
    (tmp_path / "store.cpp").write_text(_KERNEL)
    (tmp_path / "main.cpp").write_text(
        '#include "acl/acl.h"\n#include "aclrtlaunch_store.h"\n#include "tikicpulib.h"\n'
        "int main()\n{\n"
        "    void* y = nullptr;\n"
        "    aclrtMalloc(&y, 32, ACL_MEM_MALLOC_HUGE_FIRST);\n"
        "    ACLRT_LAUNCH_KERNEL(store)(8, nullptr, y, 5);\n"
        "    int32_t host[8] = {};\n"
        "    aclrtMemcpy(host, 32, y, 32, ACL_MEMCPY_DEVICE_TO_HOST);\n"
        "    auto* shared = (uint8_t*)AscendC::GmAlloc(32);\n"
        "    ICPU_RUN_KF(store, 8, shared, 6);\n"
        "    const bool good = host[7] == 5 && ((int32_t*)shared)[7] == 6;\n"
        "    AscendC::GmFree(shared);\n"
        "    const int over = aclrtMemcpy(host, 16, y, 32, ACL_MEMCPY_DEVICE_TO_HOST);\n"
        "    if (over == ACL_SUCCESS) return 2;\n"
        "    if (aclrtFree(host) == ACL_SUCCESS) return 3;\n"
        "    return good ? 0 : 1;\n}\n"
    )
    program = DirectProgram.open(tmp_path)
    build = program.build()
    assert build.ok, build.log
    done = program.run(build, mode="run")
    assert (done.status, done.error) == (0, None), done.printed
    assert done.launches == ["store", "store"]


def test_kernel_beside_the_programs_folder(tmp_path: Path) -> None:
    # The buffer is initialised by the form for queues, which toolkits accept.
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "fill.h").write_text("""#include "kernel_operator.h"
extern "C" __global__ __aicore__ void fill(GM_ADDR y)
{
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1, 256);
    AscendC::GlobalTensor<float> out;
    out.SetGlobalBuffer((__gm__ float*)y, 64);
    AscendC::LocalTensor<float> ones = buffer.Get<float>();
    AscendC::Duplicate(ones, 1.0f, 64);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(out, ones, 64);
}
""")
    (tmp_path / "host").mkdir()
    main = tmp_path / "host" / "main.asc"
    main.write_text("""#include "acl/acl.h"
#include "../kernel/fill.h"
#include <cstdlib>
int main(int argc, char** argv)
{
    float* device = nullptr;
    float host[64] = {};
    aclrtMalloc((void**)&device, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST);
    fill<<<1, nullptr, nullptr>>>((GM_ADDR)device);
    aclrtMemcpy(host, sizeof(host), device, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST);
    return argc == 2 && host[std::atoi(argv[1])] == 1.0f ? 0 : 4;
}
""")
    program = DirectProgram.open(main, include_dirs=[tmp_path / "kernel"])
    report = verify_program(program, steps=("check",), arguments=["63"])
    assert report.verdict.diagnostics == []
    assert report.verdict.error is None
    assert report.verdict.violations == []
