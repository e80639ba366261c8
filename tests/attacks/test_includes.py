# SPDX-License-Identifier: Apache-2.0
"""Sources that reach for files outside of their project, or for data inside of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.twin.kernel import Kernel, find_entries
from npuforge.twin.sources import recognise
from npuforge.twin.sources.direct import DirectProgram

_KERNEL = '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {}\n'
_PROGRAM = (
    '#include "acl/acl.h"\n#include "kernel_operator.h"\n'
    "__global__ __aicore__ void k(GM_ADDR x) {}\n"
    "int main() { k<<<1, nullptr, nullptr>>>(nullptr); return 0; }\n"
)
_NEVER = '#if 0\n#include "../secret/secret.h"\n#endif\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project's folder, beside which a secret lies."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "secret.h").write_text("#define SECRET 1\n")
    (tmp_path / "secret" / "secret.bin").write_bytes(b"secret")
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def embed(path: Path) -> str:
    """Return a line that puts a file into the object."""
    return f'asm(".section .rodata\\n.incbin \\"{path}\\"\\n.text");\n'


def ends(call: Callable[[], object], seconds: float = 60) -> None:
    """Fail where a call waits for ever; its errors are its own."""

    def run() -> None:
        with pytest.raises(UsageError):
            call()
        done.set()

    done = threading.Event()
    threading.Thread(target=run, daemon=True).start()
    assert done.wait(seconds)


@pytest.mark.parametrize("program", [True, False])
def test_an_include_that_is_never_compiled_opens_nothing(project: Path, program: bool) -> None:
    source = project / "main.cpp"
    text = _NEVER + embed(project.parent / "secret" / "secret.bin")
    source.write_text(text + (_PROGRAM if program else _KERNEL))
    build = DirectProgram.open(source).build() if program else Kernel.build(source)
    assert not build.ok


def test_nothing_outside_is_seen_to_exist(project: Path) -> None:
    source = project / "main.cpp"
    probe = '#if __has_include("../secret/secret.h")\n#error it is there\n#endif\n'
    source.write_text(_NEVER + probe + _PROGRAM)
    build = DirectProgram.open(source).build()
    assert "it is there" not in build.log


@pytest.mark.parametrize("name", ["output/golden.bin", "y.npy", ".git/config", "gen_data.py"])
def test_data_of_the_project_is_out_of_reach_of_its_compiler(project: Path, name: str) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_bytes(b"golden")
    source = project / "k.cpp"
    source.write_text(embed(project / name) + _KERNEL)
    assert not Kernel.build(source).ok


@pytest.mark.parametrize(
    "include", ["../secret/secret.h", "{absolute}", "link.h", "folder/secret.h"]
)
def test_a_refused_include_is_one_line_with_a_remedy(project: Path, include: str) -> None:
    (project / "link.h").symlink_to("../secret/secret.h")
    (project / "folder").symlink_to("../secret")
    name = include.format(absolute=project.parent / "secret" / "secret.h")
    source = project / "k.cpp"
    source.write_text(f'#include "{name}"\n{_KERNEL}')
    build = Kernel.build(source)
    assert not build.ok
    first = build.diagnostics[0]
    assert (first.file, first.line) == ("k.cpp", 1)
    assert "--include" in first.message


def test_the_user_can_open_a_folder(project: Path) -> None:
    source = project / "k.cpp"
    source.write_text(f'#include "../secret/secret.h"\nstatic_assert(SECRET);\n{_KERNEL}')
    assert Kernel.build(source, include_dirs=[project.parent / "secret"]).ok
    assert not Kernel.build(source).ok
    with pytest.raises(UsageError, match="no such folder"):
        Kernel.build(source, include_dirs=[project.parent / "none"])


def test_headers_of_the_project_are_included_from_anywhere_in_it(project: Path) -> None:
    (project / "common").mkdir()
    (project / "common" / "a.h").write_text('#include "../b.hpp"\n')
    (project / "b.hpp").write_text("#define B 1\n")
    (project / "README.md").write_text("not a source")
    (project / "alias.h").symlink_to("b.hpp")
    source = project / "k.cpp"
    source.write_text(f'#include "alias.h"\n#include "common/a.h"\nstatic_assert(B);\n{_KERNEL}')
    build = Kernel.build(source)
    assert build.ok, build.diagnostics


def test_the_trusted_side_follows_no_include_out_of_the_project(project: Path) -> None:
    (project.parent / "secret" / "other.h").write_text(_KERNEL.replace(" k(", " hidden("))
    source = project / "k.cpp"
    source.write_text('#include "../secret/other.h"\n' + _KERNEL)
    assert [entry.name for entry in find_entries(source)] == ["k"]


def test_sources_that_lead_out_of_a_project_are_not_its_own(project: Path) -> None:
    other = project.parent / "secret" / "other.cpp"
    other.write_text(_PROGRAM)
    (project / "main.cpp").symlink_to(other)
    with pytest.raises(UsageError):
        DirectProgram.open(project)
    (project / "op_kernel").symlink_to(project.parent / "secret")
    (project / "op_host").symlink_to(project.parent / "secret")
    with pytest.raises(UsageError, match="no op_host"):
        recognise(project)


def test_a_pipe_in_the_place_of_a_source_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "k.cpp")
    ends(lambda: recognise(project / "k.cpp"))
    ends(lambda: recognise(project))
    (project / "op_kernel").mkdir()
    (project / "op_host").mkdir()
    os.mkfifo(project / "op_kernel" / "k.cpp")
    os.mkfifo(project / "op_host" / "k.cpp")
    ends(lambda: recognise(project))


def test_a_large_source_is_refused(project: Path) -> None:
    source = project / "k.cpp"
    source.write_text(_KERNEL + " " * (3 << 20))
    with pytest.raises(UsageError, match="at most"):
        Kernel.build(source)


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 200_000,
        'R"(' * 200_000,
        "<<<" * 200_000,
        "__mix__(" * 100_000,
        "#if " + "(" * 20_000 + "\n#endif\n",
        "#if " + "!" * 20_000 + "1\n#endif\n",
        "#if 0xZZ == " + "9" * 5000 + "\n#endif\n",
        "#define A " + "9" * 5000 + "\n#if A\n#endif\n",
        '#include "' + "a/" * 5000 + '"\n',
        "void f() { return " + "(" * 5000 + "; }\n",
    ],
)
def test_texts_that_cost_time_or_depth_end_in_a_result(project: Path, text: str) -> None:
    """The regular expressions of the trusted side took time that grows with the square."""
    source = project / "k.cpp"
    source.write_text(_KERNEL + text)
    with suppress(UsageError):
        assert "k" in [entry.name for entry in find_entries(source)]
