# SPDX-License-Identifier: Apache-2.0
"""A miniature of our C++ tree, which builds in a second."""

from __future__ import annotations

from pathlib import Path

FILES = {
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


def write_tree(folder: Path) -> Path:
    """Write the tree to `folder` and return it."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder
