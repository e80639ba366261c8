# SPDX-License-Identifier: Apache-2.0
"""Attacks on the build cache by files whose change it might not notice: an old build would run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.toolchain.miniature import write_tree

from npuforge.twin.cache import Cache
from npuforge.twin.compilers import find_compiler
from npuforge.twin.dependencies import dependencies
from npuforge.twin.toolchain import BuildResult, Toolchain

_NAMES = [
    "plain.h", "a b.h", "a$b.h", "a#b.h", "a\\b.h", "a\\ b.h", "a:b.h", "ü.h", "a'b.h", "a%b.h",
    "a\\#b.h", "a\\\\b.h", "a\tb.h", "a$$b.h", "a\\\\ b.h",
]  # fmt: skip
_INCBIN = 'asm(".data\\n.global data\\ndata:\\n.incbin \\"data.inc\\"\\n.byte 0\\n.text\\n");\n'
_KERNEL = '#include "kernel_operator.h"\n{head}extern "C" int kernel(int x) {{ return x; }}\n'


def _build(folder: Path, head: str) -> BuildResult:
    project = folder / "project"
    if not project.exists():
        write_tree(folder / "cpp")
        project.mkdir()
        (project / "data.inc").write_text("first")
    (project / "k.cpp").write_text(_KERNEL.format(head=head))
    tools = Toolchain(find_compiler(), Cache(folder / "cache"), folder / "cpp")
    return tools.compile([project / "k.cpp"], kind="kernel", name="k", include_dirs=[project])


@pytest.mark.parametrize("place", ["source", "header"])
def test_a_file_that_the_assembler_reads_is_read_again(place: str, tmp_path: Path) -> None:
    text = _INCBIN.replace("data.inc", str(tmp_path / "project" / "data.inc"))
    head = text if place == "source" else '#include "part.h"\n'
    _build(tmp_path, "")
    (tmp_path / "project" / "part.h").write_text(text)
    first = _build(tmp_path, head)
    (tmp_path / "project" / "data.inc").write_text("other")
    second = _build(tmp_path, head)
    if first.path is None or second.path is None:
        assert not first.ok  # the assembler reads nothing of a project
        return
    assert b"first" in first.path.read_bytes()
    assert b"other" in second.path.read_bytes()


def test_builds_without_assembly_are_used_again(tmp_path: Path) -> None:
    _build(tmp_path, "")
    assert _build(tmp_path, "").cached


@pytest.mark.parametrize("name", _NAMES)
def test_a_name_in_a_rule_is_that_of_the_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("")
    (tmp_path / "unit.cpp").write_text(f'#include "{name}"\n')
    compiler = find_compiler().command
    subprocess.run([*compiler, "-c", "-MD", "unit.cpp"], cwd=tmp_path, check=True)
    rule = tmp_path / "unit.d"
    made = tmp_path / "made"
    made.mkdir()
    found = dependencies(rule, tmp_path / "made")
    assert found is None  # the names are relative to another folder
    rule.write_text(rule.read_text().replace("/usr/include/stdc-predef.h", ""))
    (made / "unit.cpp").write_text("")
    (made / name).write_text("")
    assert dependencies(rule, made) == []
    (made / name).unlink()
    assert dependencies(rule, made) is None


def test_an_object_that_would_fill_the_cache_is_refused(tmp_path: Path) -> None:
    built = _build(tmp_path, "int large[50000000] = {1};\n")
    assert built.path is None
    assert "ile size" in built.diagnostics[0].message
    assert sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*")) < 100 << 20
