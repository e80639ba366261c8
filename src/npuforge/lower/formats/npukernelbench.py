# SPDX-License-Identifier: Apache-2.0
"""NPUKernelBench's two answers: the whole operator, or the kernel alone with static tiling.

Both are emitted as files and as the text a model would answer with.
"""

from __future__ import annotations

from npuforge.errors import UsageError
from npuforge.lower.compiler import Lowered
from npuforge.lower.formats import msopgen
from npuforge.lower.formats.baked import Baked
from npuforge.lower.host_code import HostCode
from npuforge.lower.kernel_source import (
    EntryStyle,
    definitions,
    entry_body,
    parameters,
    task_type,
)
from npuforge.lower.wrap import format_cpp

_INDENT = "    "
_RULE = "=================="
_ANSWER = "answer.txt"
# The suite builds for both.
_UNITS = ("ascend910b", "ascend910_93")


def full(lowered: Lowered, baked: Baked | None = None) -> dict[str, str]:
    """Tiling header, host source and kernel."""
    texts = msopgen.sources(lowered, baked, units=_UNITS)
    parts = [f"{_RULE} {path} {_RULE}\n```cpp\n{text}```\n" for path, text in texts.items()]
    return {**texts, _ANSWER: "".join(parts)}


def kernel_only(baked: Baked) -> dict[str, str]:
    """The kernel for one set of shapes; the suite's host launches it on every core."""
    name = baked.code.program.name
    if baked.tiling.workspace_bytes:
        raise UsageError(f"{name}: the kernel-only form has no workspace; use npukb")
    text = kernel_source(baked.code, baked)
    return {
        f"op_kernel/{name}.cpp": text,
        _ANSWER: f"<kernel_impl>\n```cpp\n{text}```\n</kernel_impl>\n",
    }


def kernel_source(code: HostCode, baked: Baked) -> str:
    """The kernel without a tiling argument; blocks the program does not ask for do nothing."""
    listed = ", ".join(
        f"GM_ADDR {name}" for name in [*(n for n, _ in parameters(code)), "workspace"]
    )
    style = EntryStyle(baked.field, "workspace", blocks=baked.blocks)
    body = [task_type(code), *entry_body(code, style)]
    return format_cpp(
        [
            '#include "kernel_operator.h"',
            "",
            "using namespace AscendC;",
            "",
            *baked.lines(),
            *definitions(code, baked.scalar_functions),
            f'extern "C" __global__ __aicore__ void {code.program.name}({listed})',
            "{",
            *(_INDENT + line for line in body),
            "}",
        ]
    )
