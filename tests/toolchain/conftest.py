# SPDX-License-Identifier: Apache-2.0
"""A miniature of our C++ tree, so that these tests need nothing of the real one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from npuforge.twin.cache import Cache
from npuforge.twin.compilers import _examine, find_compiler
from npuforge.twin.toolchain import Toolchain

_FILES = {
    "include/kernel_operator.h": (
        "#pragma once\n#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"
        "int rt_add(int a, int b);\n"
        "inline __attribute__((always_inline)) int api_add(int a, int b) { return rt_add(a, b); }\n"
        'template <class T> T api_only_float(T x) { static_assert(T(0.5) != 0, "no"); return x; }\n'
    ),
    "npu/entry.h": "#pragma once\n#define NPUFORGE_ENTRY(kernel)\n",
    "host/host_pch.h": "#pragma once\n#include <string>\ninline int host_value() { return 11; }\n",
    "runtime/add.cpp": "int rt_add(int a, int b) { return a + b; }\n",
    "runtime/more.cpp": '#include "more.h"\nint rt_more() { return MORE; }\n',
    "runtime/more.h": "#define MORE 3\n",
    "runtime/runner.cpp": (
        "#include <cstdio>\nint rt_add(int, int);\nint rt_more();\n"
        'int main() { std::printf("%d\\n", rt_add(37, 2) + rt_more()); }\n'
    ),
}


def _compilers() -> list[str]:
    found = [find_compiler().command[0]]
    for number in range(30, 13, -1):
        clang = shutil.which(f"clang++-{number}")
        if clang is not None:
            found.append(clang)
            break
    return found


@pytest.fixture(scope="session", params=_compilers())
def toolchain(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Toolchain:
    base = tmp_path_factory.mktemp("toolchain")
    for name, text in _FILES.items():
        path = base / "cpp" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    compiler = _examine((request.param,))
    assert not isinstance(compiler, str), compiler
    return Toolchain(compiler, Cache(base / "cache"), base / "cpp")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
