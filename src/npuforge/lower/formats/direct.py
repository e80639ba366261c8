# SPDX-License-Identifier: Apache-2.0
"""Direct launch: one program that reads its inputs from files and launches with `<<<>>>`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from npuforge.lower.compiler import Lowered
from npuforge.lower.formats import plain_host
from npuforge.lower.formats.baked import Baked
from npuforge.lower.formats.templates import fill
from npuforge.lower.host_code import HostCode
from npuforge.lower.kernel_source import EntryStyle, definitions, entry_body, task_type
from npuforge.lower.names import camel
from npuforge.lower.wrap import format_cpp
from npuforge.tile.expr import Type
from npuforge.tile.ir import Tensor

_INDENT = "    "
_PARSERS = {
    Type.FLOAT: "std::stof({})",
    Type.INT: "std::stoll({})",
    Type.BOOL: "std::stoi({}) != 0",
}


def files(lowered: Lowered, baked: Baked | None = None) -> dict[str, str]:
    """The program and its build file."""
    name = lowered.program.name
    return {
        f"{name}.asc": program_source(lowered.host, baked),
        "CMakeLists.txt": fill("direct_CMakeLists.txt", NAME=name),
    }


def entry_name(code: HostCode) -> str:
    """The kernel's name; not the program's own, which may be one of the C library (`exp`)."""
    return f"{code.program.name}_kernel"


def pointers(code: HostCode) -> list[Tensor]:
    """Tensors the kernel takes, each once."""
    return list(code.host.tensors)


# ---- device -----------------------------------------------------------------------------------
def kernel_source(code: HostCode, baked: Baked | None = None) -> str:
    """A source with the device part alone."""
    includes = ['#include "kernel_operator.h"', "", "using namespace AscendC;", ""]
    return format_cpp([*includes, *device_lines(code, baked)])


def device_lines(
    code: HostCode, baked: Baked | None = None, *, with_struct: bool = True
) -> list[str]:
    """Tiling structure, classes and kernel."""
    code = baked.code if baked else code
    listed = [f"GM_ADDR {camel(tensor.name)}" for tensor in pointers(code)] + ["GM_ADDR workspace"]
    if baked:
        lines = [*baked.lines(), *definitions(code, baked.scalar_functions)]
        style = EntryStyle(baked.field, "workspace")
    else:
        lines = [*(tiling_struct(code) if with_struct else []), *definitions(code)]
        style = EntryStyle(lambda item: f"tiling.{item.name}", "workspace", "tiling.key == {}")
        listed.append(f"{code.tiling_struct} tiling")
    head = f"__global__ __aicore__ void {entry_name(code)}({', '.join(listed)})"
    if any(len(schedule.phases) > 1 for schedule in code.schedules):
        lines.append("// Blocks wait for each other, so they have to start together.")
        head = f"__schedmode__(1) {head}"
    body = [task_type(code), *entry_body(code, style)]
    return [*lines, f'extern "C" {head}', "{", *(_INDENT + line for line in body), "}"]


def tiling_struct(code: HostCode) -> list[str]:
    """The tiling as a plain structure; `key` chooses the schedule."""
    lines = [f"struct {code.tiling_struct} {{"]
    lines += [f"{_INDENT}{field.type} {field.name};" for field in code.fields]
    if len(code.schedules) > 1:
        lines.append(f"{_INDENT}int64_t key;")
    return [*lines, "};", ""]


# ---- host -------------------------------------------------------------------------------------
def program_source(code: HostCode, baked: Baked | None = None) -> str:
    """`<name>.asc`: kernel, host function and `main`."""
    lines = [
        "// " + _usage(code),
        "// reads inputs from ./input/<tensor>.bin and writes outputs to ./output/<tensor>.bin",
        "#include <algorithm>",
        "#include <cstdint>",
        "#include <cstdio>",
        "#include <cstdlib>",
        "#include <fstream>",
        "#include <string>",
        "#include <vector>",
        "",
        '#include "acl/acl.h"',
        '#include "kernel_operator.h"',
        '#include "tiling/platform/platform_ascendc.h"',
        "",
        "using namespace AscendC;",
        "",
        *device_lines(code, baked),
        "",
        f"namespace {plain_host.namespace(code)} {{",
        *plain_host.declarations(code, baked),
        "",
        *plain_host.plan_function(code, baked),
        f"}}  // namespace {plain_host.namespace(code)}",
        "",
        *fill("direct_main.h").splitlines(),
        "",
        *_usage_lines(code),
        *_main(code, baked),
    ]
    return format_cpp(lines)


def _usage(code: HostCode) -> str:
    """How the program is called."""
    words = [f"<shape of {tensor.name}>" for tensor in code.host.inputs]
    words += [
        f"<{attribute.name}>" if attribute.default is None else f"[{attribute.name}]"
        for attribute in code.host.attributes
    ]
    return " ".join([f"./{code.program.name}", *words])


def _usage_lines(code: HostCode) -> list[str]:
    parts = textwrap.wrap(f"usage: {_usage(code)}; a shape is written as 16,1024", 90)
    literals = [f'{_INDENT}"{part} "' for part in parts[:-1]] + [f'{_INDENT}"{parts[-1]}";']
    return ["constexpr const char* USAGE =", *literals, ""]


def _main(code: HostCode, baked: Baked | None) -> list[str]:
    required = len(code.host.inputs) + sum(a.default is None for a in code.host.attributes)
    body = [
        f"if (argc < {required + 1}) {{",
        f"{_INDENT}Fail(USAGE);",
        "}",
        *_arguments(code),
        f"{plain_host.namespace(code)}::Plan plan;",
        f"const char* problem = {plain_host.call(code)};",
        "if (problem != nullptr) {",
        f"{_INDENT}Fail(problem);",
        "}",
        "",
        'Check(aclInit(nullptr), "aclInit");',
        'Check(aclrtSetDevice(0), "aclrtSetDevice");',
        "aclrtStream stream = nullptr;",
        'Check(aclrtCreateStream(&stream), "aclrtCreateStream");',
        *_buffers(code),
        "",
        _launch(code, baked),
        'Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");',
        "",
        *_results(code),
        *(f"aclrtFree({camel(tensor.name)});" for tensor in pointers(code)),
        *(["aclrtFree(workspace);"] if code.host.workspaces else []),
        "aclrtDestroyStream(stream);",
        "aclrtResetDevice(0);",
        "aclFinalize();",
        "return 0;",
    ]
    return [
        "int main(int argc, char* argv[])",
        "{",
        *(_INDENT + line if line else line for line in body),
        "}",
    ]


def _arguments(code: HostCode) -> Iterator[str]:
    position = 0
    for position, tensor in enumerate(code.host.inputs, 1):
        yield f"const Extents {camel(tensor.name)}Shape = ParseShape(argv[{position}]);"
    for index, attribute in enumerate(code.host.attributes, position + 1):
        value = _PARSERS[attribute.type].format(f"argv[{index}]")
        if attribute.default is not None:
            value = f"argc > {index} ? {value} : {plain_host.literal(attribute)}"
        yield f"const {plain_host.attribute_type(attribute)} {camel(attribute.name)} = {value};"


def _bytes(tensor: Tensor) -> str:
    shape = f"{camel(tensor.name)}Shape"
    place = f"plan.{shape}" if tensor.role == "out" else shape
    return f"ByteCount({place}, {max(1, tensor.dtype.bits // 8)})"


def _buffers(code: HostCode) -> Iterator[str]:
    for tensor in pointers(code):
        name = camel(tensor.name)
        yield f"const size_t {name}Bytes = {_bytes(tensor)};"
        if tensor.role == "out":
            yield f"uint8_t* {name} = Allocate({name}Bytes);"
        else:
            yield f'uint8_t* {name} = Upload("{tensor.name}", {name}Bytes);'
    if code.host.workspaces:
        yield "uint8_t* workspace = Allocate(plan.workspaceBytes);"


def _launch(code: HostCode, baked: Baked | None) -> str:
    names = [camel(tensor.name) for tensor in pointers(code)]
    names.append("workspace" if code.host.workspaces else "nullptr")
    if not baked:
        names.append("plan.tiling")
    return f"{entry_name(code)}<<<plan.blocks, nullptr, stream>>>({', '.join(names)});"


def _results(code: HostCode) -> Iterator[str]:
    for tensor in code.host.outputs:
        name = camel(tensor.name)
        yield f'Download("{tensor.name}", {name}, {name}Bytes);'
