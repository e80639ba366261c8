# SPDX-License-Identifier: Apache-2.0
"""Kernels that misbehave get a clear verdict; the caller is untouched and nothing is left behind.

Every hostile kernel is bounded by itself, in case the sandbox does not stop it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from npuforge.sandbox import MIB, Limits, Sandbox
from npuforge.twin.execute import RunResult, execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import Launch, output

_FRAME = """
#include "kernel_operator.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
extern "C" __global__ __aicore__ void hostile(GM_ADDR y)
{{
    AscendC::GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y, 4);
    out.SetValue(0, 7);
    {body}
}}
"""
_LIMITS = Limits(cpu_s=2, wall_s=4, memory_bytes=512 * MIB, output_bytes=MIB, file_bytes=32 * MIB)


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Scratch folders of the test lie in a place of their own, which is empty at the end."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield
    assert list(place.iterdir()) == []


def _run(body: str) -> RunResult:
    build = Kernel.build(_FRAME.format(body=body))
    assert build.ok, build.log
    return execute(build, Launch(1, [output("y", (4,), "int32")]), mode="run", limits=_LIMITS)


def test_endless_loop() -> None:
    result = _run("for (volatile time_t end = time(nullptr) + 30; time(nullptr) < end;) {}")
    assert result.error in (
        "stopped: over the cpu time limit of 2 s",
        "stopped: over the wall time limit of 4 s",
    )


def test_crash() -> None:
    result = _run("*(volatile int*)8 = 1;")
    assert result.error == "the kernel accessed memory it does not own"
    (finding,) = result.findings
    assert finding.rule.startswith("MEM-")
    assert finding.line is not None


def test_abort() -> None:
    assert _run("std::abort();").error == "the program aborted"


def test_exit_without_a_result() -> None:
    result = _run("_exit(0);")
    assert result.error == "the program ended with status 0 and left no result"


def test_allocation_without_end() -> None:
    result = _run(
        "for (int i = 0; i < 64; ++i) {"
        " char* p = (char*)malloc(32 << 20); if (p) memset(p, i, 32 << 20); usleep(5000); }"
    )
    assert result.error == "stopped: over the memory limit of 0.5 GiB"


def test_fork_is_refused() -> None:
    result = _run(
        "int made = 0; for (int i = 0; i < 5; ++i) { const pid_t p = fork();"
        " if (p == 0) { sleep(2); _exit(0); } if (p > 0) ++made; } out.SetValue(1, made);"
    )
    if Sandbox.detect().name == "rlimits only":
        assert result.error == "stopped: over the processes limit of 1"
    else:
        assert result.error is None
        assert result.outputs["y"][:2].tolist() == [7, 0]


def test_writing_elsewhere_is_refused(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    result = _run(
        f'const int a = open("{victim}", O_WRONLY | O_TRUNC);'
        f'const int b = open("{tmp_path}/new", O_WRONLY | O_CREAT, 0600);'
        "out.SetValue(1, a); out.SetValue(2, b < 0 ? 0 : 1);"
    )
    if Sandbox.detect().name in ("seccomp", "rlimits only"):
        pytest.skip("this machine offers no protection of files")
    # Creating a file may seem to work: it then lies in a /tmp of the sandbox's own.
    assert result.outputs["y"][:2].tolist() == [7, -1]
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "new").exists()


def test_sockets_reach_nobody() -> None:
    result = _run(
        "const int s = socket(AF_INET, SOCK_STREAM, 0);"
        " sockaddr a{}; a.sa_family = AF_INET; a.sa_data[1] = 9; a.sa_data[2] = 10;"
        " out.SetValue(1, s < 0 ? -1 : connect(s, &a, sizeof a));"
    )
    if Sandbox.detect().name == "rlimits only":
        pytest.skip("this machine offers no isolation from the network")
    assert result.error is not None or result.outputs["y"][1] == -1


def test_endless_output() -> None:
    result = _run(
        "static char line[4096]; memset(line, 'x', sizeof line);"
        " for (int i = 0; i < 4096; ++i) fwrite(line, 1, sizeof line, stdout);"
    )
    assert result.error == "stopped: over the output limit of 1 MiB"
    assert len(result.printed) <= MIB


def test_huge_file() -> None:
    result = _run(
        'FILE* f = fopen("big", "w"); static char block[1 << 20];'
        " for (int i = 0; f && i < 48; ++i) fwrite(block, 1, sizeof block, f); fclose(f);"
    )
    assert result.error == "stopped: over the file size limit of 0.03125 GiB"


def test_output_replaced_by_a_link() -> None:
    result = _run('unlink("0.bin"); symlink("/etc/passwd", "0.bin");')
    assert result.error == "the kernel's process damaged output y"
    assert result.outputs == {}


def test_forged_result_reads_no_file() -> None:
    forged = (
        '{\\"error\\":\\"\\",\\"launches\\":[],\\"findings\\":[{\\"rule\\":\\"X\\",'
        '\\"message\\":\\"m\\",\\"site\\":[{\\"address\\":1,\\"object\\":\\"/bin/sh\\"}]}]}'
    )
    result = _run(
        f'FILE* f = fopen("result.json", "w"); fputs("{forged}", f); fclose(f); _exit(0);'
    )
    assert [(f.rule, f.file) for f in result.findings] == [("X", None)]
