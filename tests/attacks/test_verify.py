# SPDX-License-Identifier: Apache-2.0
"""Programs that rewrite their judge, read its reference data, or pass by an old result."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.twin.sources.direct import DirectProgram
from npuforge.twin.verify import Report, verify_program

_SETUP = "python3 gen_data.py"
_VERIFY = "python3 verify_result.py output/z.bin output/golden.bin"
_GENERATE = (
    "open('input/x.bin', 'wb').write(b'x' * 8)\nopen('output/golden.bin', 'wb').write(b'y' * 8)\n"
)
_JUDGE = (
    "import filecmp, sys\ngot, want = (open(name, 'rb').read() for name in sys.argv[1:])\n"
    "assert open('input/x.bin', 'rb').read() == b'x' * 8\n"
    "sys.exit(got != want)\n"
)
_PROGRAM = """#include <cstdio>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include "acl/acl.h"
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void store(GM_ADDR y)
{
    AscendC::GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y, 8);
    out.SetValue(0, 1);
}
static void put(const char* name, const std::string& text)
{
    std::FILE* file = std::fopen(name, "wb");
    if (file == nullptr) return;
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
}
static std::string get(const char* name)
{
    char text[64] = {};
    std::FILE* file = std::fopen(name, "rb");
    if (file == nullptr) return "";
    const size_t count = std::fread(text, 1, sizeof(text), file);
    std::fclose(file);
    return std::string(text, count);
}
int main()
{
    void* y = nullptr;
    aclrtMalloc(&y, 32, ACL_MEM_MALLOC_HUGE_FIRST);
    store<<<1, nullptr, nullptr>>>((GM_ADDR)y);
    aclrtSynchronizeStream(nullptr);
    BODY
    return 0;
}
"""
_HONEST = 'put("output/z.bin", get("input/x.bin") == "xxxxxxxx" ? "yyyyyyyy" : "no");'
_WRONG = 'put("output/z.bin", "nnnnnnnn"); '


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a program's folder as the samples have it."""
    (tmp_path / "gen_data.py").write_text(_GENERATE)
    (tmp_path / "verify_result.py").write_text(_JUDGE)
    return tmp_path


def judged(project: Path, body: str, verify: str = _VERIFY, golden: tuple[str, ...] = ()) -> Report:
    """Return the report on a program that does `body` after its launch."""
    (project / "main.asc").write_text(_PROGRAM.replace("BODY", body))
    program = DirectProgram.open(project, golden=golden)
    return verify_program(program, steps=("run",), setup=_SETUP, command=verify)


def test_an_honest_program_passes(project: Path) -> None:
    report = judged(project, _HONEST)
    assert report.verdict.error is None
    assert report.verdict.correct, report.printed
    assert sorted(path.name for path in project.iterdir()) == [
        "gen_data.py",
        "main.asc",
        "verify_result.py",
    ]


@pytest.mark.parametrize(
    "attack",
    [
        'put("verify_result.py", "");',
        'put("output/golden.bin", "nnnnnnnn");',
        'unlink("output/golden.bin"); symlink("z.bin", "output/golden.bin");',
        'put("filecmp.py", "import os\\nos._exit(0)");',
        'mkdir("filecmp", 0755); put("filecmp/__init__.py", "import os\\nos._exit(0)");',
        'mkdir(".local", 0755); put(".local/x.pth", "import os; os._exit(0)");',
        'put("sitecustomize.py", "import os\\nos._exit(0)");',
        'put("usercustomize.py", "import os\\nos._exit(0)");',
        'put("python3", "#!/bin/sh\\nexit 0\\n"); chmod("python3", 0755);',
        'rename("output", "old"); mkdir("output", 0755); put("output/golden.bin", "nnnnnnnn"); '
        'put("output/z.bin", "nnnnnnnn");',
        'put("output/z.bin", get("output/golden.bin"));',
        'put("output/z.bin", get("../judge/made/output/golden.bin"));',
        'unlink("output/z.bin"); symlink("golden.bin", "output/z.bin");',
        'unlink("output/z.bin"); mkfifo("output/z.bin", 0644);',
        'unlink("output/z.bin"); mkdir("output/z.bin", 0755);',
        'put("input/x.bin", "nnnnnnnn");',
    ],
)
def test_a_wrong_program_does_not_pass(project: Path, attack: str) -> None:
    report = judged(project, _WRONG + attack)
    assert report.verdict.correct is not True
    assert report.verdict.exit_status == 1


def test_a_changed_input_is_judged_as_it_was(project: Path) -> None:
    report = judged(project, _HONEST + 'put("input/x.bin", "changed!");')
    assert report.verdict.correct
    assert "changed by the program, judged as before: input/x.bin" in report.printed


def test_an_old_result_is_no_result(project: Path) -> None:
    (project / "output").mkdir()
    (project / "output" / "z.bin").write_bytes(b"y" * 8)
    assert judged(project, "").verdict.correct is False


def test_an_old_file_that_the_judge_names_is_asked_about(project: Path) -> None:
    (project / "z.bin").write_bytes(b"y" * 8)
    with pytest.raises(UsageError, match=r"--verify names z\.bin, which is there before"):
        judged(project, "", "cmp z.bin output/golden.bin")


def test_the_user_names_reference_data(project: Path) -> None:
    (project / "gen_data.py").write_text(_GENERATE.replace("output/golden.bin", "right.bin"))
    steal = 'put("output/z.bin", get("right.bin"));'
    verify = "cmp output/z.bin right.bin"
    assert judged(project, steal, verify).verdict.correct
    assert not judged(project, steal, verify, ("right.*",)).verdict.correct
    assert judged(project, _HONEST, verify, ("right.*",)).verdict.correct


def test_reference_data_is_out_of_reach_of_the_compiler(project: Path) -> None:
    (project / "right.h").write_text("#define RIGHT 1\n")
    (project / "main.asc").write_text('#include "right.h"\n' + _PROGRAM.replace("BODY", ""))
    assert DirectProgram.open(project).build().ok
    assert not DirectProgram.open(project, golden=("right.h",)).build().ok
