# SPDX-License-Identifier: Apache-2.0
"""The standard operator project: `op_host`, `op_kernel`, description and build files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from npuforge.dtypes import DType
from npuforge.errors import UsageError
from npuforge.lower.compiler import Lowered
from npuforge.lower.cpp import TYPES, Printer, scalar_functions
from npuforge.lower.formats.baked import Baked
from npuforge.lower.formats.shapes import rank_conditions, shape_printer
from npuforge.lower.formats.templates import fill
from npuforge.lower.host_code import HostCode, Surroundings, tiling_lines
from npuforge.lower.kernel_source import (
    EntryStyle,
    definitions,
    entry_body,
    parameters,
    task_type,
)
from npuforge.lower.names import camel, clashes_with_c, pascal
from npuforge.lower.wrap import format_cpp
from npuforge.tile.expr import Type
from npuforge.tile.ir import Attribute, SameShape, Tensor

_INDENT = "    "
_GE_TYPES = {"float32": "DT_FLOAT", "float16": "DT_FLOAT16", "bfloat16": "DT_BF16"}
_JSON_TYPES = {"float32": "float", "bfloat16": "bf16"}
_ATTRIBUTES = {
    Type.FLOAT: ("Float", "float"),
    Type.INT: ("Int", "int64_t"),
    Type.BOOL: ("Bool", "bool"),
}


def files(lowered: Lowered, baked: Baked | None = None) -> dict[str, str]:
    """Path and text of every file of the project."""
    name = lowered.program.name
    return {
        **sources(lowered, baked),
        **build_files(name, lowered.soc),
        f"{name}.json": description(lowered),
    }


def build_files(name: str, soc: str) -> dict[str, str]:
    """What builds the sources."""
    return {
        "op_host/CMakeLists.txt": fill("msopgen_host_CMakeLists.txt", NAME=name),
        "op_kernel/CMakeLists.txt": fill(
            "msopgen_kernel_CMakeLists.txt", NAME=name, OPERATOR=pascal(name)
        ),
        "CMakeLists.txt": fill("msopgen_CMakeLists.txt"),
        "CMakePresets.json": fill(
            "msopgen_CMakePresets.json", COMPUTE_UNIT=";".join(compute_units(soc))
        ),
        "build.sh": fill("msopgen_build.sh"),
    }


def sources(
    lowered: Lowered, baked: Baked | None = None, units: Sequence[str] = ()
) -> dict[str, str]:
    """The C++ of the project: tiling data (none where it is baked in), host, kernel."""
    name = lowered.program.name
    if clashes_with_c(name):
        raise UsageError(
            f"a kernel cannot be called {name!r}, which the C library has: "
            f"name the host function {name}_custom_host"
        )
    texts = {} if baked else {f"op_host/{name}_tiling.h": tiling_header(lowered.host)}
    return {
        **texts,
        f"op_host/{name}.cpp": host_source(lowered, baked, units),
        f"op_kernel/{name}.cpp": kernel_source(lowered.host, baked),
    }


def compute_units(soc: str) -> tuple[str, ...]:
    """What the operator is built for."""
    return ("ascend910_93",) if soc.startswith("910_93") else ("ascend910b",)


def ge_type(dtype: DType) -> str:
    """The name of an element type on the host."""
    return f"ge::{_GE_TYPES.get(dtype.name, f'DT_{dtype.name.upper()}')}"


# ---- device -----------------------------------------------------------------------------------
def kernel_source(code: HostCode, baked: Baked | None = None) -> str:
    """`op_kernel/<name>.cpp`."""
    if code.written is not None:
        return code.written
    code = baked.code if baked else code
    listed = ", ".join(
        f"GM_ADDR {name}" for name in [*(n for n, _ in parameters(code)), "workspace", "tiling"]
    )
    body = [task_type(code)]
    lines = ['#include "kernel_operator.h"', "", "using namespace AscendC;", ""]
    user = "GetUserWorkspace(workspace)"
    if baked:
        lines += [*baked.lines(), *definitions(code, baked.scalar_functions)]
        style = EntryStyle(baked.field, user)
    else:
        lines += definitions(code)
        body.append("GET_TILING_DATA(tilingData, tiling);")
        style = EntryStyle(lambda field: f"tilingData.{field.name}", user)
    body += entry_body(code, style)
    lines += [f'extern "C" __global__ __aicore__ void {code.program.name}({listed})', "{"]
    return format_cpp([*lines, *(_INDENT + line for line in body), "}"])


# ---- host -------------------------------------------------------------------------------------
def tiling_header(code: HostCode) -> str:
    """`op_host/<name>_tiling.h`."""
    guard = f"{code.program.name.upper()}_TILING_H"
    lines = [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ['#include "register/tilingdata_base.h"', "", "namespace optiling {"]
    lines += [f"BEGIN_TILING_DATA_DEF({code.tiling_struct})"]
    lines += [f"TILING_DATA_FIELD_DEF({field.type}, {field.name});" for field in code.fields]
    lines += ["END_TILING_DATA_DEF;", ""]
    lines += [f"REGISTER_TILING_DATA_CLASS({pascal(code.program.name)}, {code.tiling_struct})"]
    return format_cpp([*lines, "}  // namespace optiling", "", f"#endif  // {guard}"])


def host_source(lowered: Lowered, baked: Baked | None = None, units: Sequence[str] = ()) -> str:
    """`op_host/<name>.cpp`: tiling, shape inference, registration."""
    code = lowered.host
    used: set[str] = set()
    tiling = _static_tiling_function(code, baked) if baked else _tiling_function(code, used)
    infer = _infer_shape(code, used)
    lines = [] if baked else [f'#include "{code.program.name}_tiling.h"']
    lines += ['#include "register/op_def_registry.h"']
    if any("platform_ascendc::" in line for line in tiling):
        lines.append('#include "tiling/platform/platform_ascendc.h"')
    if used:
        functions = scalar_functions(used, "host")[:-1]
        lines += ["", "namespace {", *functions, "}  // namespace"]
    lines += [
        "",
        "namespace optiling {",
        *tiling,
        "}  // namespace optiling",
        "",
        "namespace ge {",
        *infer,
        "}  // namespace ge",
        "",
        "namespace ops {",
        *_registration(code, units or compute_units(lowered.soc)),
        "}  // namespace ops",
    ]
    return format_cpp(lines)


def _read_shapes(code: HostCode, users: Sequence[str]) -> Iterator[str]:
    """Shapes that the lines in `users` name, as references."""
    for index, tensor in enumerate(code.host.inputs):
        name = f"{camel(tensor.name)}Shape"
        if _mentions(users, name):
            yield f"const gert::Shape& {name} = context->GetInputShape({index})->GetStorageShape();"


def _mentions(lines: Sequence[str], name: str) -> bool:
    word = re.compile(rf"\b{name}\b")
    return any(word.search(line) for line in lines)


def _rank_checks(code: HostCode) -> Iterator[str]:
    for condition, problem in rank_conditions(
        code.host, lambda tensor: f"{camel(tensor)}Shape.GetDimNum()"
    ):
        yield f"if ({condition}) {{"
        yield f"{_INDENT}return ge::GRAPH_FAILED;  // {problem}"
        yield "}"


def _shape_text(tensor: str, axis: int | None) -> str:
    name = f"{camel(tensor)}Shape"
    if axis is None:
        return f"{name}.GetShapeSize()"
    if axis < 0:
        return f"{name}.GetDim({name}.GetDimNum() - {-axis})"
    return f"{name}.GetDim({axis})"


def _read_attributes(code: HostCode, users: Sequence[str]) -> Iterator[str]:
    """Attributes that the lines in `users` name, as constants."""
    wanted = [
        (index, attribute)
        for index, attribute in enumerate(code.host.attributes)
        if _mentions(users, camel(attribute.name))
    ]
    if wanted:
        yield "const gert::RuntimeAttrs* attributes = context->GetAttrs();"
    for index, attribute in wanted:
        pointer = f"attributes->GetAttrPointer<{_ATTRIBUTES[attribute.type][1]}>({index})"
        yield f"const {TYPES[attribute.type]} {camel(attribute.name)} = *{pointer};"


def _tiling_function(code: HostCode, used: set[str]) -> list[str]:
    around = Surroundings(
        shape=_shape_text,
        attribute=camel,
        refuse=lambda message: f"return ge::GRAPH_FAILED;  // {message}",
        assign=lambda field, value: f"tiling.set_{field.name}({value});",
        cores="coreCount",
        ub_bytes="ubBytes",
        reserved=(
            *(f"{camel(tensor.name)}Shape" for tensor in code.host.inputs),
            *("attributes", "coreCount", "ubBytes", "ubBytesTotal", "workspaces", "systemBytes"),
        ),
    )
    computed = tiling_lines(code, around, used)
    ranks = list(_rank_checks(code))
    body = [
        f"{code.tiling_struct} tiling;",
        *_read_shapes(code, [*ranks, *computed]),
        *ranks,
        *_read_attributes(code, computed),
    ]
    if any("coreCount" in line or "ubBytes" in line for line in computed):
        platform = "platform_ascendc::PlatformAscendC(context->GetPlatformInfo())"
        body.append(f"const auto platform = {platform};")
    if any("coreCount" in line for line in computed):
        body.append("const int64_t coreCount = platform.GetCoreNumAiv();")
    if any("ubBytes" in line for line in computed):
        body += [
            "uint64_t ubBytesTotal = 0;",
            "platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytesTotal);",
            "const int64_t ubBytes = static_cast<int64_t>(ubBytesTotal) - 8 * 1024;",
        ]
    buffer = "context->GetRawTilingData()"
    body += [*computed, "context->SetBlockDim(static_cast<uint32_t>(blocks));"]
    if len(code.schedules) > 1:
        body.append("context->SetTilingKey(key);")
    body += [
        *_batch_mode(code),
        f"tiling.SaveToBuffer({buffer}->GetData(), {buffer}->GetCapacity());",
        f"{buffer}->SetDataSize(tiling.GetDataSize());",
        *_workspace(code, "static_cast<size_t>(workspaceBytes)"),
        "return ge::GRAPH_SUCCESS;",
    ]
    return _function("static ge::graphStatus TilingFunc(gert::TilingContext* context)", body)


def _static_tiling_function(code: HostCode, baked: Baked) -> list[str]:
    """The kernel has its numbers; the host refuses other shapes and sets the block count."""
    tests = [
        f"{camel(name)}Shape != gert::Shape({{{', '.join(map(str, shape))}}})"
        for name, shape in baked.shapes.items()
    ]
    tests += [f"{camel(name)} != {value}" for name, value in baked.attribute_literals().items()]
    refusal = f"return ge::GRAPH_FAILED;  // the kernel is built for {baked.case}"
    checks = [f"if ({' || '.join(tests)}) {{", _INDENT + refusal, "}"] if tests else []
    body = [*_read_shapes(code, checks), *_read_attributes(code, checks), *checks]
    body += [
        f"context->SetBlockDim({baked.tiling.blocks});",
        *_batch_mode(baked.code),
        *_workspace(code, str(baked.tiling.workspace_bytes)),
        "return ge::GRAPH_SUCCESS;",
    ]
    return _function("static ge::graphStatus TilingFunc(gert::TilingContext* context)", body)


def _batch_mode(code: HostCode) -> list[str]:
    waits = any(len(schedule.phases) > 1 for schedule in code.schedules)
    if not waits and "SyncAll" not in (code.written or ""):
        return []
    return ["context->SetScheduleMode(1);  // blocks wait for each other: they start together"]


def _workspace(code: HostCode, user_bytes: str) -> list[str]:
    lines = ["size_t* workspaces = context->GetWorkspaceSizes(1);"]
    if not code.host.workspaces:
        return [*lines, "workspaces[0] = 0;"]
    platform = "platform_ascendc::PlatformAscendC(context->GetPlatformInfo())"
    return [
        *lines,
        f"const size_t systemBytes = {platform}.GetLibApiWorkSpaceSize();",
        f"workspaces[0] = systemBytes + {user_bytes};",
    ]


def _function(head: str, body: list[str]) -> list[str]:
    return [head, "{", *(_INDENT + line for line in body), "}"]


def _infer_shape(code: HostCode, used: set[str]) -> list[str]:
    printer = shape_printer(code, _shape_text, camel, used)
    shapes: list[str] = []
    for index, tensor in enumerate(code.host.outputs):
        output = f"{camel(tensor.name)}Out"
        shapes.append(f"gert::Shape* {output} = context->GetOutputShape({index});")
        shapes += _output_shape(tensor, output, printer)
    body = [
        f"const gert::Shape& {camel(tensor.name)}Shape = *context->GetInputShape({index});"
        for index, tensor in enumerate(code.host.inputs)
        if _mentions(shapes, f"{camel(tensor.name)}Shape")
    ]
    body += [*_read_attributes(code, shapes), *shapes, "return GRAPH_SUCCESS;"]
    infer_types = [
        f"context->SetOutputDataType({index}, {ge_type(tensor.dtype)});"
        for index, tensor in enumerate(code.host.outputs)
    ]
    return [
        *_function("static graphStatus InferShape(gert::InferShapeContext* context)", body),
        "",
        *_function(
            "static graphStatus InferDataType(gert::InferDataTypeContext* context)",
            [*infer_types, "return GRAPH_SUCCESS;"],
        ),
    ]


def _output_shape(tensor: Tensor, output: str, printer: Printer) -> list[str]:
    if tensor.role == "inout":
        return [f"*{output} = {camel(tensor.name)}Shape;"]
    if isinstance(tensor.shape, SameShape):
        return [f"*{output} = {camel(tensor.shape.tensor)}Shape;"]
    assert tensor.shape is not None
    lines = [f"{output}->SetDimNum({len(tensor.shape)});"]
    lines += [
        f"{output}->SetDim({axis}, {printer(extent)});" for axis, extent in enumerate(tensor.shape)
    ]
    return lines


def _registration(code: HostCode, units: Sequence[str]) -> list[str]:
    name = pascal(code.program.name)
    body = []
    for tensor in code.host.inputs:
        body += _tensor_definition("Input", tensor)
    for tensor in code.host.outputs:
        body += _tensor_definition("Output", tensor)
    body += [_attribute_definition(attribute) for attribute in code.host.attributes]
    body += [
        "this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);",
        "this->AICore().SetTiling(optiling::TilingFunc);",
        *(f'this->AICore().AddConfig("{unit}");' for unit in units),
    ]
    return [
        f"class {name} : public OpDef {{",
        "public:",
        f"{_INDENT}explicit {name}(const char* name) : OpDef(name)",
        f"{_INDENT}{{",
        *(2 * _INDENT + line for line in body),
        f"{_INDENT}}}",
        "};",
        "",
        f"OP_ADD({name});",
    ]


def _tensor_definition(what: str, tensor: Tensor) -> list[str]:
    return [
        f'this->{what}("{tensor.name}")',
        f"{_INDENT}.ParamType(REQUIRED)",
        f"{_INDENT}.DataType({{{ge_type(tensor.dtype)}}})",
        f"{_INDENT}.Format({{ge::FORMAT_ND}})",
        f"{_INDENT}.UnknownShapeFormat({{ge::FORMAT_ND}});",
    ]


def _attribute_definition(attribute: Attribute) -> str:
    kind = _ATTRIBUTES[attribute.type][0]
    default = attribute.default
    if default is None:
        return f'this->Attr("{attribute.name}").AttrType(REQUIRED).{kind}();'
    shown = str(default).lower() if isinstance(default, bool) else repr(default)
    return f'this->Attr("{attribute.name}").AttrType(OPTIONAL).{kind}({shown});'


# ---- description ------------------------------------------------------------------------------
def description(lowered: Lowered) -> str:
    """`<name>.json`, as msopgen takes it."""
    host = lowered.program.host

    def entry(tensor: Tensor) -> dict[str, object]:
        name = _JSON_TYPES.get(tensor.dtype.name, tensor.dtype.name)
        return {
            "name": tensor.name,
            "param_type": "required",
            "format": ["ND"],
            "type": [name],
        }

    content: dict[str, object] = {
        "op": pascal(lowered.program.name),
        "language": "cpp",
        "input_desc": [entry(tensor) for tensor in host.inputs],
        "output_desc": [entry(tensor) for tensor in host.outputs],
    }
    if host.attributes:
        content["attr"] = [
            {
                "name": attribute.name,
                "param_type": "required" if attribute.default is None else "optional",
                "type": attribute.type.value,
                **({} if attribute.default is None else {"default_value": str(attribute.default)}),
            }
            for attribute in host.attributes
        ]
    return json.dumps([content], indent=4) + "\n"
