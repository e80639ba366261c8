# SPDX-License-Identifier: Apache-2.0
"""The text compiled before a kernel."""

from __future__ import annotations

import subprocess
from pathlib import Path

from npuforge.twin.host import OpDescription, kernel_prelude
from npuforge.twin.toolchain import Toolchain


def test_prelude_compiles_with_the_host_layout(
    scale_description: OpDescription, tmp_path: Path
) -> None:
    text = kernel_prelude(scale_description, "ScaleRows", {"x": "DT_FLOAT"})
    source = tmp_path / "probe.cpp"
    source.write_text(
        "#include <cstddef>\n#include <cstdint>\n"
        + text.replace("#pragma once", "")
        + """
static_assert(offsetof(ScaleTilingData, part) == 24 && sizeof(InnerPart) == 8);
static_assert(sizeof(NPUFORGE_DEFAULT_TILING_STRUCT) == 40);
static_assert(sizeof(DTYPE_X) == 4 && sizeof(DTYPE_REPEATS) == 8);
#if ORIG_DTYPE_X != DT_FLOAT || FORMAT_X != FORMAT_ND
#error the numbers of types and formats are wrong
#endif
#define COUNT(key, type) + (key == 7 ? sizeof(type) : 1000)
static_assert(0 NPUFORGE_TILING_STRUCT_FOR_KEY(COUNT) == 8);
""",
        "utf-8",
    )
    compiler = Toolchain.find().compiler.command
    done = subprocess.run(
        [*compiler, "-std=gnu++20", "-fsyntax-only", str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_unregistered_structures_leave_the_choice_to_the_kernel(
    list_description: OpDescription,
) -> None:
    text = kernel_prelude(list_description, None, {})
    assert "NPUFORGE_DEFAULT_TILING_STRUCT" not in text
    assert "#define DTYPE_XS int32_t" in text
