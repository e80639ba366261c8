# SPDX-License-Identifier: Apache-2.0
"""Direct launch: one source whose kernel takes its tiling by value."""

from __future__ import annotations

from npuforge.lower.host_code import HostCode
from npuforge.lower.kernel_source import definitions, entry_body
from npuforge.lower.names import camel
from npuforge.tile.ir import Tensor

_INDENT = "    "


def pointers(code: HostCode) -> list[Tensor]:
    """Tensors the kernel takes, each once."""
    return list(code.host.tensors)


def kernel_source(code: HostCode) -> str:
    """The device part: tiling structure, classes, kernel."""
    names = [camel(tensor.name) for tensor in pointers(code)]
    listed = ", ".join(f"GM_ADDR {name}" for name in [*names, "workspace"])
    lines = ['#include "kernel_operator.h"', "", "using namespace AscendC;", ""]
    lines += tiling_struct(code)
    lines += definitions(code)
    entry = f"__global__ __aicore__ void {code.program.name}"
    lines += [f'extern "C" {entry}({listed}, {code.tiling_struct} tiling)', "{"]
    lines += [_INDENT + "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"]
    body = entry_body(code, lambda item: f"tiling.{item.name}", "workspace", "tiling.key == {}")
    lines += [_INDENT + line for line in body]
    return "\n".join([*lines, "}"]) + "\n"


def tiling_struct(code: HostCode) -> list[str]:
    """The tiling as a plain structure; `key` chooses the schedule."""
    lines = [f"struct {code.tiling_struct} {{"]
    lines += [f"{_INDENT}{field.type} {field.name};" for field in code.fields]
    if len(code.schedules) > 1:
        lines.append(f"{_INDENT}int64_t key;")
    return [*lines, "};", ""]
